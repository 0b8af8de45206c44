"""What a wheel remembers of its turns: what is new to a training, what may be learned from no more, whose weights it
begins with and which checkpoints come of which."""

import json
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.episodes.models import Episode
from annotation_app.errors import Conflict
from annotation_app.flywheel import engine
from annotation_app.flywheel.jobs import turns_due_job
from annotation_app.flywheel.models import Checkpoint, Sample, Stage, Turn, Use, Wheel
from annotation_app.flywheel.paths import TRIALS_FOLDER
from annotation_app.flywheel.programs import turn_lock
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe
from annotation_app.flywheel.selectors import lineage
from annotation_app.flywheel.services import gate, ledger, training, turn_files
from annotation_app.policies.models import PolicyRevision
from annotation_app.reviews.services import remark_set, review_claim
from annotation_app.tasks.models import Pool
from protocol.trajectory.proposals import PolicyRef
from tests.integration.web.flywheel.flywheel_helpers import (
    GATE,
    RecordingEvaluation,
    RecordingProgramRunner,
    import_attempts,
    run_turn,
    stop_after_stage,
    write_fake_trainer,
)
from tests.unit.annotation_app.test_gate import report

SERVER = "http://desks.example"


@pytest.fixture
def wheel(admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """A wheel over two attempts that succeeded and one that failed; its turns end with their training."""
    monkeypatch.setattr(training, "trainer_python", lambda: write_fake_trainer(tmp_path / "trainer"))
    stop_after_stage(monkeypatch, "train")
    import_attempts(tmp_path / "first", {0: True, 1: True, 2: False})
    return wheel_of(admin)


def wheel_of(admin: User, name: str = "main", **told: Any) -> Wheel:
    plan = LikelihoodTraining(updates=1, shares=MixShares(fresh=0.7, earlier=0.3, general=0))
    recipe = {
        "policy": "toy", "start": "/start", "server": SERVER, "sft": plan, "ct": plan.model_copy(update={"every": 2}),
        "trials": GateTrials(world="toy", first_seed=GATE, seeds=10), **told,
    }  # fmt: skip
    return ledger.wheel_set(user=admin, name=name, pool="lights", recipe=Recipe.model_validate(recipe))


def failed(wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch) -> Turn:
    """A turn whose training ends with an error."""
    with monkeypatch.context() as patched:
        patched.setattr(training, "trainer_python", lambda: "/bin/false")
        turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
        engine.turn_run(turn_id=turn.pk)
    turn.refresh_from_db()
    assert turn.state == "failed"
    return turn


def trained_seeds(turn: Turn, phase: str) -> dict[str, set[int]]:
    """The seeds that a training learned from, by what they were to it."""
    found: dict[str, set[int]] = {}
    for use in Use.objects.filter(checkpoint__turn=turn, checkpoint__phase=phase).select_related("sample"):
        found.setdefault(use.source, set()).add(seed_of(use.sample.episode))
    return found


def seed_of(episode: UUID) -> int:
    seed = Episode.objects.select_related("task").get(pk=episode).task.definition.seed
    assert seed is not None
    return seed


def test_what_a_turn_that_failed_was_to_learn_is_new_to_the_next_and_its_period_does_not_pass(
    wheel: Wheel, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run_turn(wheel, admin)
    assert (trained_seeds(first, "sft"), trained_seeds(first, "ct")) == ({"fresh": {0, 1}}, {})
    import_attempts(tmp_path / "second", {10: True, 11: False})
    failed(wheel, admin, monkeypatch)
    import_attempts(tmp_path / "third", {20: True, 21: False})
    third = run_turn(wheel, admin)
    assert trained_seeds(third, "ct") == {"fresh": {2, 11, 21}}, "it was due in the turn that failed"
    assert trained_seeds(third, "sft") == {"earlier": {0, 1}, "fresh": {10, 20}}
    import_attempts(tmp_path / "fourth", {30: True, 31: False})
    fourth = run_turn(wheel, admin)
    assert (trained_seeds(fourth, "ct"), trained_seeds(fourth, "sft")["fresh"]) == ({}, {30})


def test_what_may_be_learned_from_no_more_is_not_learned_from_as_earlier_either(
    wheel: Wheel, admin: User, tmp_path: Path
) -> None:
    import_attempts(tmp_path / "more", {3: True, 4: True, 5: True})
    run_turn(wheel, admin)
    for review, seed in (("returned", 0), ("rejected", 3), ("accepted", 4)):
        episode = next(one.pk for one in Episode.objects.select_related("task") if one.task.definition.seed == seed)
        Episode.objects.filter(pk=episode).update(review=review)
    import_attempts(tmp_path / "second", {10: True})
    wheel = wheel_of(admin, ct=None, trials=GateTrials(world="toy", first_seed=5, seeds=3))
    assert trained_seeds(run_turn(wheel, admin), "sft") == {"earlier": {1, 4}, "fresh": {10}}, "of 5 the gate asks now"


def proposing(wheel: Wheel, **told: Any) -> PolicyRevision:
    """A revision that proposes in the wheel's pool."""
    first = {"name": "toy", "revision": "begin", "dialect": "ui_tars_1_5", "base_url": "http://theirs.example/v1"}
    made = PolicyRevision.objects.create(**{**first, **told})
    Pool.objects.filter(pk=wheel.pool_id).update(policy=made)
    return made


@pytest.mark.parametrize("whose", [{"name": "other"}, {"scripted": True}], ids=["another policy", "a script"])
def test_who_is_no_revision_of_the_wheels_policy_is_not_begun_with(
    whose: dict[str, Any], wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = {"checkpoint": "/theirs", "model": "m", "sampling": {"top_p": 0.5}, "memory": {"images": 1}}
    proposing(wheel, **told, **whose)
    turn = run_turn(wheel, admin)
    (made,) = Checkpoint.objects.filter(turn=turn)
    assert (made.begun_with, made.parent) == ("/start", None)
    found = report(PolicyRef(name="toy", revision="main-0001", dialect="ui_tars_1_5"), {"toy/lights": (1, 2)})
    evaluation = RecordingEvaluation(found)
    monkeypatch.setattr(gate, "evaluate_trials", evaluation)
    gate.gate(turn, RecordingProgramRunner())
    trials = turn_files.turn_folder(turn) / TRIALS_FOLDER
    assert evaluation.compared == [(trials / "candidate", None)]
    assert (trials / "report.json").exists()
    gate.register(turn)
    revision = PolicyRevision.objects.get(revision="main-0001")
    assert (revision.base_url, revision.model, revision.scripted) == (f"{SERVER}/v1", "toy", False)
    assert (revision.sampling, revision.memory) == ({}, {})


def test_a_turn_of_which_nobody_would_serve_what_it_makes_does_not_train(wheel: Wheel, admin: User) -> None:
    wheel = wheel_of(admin, server="")
    proposing(wheel, name="other")
    with pytest.raises(Conflict, match="Nobody serves toy") as refused:
        ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    assert (refused.value.code, Turn.objects.exists()) == ("nobody_serves", False)
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk, by_clock=True)
    engine.turn_run(turn_id=turn.pk)
    turn.refresh_from_db()
    stage = Stage.objects.filter(turn=turn).last()
    assert stage is not None
    assert (turn.state, stage.name, stage.code) == ("failed", "mix", "nobody_serves")
    proposing(wheel, revision="second")
    run_turn(wheel, admin)


@pytest.mark.parametrize("lies", ["where it was", "elsewhere"])
def test_what_another_wheel_trained_is_a_parent_too_wherever_it_lies_now(
    lies: str, wheel: Wheel, admin: User, tmp_path: Path
) -> None:
    first = run_turn(wheel, admin)
    (trained,) = Checkpoint.objects.filter(turn=first)
    at = trained.path if lies == "where it was" else str(tmp_path / "restored")
    Checkpoint.objects.filter(pk=trained.pk).update(revision=proposing(wheel, revision="main-0001", checkpoint=at))
    (taught, *_more) = trained.uses.select_related("sample")
    other = wheel_of(admin, name="other", ct=None)
    second = run_turn(other, admin)
    (made,) = Checkpoint.objects.filter(turn=second)
    assert (made.begun_with, made.parent) == (at, trained)
    found = lineage.trajectory_lineage(user=admin, episode_id=taught.sample.episode)
    told = next(one for one in found if one.wheel == "main")
    assert [(one.wheel, one.source) for one in told.taught] == [("main", "fresh"), ("other", "inherited")]
    back = lineage.checkpoint_lineage(user=admin, checkpoint_id=made.pk, after=0)
    assert [one.id for one in back.ancestors] == [trained.pk]


def test_copies_go_with_a_turn_that_ended_badly_and_come_again_as_it_goes_on(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = failed(wheel, admin, monkeypatch)
    copies, run = (
        turn_files.turn_folder(turn) / turn_files.COPIES_FOLDER,
        turn_files.turn_folder(turn) / "train" / "sft",
    )
    assert copies.exists()
    with turn_lock(turn_files.turn_folder(turn)) as lock:
        assert lock is not None
        turns_due_job()
        assert copies.exists(), "somebody is at it"
    turns_due_job()
    assert not copies.exists()
    run.mkdir(parents=True)
    (run / "half").touch()
    goes_on(turn, admin)
    assert trained_seeds(turn, "sft") == {"fresh": {0, 1}}
    assert (run / "half").exists(), "the training goes on with what it had learned"


def test_a_training_begins_anew_where_what_it_learned_from_was_reviewed_meanwhile(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = failed(wheel, admin, monkeypatch)
    turns_due_job()
    run = turn_files.turn_folder(turn) / "train" / "sft"
    run.mkdir(parents=True)
    (run / "half").touch()
    reviewed = next(one for one in Episode.objects.all() if seed_of(one.pk) == 0)
    review_claim(user=admin, episode_id=reviewed.pk)
    remark_set(user=admin, episode_id=reviewed.pk, index=0, verdict=None, comment="Well done.")
    goes_on(turn, admin)
    assert trained_seeds(turn, "sft") == {"fresh": {0, 1}}
    assert not (run / "half").exists(), "the trainer would refuse to go on with other data"


@pytest.mark.parametrize("died", [False, True], ids=["it failed", "its worker died"])
def test_a_turn_that_goes_on_learns_nothing_from_what_was_deleted_meanwhile(
    died: bool, wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = failed(wheel, admin, monkeypatch)
    if not died:
        turns_due_job()
    run = turn_files.turn_folder(turn) / "train" / "sft"
    run.mkdir(parents=True)
    (run / "half").touch()
    (gone, kept) = (Sample.objects.get(episode=one.pk) for one in Episode.objects.all() if seed_of(one.pk) in (0, 1))
    Episode.objects.filter(pk=gone.episode).update(emptied_at=timezone.now())
    goes_on(turn, admin)
    assert [use.sample for use in Use.objects.filter(checkpoint__phase="sft")] == [kept]
    assert not (run / "half").exists(), "it was trained on what was deleted"


def goes_on(turn: Turn, admin: User) -> None:
    ledger.turn_resume(user=admin, turn_id=turn.pk)
    assert engine.turn_run(turn_id=turn.pk)
    turn.refresh_from_db()
    assert turn.state == "done"


def test_copies_that_cannot_be_deleted_are_told(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    turn = failed(wheel, admin, monkeypatch)

    def refuses(folder: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(shutil, "rmtree", refuses)
    turns_due_job()
    assert (
        f"the copies in {turn_files.turn_folder(turn) / turn_files.COPIES_FOLDER} could not be deleted" in caplog.text
    )
    ledger.turn_resume(user=admin, turn_id=turn.pk)
    with pytest.raises(PermissionError):
        engine.turn_run(turn_id=turn.pk)
    stage = Stage.objects.filter(turn=turn).last()
    assert stage is not None
    assert stage.code == "unforeseen"


def test_a_turn_whose_worker_died_as_it_exchanged_who_proposes_is_brought_to_its_end(wheel: Wheel, admin: User) -> None:
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    long_ago = timezone.now() - timedelta(days=30)
    ledger.stage_begin(turn_id=turn.pk, name="collect")
    ledger.stage_end(turn_id=turn.pk, name="collect", result={})
    ledger.stage_begin(turn_id=turn.pk, name="refresh")
    Stage.objects.update(began_at=long_ago)
    with pytest.raises(Conflict) as refused:
        ledger.turn_cancel(user=admin, turn_id=turn.pk)
    assert refused.value.code == "exchanging"
    ledger.overlong_turns_fail(longest=timedelta(days=7))
    assert ledger.turn_running(turn_id=turn.pk)
    ledger.stage_end(turn_id=turn.pk, name="refresh", result={})
    ledger.turn_cancel(user=admin, turn_id=turn.pk)
    assert not ledger.turn_running(turn_id=turn.pk)


def test_the_critic_goes_on_from_cycle_to_cycle(wheel: Wheel, admin: User, tmp_path: Path) -> None:
    def critic_in(number: int, settings: dict[str, Any] | None = None, algorithm: str = "ppo") -> tuple[Any, Path]:
        rl = {"algorithm": algorithm, "updates": 1, "between": (0, 1), "settings": settings or {}}
        wheel_of(admin, rl=rl)
        import_attempts(tmp_path / f"more-{number}", {10 * number: True, 10 * number + 1: False})
        folder = turn_files.turn_folder(run_turn(wheel, admin)) / "train"
        left = folder / "rl" / "update-000001" / training.CRITIC_FOLDER
        left.mkdir()
        return json.loads((folder / "rl.json").read_text()).get("critic", "none"), left

    told, first = critic_in(2)
    assert told == "none"
    assert critic_in(3)[0] == str(first)
    assert critic_in(4, settings={"critic": None})[0] is None, "the recipe's own word wins"
    assert critic_in(5, algorithm="grpo")[0] == "none", "GRPO has no critic"
