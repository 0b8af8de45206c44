"""What reinforcement played with success is imitated in the next cycle."""

import json
from pathlib import Path

import pytest

from annotation_app.accounts.models import User
from annotation_app.errors import Invalid
from annotation_app.flywheel.models import Turn, Wheel
from annotation_app.flywheel.paths import TRIALS_FOLDER
from annotation_app.flywheel.recipe import LikelihoodTraining, MixShares
from annotation_app.flywheel.services import ledger, training, turn_files
from annotation_app.flywheel.services.own_attempts import RL_INBOX
from protocol.training.inbox import PROCESSED_FOLDER, REASONS_FILE, REJECTED_FOLDER
from protocol.trajectory.export_folders import TRAJECTORIES
from tests.integration.web.flywheel.flywheel_helpers import (
    GATE,
    create_wheel,
    import_attempts,
    run_turn,
    stop_after_stage,
    write_fake_trainer,
)
from tests.unit.annotation_app.flywheel.test_trials import attempts_write


@pytest.fixture
def wheel(admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """A wheel whose imitation has a share of own successes; its turns end with their training."""
    monkeypatch.setattr(training, "trainer_python", lambda: write_fake_trainer(tmp_path / "trainer"))
    stop_after_stage(monkeypatch, "train")
    made = create_wheel(admin, tmp_path)
    plan = LikelihoodTraining(updates=1, shares=MixShares(fresh=0.4, earlier=0.3, own=0.3, general=0))
    return ledger.wheel_set(
        user=admin, name="main", pool="lights", recipe=made.recipe.model_copy(update={"sft": plan, "ct": None})
    )


def play(turn: Turn) -> None:
    """Leave what a reinforcement leaves: learned, late, too old, damaged, and refused for another reason."""
    inbox = turn_files.turn_folder(turn) / "train" / RL_INBOX
    (inbox / PROCESSED_FOLDER).mkdir(parents=True)
    attempts_write(inbox / PROCESSED_FOLDER / "played-000001", {50: True, 51: False, GATE: True})
    attempts_write(inbox / "played-000002", {52: True})
    for name, code, seed in (("stale", "attempt_stale", 53), ("unjudged", "attempt_unjudged", 54)):
        attempts_write(inbox / REJECTED_FOLDER / name, {seed: True})
        (inbox / REJECTED_FOLDER / name / REASONS_FILE).write_text(json.dumps({code: 1}))
    (inbox / PROCESSED_FOLDER / "damaged").mkdir()


def sources(turn: Turn) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = json.loads((turn_files.turn_folder(turn) / "sft-sources.json").read_text())
    return found


def test_the_successes_of_earlier_cycles_are_a_source_of_their_own(wheel: Wheel, admin: User) -> None:
    first = run_turn(wheel, admin)
    assert sorted(sources(first)) == ["fresh"], "nothing was played before"
    play(first)
    second = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    told = training.mix(second)
    assert told["sft"]["sources"] == ["earlier", "own"]
    copy = turn_files.turn_folder(second) / turn_files.COPIES_FOLDER / "sft-own"
    assert sources(second)["own"] == {"kind": "trajectories", "paths": [str(copy)], "share": 0.3}
    tasks = [json.loads(line)["task"]["seed"] for line in (copy / TRAJECTORIES).read_text().splitlines()]
    assert sorted(tasks) == [50, 52, 53], "neither failures nor the gate's tasks, nor what nobody judged"
    assert training.mix(second) == told, "done again it is the same"


def set_fresh_pages(admin: User, wheel: Wheel, *, fresh: bool) -> None:
    trials = wheel.recipe.trials.model_copy(update={"fresh_pages": fresh})
    recipe = wheel.recipe.model_copy(update={"trials": trials})
    ledger.wheel_set(user=admin, name="main", pool="lights", recipe=recipe)


def test_what_earlier_gates_tried_is_a_source_where_each_gate_tries_fresh_pages(wheel: Wheel, admin: User) -> None:
    set_fresh_pages(admin, wheel, fresh=True)
    first = run_turn(wheel, admin)
    assert first.recipe.trials.first_seed == GATE
    tried = turn_files.turn_folder(first) / TRIALS_FOLDER
    attempts_write(tried / "candidate", {GATE: True, GATE + 1: False})
    attempts_write(tried / "active", {GATE + 2: True, GATE + 10: True})
    second = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    assert second.recipe.trials.first_seed == GATE + 10
    assert training.mix(second)["sft"]["own"] == 2, "no failure, and no page that this gate or a later one tries"


def test_what_was_tried_while_all_gates_had_the_same_pages_is_never_learned_from(wheel: Wheel, admin: User) -> None:
    first = run_turn(wheel, admin)
    attempts_write(turn_files.turn_folder(first) / TRIALS_FOLDER / "candidate", {GATE: True})
    set_fresh_pages(admin, wheel, fresh=True)
    second = run_turn(wheel, admin)
    assert second.recipe.trials.first_seed == GATE + 10
    assert "own" not in sources(second)
    attempts_write(turn_files.turn_folder(second) / TRIALS_FOLDER / "candidate", {GATE + 10: True})
    set_fresh_pages(admin, wheel, fresh=False)
    third = run_turn(wheel, admin)
    assert third.recipe.trials.first_seed == GATE + 20, "switched off it does not go back to what was learned from"
    assert third.stages.get(name="mix").result["sft"]["own"] == 1


def test_fresh_pages_begin_behind_what_was_learned_from(wheel: Wheel, admin: User, tmp_path: Path) -> None:
    import_attempts(tmp_path / "behind", {GATE + 40: True})
    run_turn(wheel, admin)
    set_fresh_pages(admin, wheel, fresh=True)
    second = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    assert second.recipe.trials.first_seed == GATE + 41


def test_fresh_pages_of_a_suite_that_has_none_are_refused(wheel: Wheel, admin: User) -> None:
    trials = wheel.recipe.trials.model_copy(update={"world": "bridge", "suite": "desktop", "fresh_pages": True})
    recipe = wheel.recipe.model_copy(update={"trials": trials})
    with pytest.raises(Invalid) as refused:
        ledger.wheel_set(user=admin, name="main", pool="lights", recipe=recipe)
    assert refused.value.code == "no_fresh_pages"


def test_without_a_share_they_are_left(wheel: Wheel, admin: User) -> None:
    first = run_turn(wheel, admin)
    play(first)
    plan = LikelihoodTraining(updates=1, shares=MixShares(fresh=0.7, earlier=0.3, general=0))
    recipe = wheel.recipe.model_copy(update={"sft": plan})
    ledger.wheel_set(user=admin, name="main", pool="lights", recipe=recipe)
    second = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    assert training.mix(second)["sft"]["sources"] == ["earlier"]
