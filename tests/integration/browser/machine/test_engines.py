"""Several browser processes of one host: sessions are spread over them, and the death of one is nobody else's."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from protocol.actions.types import Click
from tests.integration.browser.machine.conftest import Do
from tests.integration.browser.machine.pages import GO, PagesSuite, page_of, task
from vm_bridge.browser import Clock
from vm_bridge.browser.interfaces import EngineInterface
from vm_bridge.drivers.browser.blank_page import blank_scene
from vm_bridge.hosts.browser.engines import BrowserEnginePool
from vm_bridge.hosts.browser.host import BrowserHost, BrowserSandbox

ENGINES, MACHINES = 2, 4


@pytest.fixture
async def several(tmp_path: Path) -> AsyncIterator[list[BrowserSandbox]]:
    """Machines over more than one process, each with a page that counts."""
    host = BrowserHost(tmp_path / "host", {"pages": PagesSuite()}, engines=ENGINES)
    made = [await host.create("browser") for _ in range(MACHINES)]
    for one in made:
        await one.bind(7).prepare(task("counter"))
    yield [one for one in made if isinstance(one, BrowserSandbox)]
    await host.close()


def engine_of(sandbox: BrowserSandbox) -> EngineInterface:
    assert sandbox.session is not None
    return sandbox.session.engine


async def test_sessions_are_spread(several: list[BrowserSandbox]) -> None:
    assert sorted(Counter(engine_of(one).pid for one in several).values()) == [MACHINES // ENGINES] * ENGINES


async def test_a_process_that_is_killed_takes_its_own_sessions_and_no_others(
    several: list[BrowserSandbox], do: Do
) -> None:
    for one in several:
        await do(one.bind(7), GO)
    dead = engine_of(several[0])
    hit = [one for one in several if engine_of(one) is dead]
    spared = {one.id: one.session for one in several if engine_of(one) is not dead}
    assert spared
    os.kill(dead.pid, signal.SIGKILL)
    async with asyncio.timeout(30):
        await dead.died.wait()
    scores = {}
    for one in several:
        done = await do(one.bind(7), GO)
        assert done.error is None
        scores[one.id] = page_of(done.after).score
    assert set(scores.values()) == {2.0}, "what was done before is there again, everywhere"
    for one in several:
        assert engine_of(one) is not dead
        if one.id in spared:
            assert one.session is spared[one.id], "nobody else's session was touched"
    assert len({engine_of(one).pid for one in several}) == ENGINES
    for one in hit:
        events = {event.kind for event in page_of(await one.bind(7).observe()).events}
        assert "crashed" not in events


async def test_a_process_that_died_unnoticed_is_replaced_when_it_is_asked(tmp_path: Path) -> None:
    engines = BrowserEnginePool(tmp_path / "engines", most=1)
    try:
        first = await engines.open(blank_scene(), seed=0, clock=Clock.EXACT)
        os.kill(first.engine.pid, signal.SIGKILL)  # and nothing is awaited before the next one is opened
        again = await engines.open(blank_scene(), seed=0, clock=Clock.EXACT)
        assert again.engine is not first.engine
        assert await again.evaluate("document.readyState") == "complete"
    finally:
        await engines.close()


async def test_pages_of_one_machine_share_its_process_and_its_storage(several: list[BrowserSandbox], do: Do) -> None:
    machine = several[0].bind(7)
    await machine.prepare(task("popup"))
    both = page_of((await do(machine, GO)).after).tabs
    assert len(both) == 2
    assert page_of((await do(machine, Click(x=60, y=40))).after).score == 1
    assert engine_of(several[0]).sessions == Counter(engine_of(one).pid for one in several)[engine_of(several[0]).pid]


async def test_sessions_that_reach_a_network_have_a_process_of_their_own(several: list[BrowserSandbox]) -> None:
    shared = {engine_of(one) for one in several}
    first, second, third, _ = several
    one, two = [
        await each.open(blank_scene(), seed=0, clock=Clock.EXACT, network=("example.org",)) for each in (first, second)
    ]
    assert len({one.engine, two.engine, *shared}) == len(shared) + 2
    other = await third.open(blank_scene(), seed=0, clock=Clock.EXACT, network=())
    assert other.engine not in (one.engine, two.engine)
    await one.close()
    assert one.engine.died.is_set(), "it ends with its session"
    assert await two.evaluate("document.readyState") == "complete"
    await two.close()
    await other.close()
