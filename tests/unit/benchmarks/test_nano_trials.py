"""What the nano policy is tried at: every bundled task that runs at a small screen, and when an attempt is over."""

from datetime import UTC, datetime

from benchmarks.parts.nano.page_evaluation import is_clearly_above, is_stuck
from benchmarks.parts.nano.trials import FIRST, OWN, SOLVED, TaskResult, count_solved, trials
from protocol.actions.types import Action, Click, PressKeys
from protocol.blobs import BlobRef
from protocol.trajectory.observations import Observation
from protocol.trajectory.steps import Step
from vm_bridge.suites.registry import WEB_SUITES
from vm_bridge.suites.web import DRILLS, GAMES, SITES

AT = datetime.fromtimestamp(0, UTC)
TRIALS = {one.key: one for one in trials()}


def test_every_bundled_task_that_fits_a_small_screen_is_tried_at_its_first_level() -> None:
    for name, suite in (("drills", DRILLS), ("games", GAMES), ("sites", SITES)):
        small = {name for name, folder in suite.folders.items() if folder.manifest.small}
        assert set(OWN[name]) == small
        for task in small:
            trial, made = TRIALS[f"{name}/{task}"], suite.make(task, size=(320, 240))
            assert (trial.size, made.parameters["level"]) == ((320, 240), 1)
            assert trial.acts <= trial.most <= made.max_steps


def test_miniwob_is_tried_as_it_was() -> None:
    own = [one for one in TRIALS.values() if one.suite == "miniwob"]
    assert len(own) == 44
    assert {(one.size, one.seeds, one.first, one.chance) for one in own} == {((160, 210), 20, FIRST, 12)}
    assert {(one.blind, one.most == 2) for one in own} == {(12, True), (4, False)}, "one act: as often as at random"
    assert all(one.name in {task.name for task in WEB_SUITES["miniwob"].tasks} for one in own)
    assert (TRIALS["click-test"].most, TRIALS["enter-text"].most, TRIALS["enter-text"].still) == (2, 7, 7)


def test_drills_are_tried_at_the_level_asked_for() -> None:
    for level in (1, 2):
        drills = [one for one in trials(level=level) if one.suite == "drills"]
        assert {(one.seeds, one.first, one.chance, one.level) for one in drills} == {(20, FIRST, 6, level)}
        assert {(one.pointing, one.acts == 1, one.blind) for one in drills} == {(True, True, 6), (False, False, 4)}
        assert {one.task(3).parameters["level"] for one in drills} == {level}


def test_fewer_seeds_are_fewer_of_all() -> None:
    few = list(trials(seeds=4))
    assert {one.seeds for one in few} == {2, 4}
    assert all(one.first == one.seeds for one in few), f"none waits for {FIRST}"


def test_what_is_clearly_better_needs_no_more_attempts_beside_it() -> None:
    assert is_clearly_above([True] * 20, [False] * 4)
    assert not is_clearly_above([True] * 9 + [False] * 11, [False] * 4), "four say too little of a half"
    assert is_clearly_above([True] * 13 + [False] * 7, [False] * 12)
    assert not is_clearly_above([True] * 20, [True] * 4)


def test_what_is_solved_is_counted_by_its_kind() -> None:
    bundled = ("drills/press", "drills/form", "sites/login", "sites/kanban")
    names = ("click-test", "click-button", "enter-text", "click-option", *bundled)
    all_of_them = {
        TRIALS[name]: TaskResult(SOLVED, above_random=True, above_blind=name != "enter-text") for name in names
    }
    assert count_solved(all_of_them) == {
        "tasks_above_0_8": 4,
        "pointing_tasks_above_0_8": 1,
        "multistep_tasks_above_0_8": 2,
        "sites_and_games_above_0_8": 2,
        "bundled_tasks_above_blind": 4,
        "miniwob_tasks_above_0_8": 4,
        "miniwob_pointing_above_0_8": 1,
        "miniwob_multistep_above_0_8": 1,
        "miniwob_tasks_above_random": 4,
        "miniwob_tasks_above_blind": 3,
    }
    unsolved = TaskResult(SOLVED - 0.05, above_random=False, above_blind=False)
    assert set(count_solved(dict.fromkeys(all_of_them, unsolved)).values()) == {0}


def test_an_attempt_is_over_where_the_same_is_done_again_and_nothing_changes() -> None:
    here, there = (_observation(name) for name in (b"here", b"there"))
    click, key = Click(x=1, y=2), PressKeys(keys=("up",))
    assert is_stuck([_step(click, here, here)] * 3, 3)
    assert not is_stuck([_step(click, here, here)] * 2, 3)
    for other in (_step(key, here, here), _step(Click(x=1, y=3), here, here), _step(click, there, here)):
        for place in range(3):
            steps = [_step(click, here, here)] * 3
            steps[place] = other
            assert not is_stuck(steps, 3)
    assert not is_stuck([*[_step(click, here, here)] * 2, _step(click, here, there)], 3), "at last it changed something"


def _observation(picture: bytes) -> Observation:
    return Observation(
        screenshot=BlobRef.of(picture, "image/png"),
        width=320,
        height=240,
        captured_at=AT,
        settled=True,
        rest="rested",
        settle_ms=0,
    )


def _step(action: Action, before: Observation, after: Observation) -> Step:
    return Step(
        index=0,
        command_id="c",
        actor="policy",
        decision="auto",
        thought="",
        action=action,
        before=before,
        after=after,
        started_at=AT,
        ended_at=AT,
    )
