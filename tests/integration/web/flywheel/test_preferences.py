"""A cycle's training by preferences: what people corrected and marked in what may be imitated."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotation_app.accounts.models import User
from annotation_app.flywheel.models import Checkpoint, Turn, Wheel
from annotation_app.flywheel.recipe import PreferenceTraining
from annotation_app.flywheel.services import gate, ledger, training, turn_files
from annotation_app.imports.services import import_folder_run
from protocol.trajectory.trajectories import Trajectory
from tests.integration.web.flywheel.flywheel_helpers import create_wheel, run_turn, stop_after_stage, write_fake_trainer
from tests.unit.annotation_app.flywheel.test_trials import named
from tests.unit.protocol.examples import proposal
from trainer.toy.episodes import LightsEpisode, PolicyReply
from trainer.toy.lights import NAMES
from trainer.toy.trajectory_folders import write_trajectory_folder

PLAN = PreferenceTraining(updates=2, settings={"beta": 0.2})


@pytest.fixture
def wheel(admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """A wheel over four attempts that a policy solved alone; its turns end with their training."""
    monkeypatch.setattr(training, "trainer_python", lambda: write_fake_trainer(tmp_path / "trainer"))
    stop_after_stage(monkeypatch, "train")
    return set_plan(admin, create_wheel(admin, tmp_path), PLAN)


def set_plan(admin: User, wheel: Wheel, plan: PreferenceTraining, **told: object) -> Wheel:
    recipe = type(wheel.recipe).model_validate({**wheel.recipe.model_dump(), "preferences": plan.model_dump(), **told})
    return ledger.wheel_set(user=admin, name=wheel.name, pool="lights", recipe=recipe)


def import_corrected(folder: Path, *seeds: int) -> None:
    """Attempts come in whose every step a person overrode: the policy had named another corner."""
    plays = [_corrected(seed) for seed in seeds]
    write_trajectory_folder(folder, [one for one, _ in plays], {ref: data for _, blobs in plays for ref, data in blobs})
    job = import_folder_run(folder=folder, pool="lights")
    assert (job.status, job.imported) == ("done", len(seeds)), job.error


def _corrected(seed: int) -> tuple[Trajectory, Any]:
    play = LightsEpisode(seed)
    while not play.is_over:
        said = PolicyReply(
            text=f" {NAMES[play.lights.lit]}", ids=(1, 2), logprobs=(-0.1, -0.1), versions=("start",), finish="stop"
        )
        play.apply_reply((1, 2), said, 1.0)
    made = named(play.trajectory(), "lights")
    steps, rows = [], []
    for one in made.steps:
        wrong = one.action.model_copy(update={"x": (one.action.x + 400) % 640})  # type: ignore[union-attr]
        row = (proposal(one.index + 1, wrong),)
        steps.append(one.model_copy(update={"decision": "override", "proposal_id": None, "policy": None}))
        rows.append(row)
    return made.model_copy(update={"steps": tuple(steps), "proposals": tuple(rows)}), play.blobs.items()


def told_to_trainer(turn: Turn) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((turn_files.turn_folder(turn) / "train" / "pref.json").read_text())
    return found


def test_where_nobody_corrected_anything_nothing_is_learned_from_preferences(wheel: Wheel, admin: User) -> None:
    turn = run_turn(wheel, admin)
    assert [one.phase for one in Checkpoint.objects.filter(turn=turn)] == ["sft"]
    assert turn.stages.get(name="mix").result["pref"]["choices"] == 0


def test_corrections_are_learned_from_after_imitation(wheel: Wheel, admin: User, tmp_path: Path) -> None:
    import_corrected(tmp_path / "people", 30, 31)
    turn = run_turn(wheel, admin)
    sft, preferred = Checkpoint.objects.filter(turn=turn)
    assert (sft.phase, preferred.phase, preferred.parent, preferred.begun_with) == ("sft", "pref", sft, sft.path)
    assert gate.candidate_of(turn) == preferred
    mixed = turn.stages.get(name="mix").result["pref"]
    assert (mixed["fresh"], mixed["choices"], mixed["sources"]) == (6, 6, ["fresh"])
    told = told_to_trainer(turn)
    copies = turn_files.turn_folder(turn) / turn_files.COPIES_FOLDER
    assert told["folders"] == [str(copies / "pref-fresh")]
    assert (told["sources"], told["beta"], told["updates"]) == (["override", "takeover", "mark"], 0.2, 2)
    assert preferred.uses.count() == sft.uses.count() == 6


def test_earlier_choices_are_learned_from_again_unless_switched_off(wheel: Wheel, admin: User, tmp_path: Path) -> None:
    import_corrected(tmp_path / "people", 30, 31)
    run_turn(wheel, admin)
    import_corrected(tmp_path / "more", 40)
    again = run_turn(wheel, admin)
    assert again.stages.get(name="mix").result["pref"]["sources"] == ["earlier", "fresh"]
    import_corrected(tmp_path / "last", 50)
    newest = run_turn(set_plan(admin, wheel, PLAN.model_copy(update={"earlier": False, "algorithm": "kto"})), admin)
    mixed = newest.stages.get(name="mix").result["pref"]
    assert (mixed["fresh"], mixed["earlier"], mixed["sources"]) == (1, 0, ["fresh"])
    assert mixed["choices"] == 6, "each step that was done, and each candidate that was not"


def test_preferences_alone_are_a_recipe(wheel: Wheel, admin: User, tmp_path: Path) -> None:
    import_corrected(tmp_path / "people", 30)
    turn = run_turn(set_plan(admin, wheel, PLAN, sft=None, ct=None), admin)
    (made,) = Checkpoint.objects.filter(turn=turn)
    assert (made.phase, made.begun_with) == ("pref", "/start")
