"""Workers have the session's seed and time."""

from pathlib import Path

import pytest

from tests.integration.browser.engine.conftest import SCRIPT, opened, started
from vm_bridge.browser import Clock, Engine, Response

WORKER = """postMessage(["start", Math.random(), Date.now()]);
let ticks = 0; setInterval(() => postMessage(["tick", ++ticks, performance.now()]), 100);
onmessage = (event) => postMessage(["echo", event.data, Math.random()]);"""
BLOB = "URL.createObjectURL(new Blob([SOURCE], { type: 'text/javascript' }))"
MAKERS = {
    "site": "new Worker('worker.js')",
    "module": "new Worker('module.js', { type: 'module' })",
    "blob": f"new Worker({BLOB})",
    "module blob": f"new Worker({BLOB}, {{ type: 'module' }})",
    "data": "new Worker('data:text/javascript,' + encodeURIComponent(SOURCE))",
}
IMPORTED = "export const early = Math.random();"


def page(maker: str) -> dict[str, str | Response]:
    script = f"""const SOURCE = {WORKER!r};
    const log = [], worker = {maker};
    worker.onmessage = (event) => log.push([...event.data, performance.now()]);
    worker.onerror = (event) => log.push(["error", event.message]);"""
    module = 'import { early } from "./early.js";\n' + WORKER.replace("Math.random()", "early", 1)
    return {
        "/": f"<!doctype html><script>{script}</script>",
        "/worker.js": Response(200, WORKER.encode(), SCRIPT),
        "/module.js": Response(200, module.encode(), SCRIPT),
        "/early.js": Response(200, IMPORTED.encode(), SCRIPT),
    }


@pytest.mark.parametrize("maker", MAKERS)
async def test_a_worker_moves_with_its_page(tmp_path: Path, maker: str) -> None:
    logs = []
    for number in range(2):
        async with started(tmp_path / str(number), Clock.EXACT) as engine:
            session = await opened(engine, page(MAKERS[maker]))
            await session.advance(300)
            await session.evaluate("worker.postMessage('hello')")
            await session.advance(300)
            logs.append(await session.evaluate("log"))
    assert logs[0] == logs[1]
    told = logs[0]
    assert [each[0] for each in told].count("tick") in (5, 6)
    assert [each[0] for each in told].count("echo") == 1
    assert told[0][0] == "start"


async def test_workers_tick_under_the_script_clock(tmp_path: Path) -> None:
    async with started(tmp_path / "script", Clock.SCRIPT) as engine:
        session = await opened(engine, page(MAKERS["blob"]))
        await session.advance(1000)
        told = await session.evaluate("log")
        assert [each[0] for each in told].count("tick") in range(8, 11)


async def test_service_workers_are_refused(engine: Engine) -> None:
    session = await opened(engine, {"/": "<!doctype html>"})
    script = "navigator.serviceWorker ? navigator.serviceWorker.register('/sw.js').then(() => 'yes', () => 'no') : 'no'"
    assert await session.evaluate(script) == "no"
