"""Games that a language model wrote, in real browsers: what is accepted, refused, and seen through."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benchmarks.parts.factory.planted_games import make_replies
from task_factory.games.adapter import adapt_game
from task_factory.games.exploits import find_working_exploits
from task_factory.games.harness import make_parameters, max_steps, open_harness
from task_factory.games.making import make_game
from task_factory.games.origin import BY_RECORDED_REPLIES
from task_factory.games.replies import read_reply
from task_factory.games.static_checks import read_source
from task_factory.games.validation import GameReport, validate_game
from task_factory.language_models import RecordedModel
from tests.integration.browser.engine.conftest import started
from tests.unit.task_factory.games.test_adapter import write_game
from vm_bridge.browser import Clock, Engine
from vm_bridge.suites.web import MADE_GAMES, FolderSuite
from vm_bridge.suites.web.episodes import play_task
from vm_bridge.suites.web.task_folder import TaskFolder

SEEN_IN_A_RUN = ("randomness by another name", "hidden state", "illegal moves accepted", "a restart on the page")
PLANTED = {defect.name: (defect, reply) for defect, reply in make_replies()}


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with started(tmp_path / "engine", Clock.EXACT) as engine:
        yield engine


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[Engine]:
    async with started(tmp_path / "other", Clock.EXACT) as engine:
        yield engine


async def test_a_bundled_game_is_accepted_and_spoiled_ones_are_not(
    engine: Engine, other: Engine, tmp_path: Path
) -> None:
    report = await validate_game(MADE_GAMES.folder("stones").path, engine, other, playouts=60)
    assert report.faults == []
    assert (report.playouts, len(report.digests), len(set(report.digests))) == (60, 3, 1)
    assert report.verifier_ms is not None
    async with open_harness(engine, read_source(MADE_GAMES.folder("stones"))) as harness:
        for text in ("", "a", "ä染" * 40, "x" * 55, "x" * 56, "x" * 64):
            assert await harness.sha256(text) == hashlib.sha256(text.encode()).hexdigest()
    async with open_harness(engine, "const rules = {") as harness:
        assert list((await harness.playouts([], 1)).faults) == ["syntax"], "where Node does not say it before"

    for name in SEEN_IN_A_RUN:
        defect, reply = PLANTED[name]

        async def validate(folder: Path) -> GameReport:
            return await validate_game(folder, engine, other, playouts=60)

        model = RecordedModel([reply])
        made = await make_game(model, tmp_path / "out", validate, author=BY_RECORDED_REPLIES, repairs=0)
        assert made.folder is None, name
        assert defect.code in {fault.code for fault in made.rounds[0]}, name


async def test_cheats_reach_a_credulous_verifier_and_an_adapted_game_is_played(engine: Engine, tmp_path: Path) -> None:
    files = read_reply(PLANTED["a verifier that believes the page"][1])
    for name, text in files.items():
        path = tmp_path / "pancakes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folder = TaskFolder.read(tmp_path / "pancakes", MADE_GAMES.kit)
    tasks = make_parameters(folder, (1,))
    async with open_harness(engine, read_source(folder)) as harness:
        experts = await harness.experts(tasks, max_steps(folder, tasks))
    tried, working = await find_working_exploits(engine, folder, experts)
    assert tried >= 20
    edited = {
        "a state function of a winner",
        "the live state edited",
        "another step function",
        "another JSON.stringify",
    }
    assert edited <= set(working)
    assert not {"words of success", "a score in a global", "a score changed", "the game begun again"} & set(working)

    adapt_game(*write_game(tmp_path / "given"), tmp_path / "out")
    suite = FolderSuite("adapted", tmp_path / "out")
    record, actions = await play_task(engine, suite, suite.make("count", seed=1, level=2), "expert")
    assert (record.success, record.points, len(actions)) == (True, 6, 5), "the seed 1 begins with 1"
