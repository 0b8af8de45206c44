"""A ZIM file that is made here, served by the real kiwix-serve: questions, their proof, a task that is played."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent_backend.policy.expert import ExpertPolicy
from agent_backend.rollout.attempts import AttemptResult
from agent_backend.rollout.experts import EXPERT_REF
from agent_backend.rollout.page_attempts import run_page_attempts
from agent_backend.rollout.task_sources import read_tasks
from annotation_app.pools.task_files import task_file_read
from benchmarks.parts.factory.zim_wiki import PROGRAMS, pack_zim, write_pages
from task_factory.__main__ import main
from task_factory.questions.pipeline import Wanted, make_questions, open_wiki
from task_factory.questions.records import TASKS, write_questions
from task_factory.sites.sources import open_zim
from tests.integration.browser.engine.conftest import started
from vm_bridge.browser import Clock, Engine, Request
from vm_bridge.hosts.browser.host import IMAGE, BrowserHost, BrowserSandbox
from vm_bridge.suites.registry import WEB_SUITES
from vm_bridge.suites.site_tasks.kiwix import serve, stop_servers
from vm_bridge.suites.site_tasks.zim_files import read_zim
from vm_bridge.suites.site_tasks.zim_site import SEARCH_PATH, URL, ZimWebsite

MISSING = [name for name in PROGRAMS if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)} (kiwix-tools, zim-tools)")
SEARCH = f"{URL.rstrip('/')}{SEARCH_PATH}?q={{words}}"


@pytest.fixture(scope="module")
def zim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zim")
    write_pages(folder / "pages", ("river", "town"))
    pack_zim(folder / "pages", folder / "country.zim")
    return folder / "country.zim"


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with started(tmp_path / "engine", Clock.EXACT) as engine:
        yield engine


async def test_a_question_of_a_zim_file_is_proven_and_played(
    engine: Engine, zim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = open_zim(read_zim(zim))
    made = await make_questions(engine, await open_wiki(source, SEARCH), wanted=Wanted(count=1))
    told = write_questions(tmp_path / "out", made)
    assert (told["kept"], told["passed_by_filter"]["proven"]) == (1, 1)
    assert told["pages"] == 85

    file = tmp_path / "out" / TASKS
    (task,) = read_tasks(file)
    uploaded = task_file_read(file.read_bytes(), "jsonl", "browser")
    assert (uploaded.faults, list(uploaded.tasks)) == ((), made.tasks)
    assert await asyncio.to_thread(main, ["questions", "check", str(tmp_path / "out"), "--zim", str(zim)]) == 0

    monkeypatch.setenv("PILOTHOUSE_ZIM_FOLDER", str(zim.parent))
    attempts, host = list[AttemptResult](), BrowserHost(tmp_path / "host", WEB_SUITES, engines=1)
    try:
        sandbox = await host.create(IMAGE)
        assert isinstance(sandbox, BrowserSandbox)
        await run_page_attempts(
            [sandbox],
            [task],
            lambda machine: ExpertPolicy(EXPERT_REF, machine.suggest_expert_action),
            attempts.append,
            lambda task, why: pytest.fail(why),
        )
        machine = sandbox.bind(2)
        await machine.prepare(task)
        assert not (await machine.evaluate(answer="something else")).success
    finally:
        await host.close()
    (attempt,) = (one.trajectory for one in attempts if one.trajectory is not None)
    assert attempt.outcome == "success"


async def test_the_server_is_this_machine_s_alone_and_ends_with_it(zim: Path) -> None:
    server = serve(read_zim(zim))
    assert server.origin.startswith("http://127.0.0.1:")
    assert f"{int(server.origin.rpartition(':')[2]):04X}" in _listening_on_loopback()
    site = ZimWebsite(read_zim(zim))

    async def get(path: str) -> str:
        answer = await site.answer(Request("GET", URL + path, {}, b"", "Document"))
        return f"{answer.status} {answer.headers.get('location', '')} {answer.body.decode()}"

    assert (await get("")).startswith("302 /index.html")
    assert 'aria-label="Search"' in await get("index.html")
    assert "No page was found" in await get("_search?q=zqxjvkwpyhfg")
    escaped = await get("_search?q=%3Cscript%3E&page=9999")
    assert "<script>" not in escaped
    assert (await get("_search?q=town")).count("<li>") == 20
    assert (await get("_search?q=town&page=3")).count("<li>") == 20
    assert (await get("nothing")).startswith("404")
    stop_servers()
    assert not server.is_running


def _listening_on_loopback() -> set[str]:
    """Ports (hexadecimal) of IPv4 sockets that listen on 127.0.0.1, and on nothing else."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return {
        place.partition(":")[2] for _, place, _, state, *_ in lines if state == "0A" and place.startswith("0100007F")
    }


def test_files_of_no_use_are_refused_with_a_code(zim: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def fault(file: Path) -> str:
        out = tmp_path / "refused"
        assert main(["questions", "make", "--zim", str(file), "--out", str(out)]) == 2
        assert not out.exists()
        return capsys.readouterr().err.splitlines()[-1].partition(":")[0]

    pack_zim(zim.parent / "pages", tmp_path / "unindexed.zim", full_text=False)
    assert fault(tmp_path / "unindexed.zim") == "zim_no_search"
    content = bytearray(zim.read_bytes())
    content[len(content) // 2] ^= 0xFF
    (tmp_path / "damaged.zim").write_bytes(content)
    assert fault(tmp_path / "damaged.zim") == "zim_damaged"
    write_pages(tmp_path / "german", ("river",), language="de")
    pack_zim(tmp_path / "german", tmp_path / "german.zim", language="deu")
    assert fault(tmp_path / "german.zim") == "language"
