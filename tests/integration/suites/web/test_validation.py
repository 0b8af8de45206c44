"""The check of browser tasks in real browsers: games keep the format, and what does not is told."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from protocol.actions.types import Click
from tests.integration.browser.engine.conftest import started
from tests.unit.vm_bridge.suites.web.test_manifest import PLAIN
from vm_bridge.browser import Clock, Engine
from vm_bridge.errors import VerifierFailed
from vm_bridge.suites.web import DRILLS, GAMES, FolderSuite
from vm_bridge.suites.web.episodes import TaskEpisode, play_task, replay_frames
from vm_bridge.suites.web.manifest import SMALL_SIZE
from vm_bridge.suites.web.validation import CLAIM_SCRIPT, validate_task

WINS = "function verify(state, task) { return %s; }"
STILL = '{success: false, failure: false, done: false, score: 0, level: 1, reason: "no"}'
WON = '{success: true, failure: false, done: true, score: 1, level: 1, reason: ""}'
ADVICE = 'function advise() { return {thought: {en: "x", zh: "一"}, action: {kind: "click", x: 1, y: 1}}; }'
PAGE = (
    '<script src="/task.js"></script><script src="/shared/runtime.js"></script><body>here<script>'
    "pilothouse.define({setup() {}, state: () => ({seed: TASK.seed, text: document.body.innerText})})</script>"
)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with started(tmp_path / "engine", Clock.EXACT) as engine:
        yield engine


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[Engine]:
    async with started(tmp_path / "other", Clock.EXACT) as engine:
        yield engine


def write_suite(home: Path, *, verifier: str = WINS % STILL, expert: str = ADVICE, page: str = PAGE) -> FolderSuite:
    """A suite of one task of these parts."""
    folder = home / "suite" / "mail"
    (folder / "page").mkdir(parents=True)
    manifest: dict[str, Any] = PLAIN | {"levels": [{"max_steps": 2}]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "verifier.js").write_text(verifier)
    (folder / "expert.js").write_text(expert)
    (folder / "page" / "index.html").write_text(page)
    return FolderSuite("suite", home / "suite")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("names", [sorted(GAMES.folders)[part::6] for part in range(6)], ids=",".join)
async def test_the_expert_wins_games_on_a_small_screen_where_they_fit_one(engine: Engine, names: list[str]) -> None:
    for name in names:
        size = SMALL_SIZE if GAMES.folder(name).manifest.small else None
        record, actions = await play_task(engine, GAMES, GAMES.make(name, seed=4, language="zh", size=size), "expert")
        assert record.success, (name, record.reason, actions[-3:])
        assert (record.reward, record.terminated, record.truncated, record.clock) == (1, True, False, "exact")


@pytest.mark.timeout(300)
@pytest.mark.parametrize("names", [sorted(DRILLS.folders)[part::4] for part in range(4)], ids=",".join)
async def test_the_expert_wins_drills_at_their_last_level(engine: Engine, names: list[str]) -> None:
    for name in names:
        level = len(DRILLS.folder(name).manifest.levels)
        record, actions = await play_task(
            engine, DRILLS, DRILLS.make(name, seed=4, level=level, language="zh"), "expert"
        )
        assert record.success, (name, record.reason, actions[-3:])
        assert (record.reward, record.terminated) == (1, True)


@pytest.mark.timeout(300)
async def test_the_first_wrong_act_fails_a_drill_of_one_act(engine: Engine) -> None:
    task, other = DRILLS.make("press", seed=4), DRILLS.make("press", seed=5)
    play = await TaskEpisode.begin(engine, DRILLS, task)
    try:
        state: Any = await play.session.evaluate("window.pilothouse.state()")
        wrong = next(one for one in state["buttons"] if f"“{one['name']}”" not in task.instruction)
        await play.act(Click(x=wrong["box"]["x"] + 4, y=wrong["box"]["y"] + 4))
        verifier_result = await play.verifier_result()
    finally:
        await play.session.close()
    assert (verifier_result.success, verifier_result.failure, verifier_result.done) == (False, True, True)
    assert other.instruction != task.instruction


@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", ["labyrinth", "snake"])
async def test_two_browsers_draw_the_same(engine: Engine, other: Engine, name: str) -> None:
    task = GAMES.make(name, seed=2)
    record, actions = await play_task(engine, GAMES, task, "expert", frames=True)
    assert len(set(record.frames)) > 2
    assert await replay_frames(other, GAMES, task, actions) == record.frames
    assert await replay_frames(other, GAMES, GAMES.make(name, seed=3), actions[:1]) != record.frames[:2]


async def test_random_acts_are_the_same_each_time_and_no_success(engine: Engine) -> None:
    task = GAMES.make("pipes", seed=5, level=3)
    first, done = await play_task(engine, GAMES, task, "random", most=5)
    _, again = await play_task(engine, GAMES, task, "random", most=5)
    assert done == again
    assert (first.success, first.terminated, first.truncated, first.steps) == (False, False, True, 5)


async def test_a_page_that_claims_success_is_not_believed(engine: Engine) -> None:
    episode = await TaskEpisode.begin(engine, GAMES, GAMES.make("lights", seed=1))
    before = await episode.verifier_result()
    await episode.session.evaluate(CLAIM_SCRIPT)
    assert await episode.verifier_result() == before
    assert not before.success


async def test_a_verifier_that_throws_is_no_failure_of_the_policy(engine: Engine, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, verifier="function verify(state) { return state.nothing.there; }")
    task = suite.make("mail")
    episode = await TaskEpisode.begin(engine, suite, task)
    with pytest.raises(VerifierFailed, match="the verifier of mail threw"):
        await suite.judge(task, episode.session, "")


async def test_where_no_page_of_the_task_is_open_nothing_is_won(engine: Engine, tmp_path: Path) -> None:
    suite = write_suite(tmp_path, verifier=WINS % WON)
    task = suite.make("mail")
    episode = await TaskEpisode.begin(engine, suite, task)
    assert (await suite.judge(task, episode.session, "")).success
    await episode.session.goto("http://elsewhere.test/")
    verdict = await suite.judge(task, episode.session, "")
    assert (verdict.success, verdict.verifier) == (False, suite.folder("mail").checksum)
    assert await suite.suggest_expert_action(task, episode.session) is None


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"verifier": WINS % WON}, "is judged to be the end"),
        (
            {"verifier": WINS % STILL.replace("score: 0", "score: state.text.includes('SUCCESS') ? 1 : 0")},
            "is believed",
        ),
        ({"verifier": WINS % "{success: 1}"}, "VerifierFailed"),
        ({"page": PAGE.replace("seed: TASK.seed, ", "")}, "two seeds give the same start"),
        ({"page": "<p>nothing</p>"}, "is not there when the page has come to rest"),
        ({"expert": ADVICE.replace("advise", "help")}, "does not define the function advise"),
        ({}, "the expert did not win"),
    ],
)
async def test_what_does_not_keep_the_format_is_told(
    engine: Engine, tmp_path: Path, parts: dict[str, str], told: str
) -> None:
    suite = write_suite(tmp_path, **parts)
    report = await validate_task(suite, suite.folder("mail"), engine, engine, seeds=1)
    assert any(told in fault for fault in report.faults), report.faults
