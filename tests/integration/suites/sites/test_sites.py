"""The bundled web tasks in a real browser: experts win them, verifiers see what went wrong, a reload loses nothing."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from protocol.actions.types import ChooseFiles, Click, TypeText
from tests.integration.browser.engine.conftest import started
from vm_bridge.browser import Clock, Engine
from vm_bridge.suites.web import SITES, static_validation
from vm_bridge.suites.web.episodes import TaskEpisode, play_task
from vm_bridge.suites.web.manifest import SMALL_SIZE
from vm_bridge.suites.web.suite import STATE

NAMES = sorted(SITES.folders)
SMALL_NAMES = [name for name in NAMES if SITES.folders[name].manifest.small]

State = dict[str, Any]


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with started(tmp_path / "engine", Clock.EXACT) as engine:
        yield engine


def test_fifteen_tasks_keep_the_format() -> None:
    assert len(NAMES) >= 15
    assert len(SMALL_NAMES) >= 6
    assert {name: list(static_validation.find_faults(SITES.folders[name])) for name in NAMES} == {
        name: [] for name in NAMES
    }


@pytest.mark.parametrize("name", NAMES)
async def test_the_expert_wins_the_last_level_in_chinese(engine: Engine, name: str) -> None:
    level = len(SITES.folders[name].manifest.levels)
    record, actions = await play_task(engine, SITES, SITES.make(name, seed=11, level=level, language="zh"), "expert")
    assert record.success, (record.reason, actions[-3:])
    assert record.reward == 1


@pytest.mark.parametrize("name", SMALL_NAMES)
async def test_the_expert_wins_on_a_small_screen(engine: Engine, name: str) -> None:
    record, actions = await play_task(engine, SITES, SITES.make(name, seed=5, level=2, size=SMALL_SIZE), "expert")
    assert record.success, (record.reason, actions[-3:])


def _mailed(state: State) -> None:
    state["sent"].append({"kind": "reply", "about": 1, "to": "somebody", "text": "no"})


def _joined(state: State) -> None:
    state["joined"] = True


def _twice(state: State) -> None:
    state["kept"] = [{"id": 0, "seats": 1}] * 2


def _ordered(state: State) -> None:
    state["orders"].append({"lines": [], "who": "", "city": ""})


@pytest.mark.parametrize(
    ("name", "change"), [("mail", _mailed), ("popups", _joined), ("outages", _twice), ("shop", _ordered)]
)
async def test_what_must_not_happen_ends_the_episode(
    engine: Engine, name: str, change: Callable[[State], None]
) -> None:
    task = SITES.make(name, seed=3, level=3)
    episode = await TaskEpisode.begin(engine, SITES, task)
    state: Any = await episode.session.evaluate(STATE)
    change(state)
    finding = await SITES.find_in(task, episode.session, state, None)
    assert (finding.failure, finding.done, finding.success, finding.score) == (True, True, False, 0)
    await episode.close()


@pytest.mark.parametrize("name", ["archive", "wiki"])
async def test_an_answer_is_right_or_wrong(engine: Engine, name: str) -> None:
    task = SITES.make(name, seed=3)
    _, actions = await play_task(engine, SITES, task, "expert")
    answer = actions[-1].answer  # type: ignore[union-attr]
    episode = await TaskEpisode.begin(engine, SITES, task)
    judged = [await SITES.judge(task, episode.session, one) for one in (f" {answer}. ", "about 12", "")]
    assert [verdict.success for verdict in judged] == [True, False, False]
    assert not (await episode.verifier_result()).done
    await episode.close()


async def test_the_expert_hits_a_link_that_goes_over_two_lines(engine: Engine) -> None:
    record, actions = await play_task(engine, SITES, SITES.make("wiki", seed=4, level=3), "expert")
    assert record.success, (record.reason, actions[-3:])


@pytest.mark.parametrize("wrong", [False, True])
async def test_a_letter_takes_the_file_along_that_was_chosen(engine: Engine, wrong: bool) -> None:
    task = SITES.make("mail", seed=3, level=4)
    episode = await TaskEpisode.begin(engine, SITES, task)
    for _ in range(20):
        advice = await SITES.suggest_expert_action(task, episode.session)
        assert advice is not None
        action = advice.action
        if isinstance(action, ChooseFiles):
            names = {file.name for file in episode.scene.files}
            chosen = sorted(names - set(action.files))[0] if wrong else action.files[0]
            await episode.act(ChooseFiles(files=(chosen,)))
            state: Any = await episode.session.evaluate(STATE)
            assert state["draft"]["file"]["name"] == chosen
            assert state["draft"]["file"]["bytes"] > 0
            send = state["view"]["parts"]["send"]
            await episode.act(Click(x=send["x"], y=send["y"]))
            break
        await episode.act(action)
    finding = await episode.verifier_result()
    assert (finding.success, finding.failure) == (not wrong, wrong)
    await episode.close()


async def test_a_page_that_is_loaded_again_goes_on(engine: Engine) -> None:
    episode = await TaskEpisode.begin(engine, SITES, SITES.make("signup", seed=4))
    state: Any = await episode.session.evaluate(STATE)
    part = state["view"]["parts"]["name"]
    await episode.act(Click(x=part["x"], y=part["y"]))
    await episode.act(TypeText(text="Nora"))
    await episode.session.reload()
    await episode.session.settle(3_000)
    again: Any = await episode.session.evaluate(STATE)
    assert again["form"]["name"] == "Nora"
    assert again["pages"] == state["pages"]
    await episode.close()


async def test_seeds_give_different_sites(engine: Engine) -> None:
    async def start(seed: int) -> object:
        episode = await TaskEpisode.begin(engine, SITES, SITES.make("mail", seed=seed))
        state: Any = await episode.session.evaluate(STATE)
        await episode.close()
        return state["mails"]

    first, again, other = [await start(seed) for seed in (1, 1, 2)]
    assert first == again != other
