"""A wheel over real rows and folders: what it takes in, where it goes, and what follows a turner that died."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from annotation_app.accounts.models import User
from annotation_app.catalogue.services import entries_refresh
from annotation_app.episodes.models import Episode
from annotation_app.errors import Conflict, Forbidden
from annotation_app.flywheel import engine, paths, programs
from annotation_app.flywheel.jobs import turns_due_job
from annotation_app.flywheel.model_servers import ModelEndpoint
from annotation_app.flywheel.models import Checkpoint, Played, Sample, Stage, Use, Wheel
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, ReinforcementTraining
from annotation_app.flywheel.selectors import lineage, turns
from annotation_app.flywheel.services import gate, ledger, mixing, samples, training, turn_files
from annotation_app.flywheel.services.schedule import turns_due
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policy_of
from annotation_app.promotions.services import evaluation_add
from annotation_app.tasks.models import Pool
from protocol.dialects.prompt_template import PromptTemplate
from protocol.evaluation.reports import Comparison, PairedComparison, TaskChange
from protocol.evaluation.statistics import wilson_rate
from protocol.training.inbox import PROCESSED_FOLDER
from protocol.trajectory.proposals import PolicyRef
from tests.integration.web.conftest import World
from tests.integration.web.flywheel.flywheel_helpers import (
    GATE,
    RecordingEvaluation,
    RecordingProgramRunner,
    SimulatedCrash,
    crash_after,
    create_wheel,
    import_attempts,
    run_turn,
    stop_after_stage,
    write_fake_trainer,
)
from tests.unit.annotation_app.flywheel.test_trials import attempts_write
from tests.unit.annotation_app.test_gate import report


@pytest.fixture
def trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in the trainer's place that makes a checkpoint and notes that it was begun."""
    monkeypatch.setattr(training, "trainer_python", lambda: write_fake_trainer(tmp_path / "trainer"))


@pytest.fixture
def wheel(admin: User, tmp_path: Path) -> Wheel:
    return create_wheel(admin, tmp_path)


@pytest.mark.usefixtures("trainer")
def test_each_trajectory_is_taken_in_once_and_its_way_can_be_asked_for(
    wheel: Wheel, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "train")
    first = run_turn(wheel, admin)
    rows = Sample.objects.filter(turn=first)
    assert sorted(rows.values_list("route", "reason", "valued_by")) == sorted(
        [("sft", "passes", "verifier")] * 4 + [("ct", "below", "verifier")] * 2 + [("none", "held_out", "verifier")]
    )
    (sft,) = Checkpoint.objects.filter(turn=first)
    assert (sft.phase, sft.begun_with, sft.uses.count()) == ("sft", "/start", 4)

    import_attempts(tmp_path / "second", {10: True, 11: False})
    second = run_turn(wheel, admin)
    for turn in (first, second):
        names = {path.name for path in turn_files.turn_folder(turn).iterdir()}
        assert "train" in names
        assert turn_files.COPIES_FOLDER not in names, "copies of trajectories live no longer than their turn"
    assert Sample.objects.filter(turn=second).count() == 2
    ct, sft = Checkpoint.objects.filter(turn=second)
    assert [one.phase for one in (ct, sft)] == ["ct", "sft"]
    assert set(ct.uses.values_list("source", flat=True)) == {"fresh"}, "both turns' failures are new to it"
    assert ct.uses.count() == 3
    assert sorted(sft.uses.values_list("source", flat=True)) == ["earlier"] * 4 + ["fresh"]
    assert sft.parent == ct
    assert [turns.turn_out(user=admin, turn_id=turn.pk).last for turn in (first, second)] == [False, True]
    below = Path(sft.path).relative_to(turn_files.turn_folder(second).parent)
    assert paths.checkpoint_path(f"/another/installation/flywheel/{below}") == sft.path
    assert paths.checkpoint_path(f"/another/installation/{below}") == f"/another/installation/{below}"

    failed = rows.get(reason="below", episode=Use.objects.filter(checkpoint=ct).first().sample.episode)  # type: ignore[union-attr]
    (told,) = lineage.trajectory_lineage(user=admin, episode_id=failed.episode)
    assert [(one.checkpoint.phase, one.source) for one in told.taught] == [("ct", "fresh"), ("sft", "inherited")]
    back = lineage.checkpoint_lineage(user=admin, checkpoint_id=sft.pk, after=0)
    assert [one.id for one in back.ancestors] == [ct.pk]
    assert {one.sample.reason for one in back.uses} == {"passes"}


@pytest.mark.usefixtures("trainer")
def test_the_nano_policys_own_stage_is_given_the_folders_themselves(
    wheel: Wheel, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "train")
    plan = LikelihoodTraining(
        by="nano", updates=3, shares=MixShares(fresh=1, earlier=1, general=0), settings={"shown": 1.0}
    )
    recipe = wheel.recipe.model_copy(update={"sft": plan, "ct": None})
    ledger.wheel_set(user=admin, name="main", pool="lights", recipe=recipe)
    run_turn(wheel, admin)
    import_attempts(tmp_path / "second", {10: True})
    turn = run_turn(wheel, admin)
    folder = turn_files.turn_folder(turn)
    told = json.loads((folder / "train" / "sft.json").read_text())
    copies = folder / turn_files.COPIES_FOLDER
    assert told["folders"] == [str(copies / "sft-fresh"), str(copies / "sft-earlier")]
    assert (told["updates"], told["shown"]) == (3, 1.0)
    assert not {"sources", "dialect"} & told.keys(), "that stage has no such settings"
    (checkpoint,) = Checkpoint.objects.filter(turn=turn)
    assert sorted(checkpoint.uses.values_list("source", flat=True)) == ["earlier"] * 4 + ["fresh"]


@pytest.mark.usefixtures("trainer")
def test_reinforcement_names_the_samples_whose_kind_of_task_it_really_played(
    wheel: Wheel, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "route")
    rl = ReinforcementTraining(updates=1, between=(0.1, 0.9))
    recipe = wheel.recipe.model_copy(update={"ct": None, "rl": rl})
    ledger.wheel_set(user=admin, name="main", pool="lights", recipe=recipe)
    import_attempts(tmp_path / "others", {20: True, 21: False}, name="lamps")
    turn = run_turn(Wheel.objects.get(pk=wheel.pk), admin)
    kinds = Played.objects.filter(turn=turn, chosen=True).values_list("kind", flat=True)
    assert list(kinds) == ["toy/lamps", "toy/lights"], "both are worth playing"
    inbox = turn_files.turn_folder(turn) / "train" / "rl-inbox"
    (inbox / PROCESSED_FOLDER).mkdir(parents=True)
    attempts_write(inbox / PROCESSED_FOLDER / "played-000001", {50: True})
    attempts_write(inbox / "played-000002", {51: True}, name="lamps")  # came too late: nothing learned from it
    noting = programs.ProgramRunner(0, lambda: True, {})
    training.mix(turn)
    assert training.train(turn, noting)["phases"] == ["sft", "rl"]

    _sft, reinforced = Checkpoint.objects.filter(turn=turn)
    back = lineage.checkpoint_lineage(user=admin, checkpoint_id=reinforced.pk, after=0)
    assert {one.source for one in back.uses} == {"played"}
    assert (back.checkpoint.played, back.checkpoint.fresh, back.checkpoint.earlier) == (6, 0, 0)
    seeds = {Episode.objects.get(pk=one.sample.episode).task.definition.seed for one in back.uses}
    assert seeds == set(range(6)), "neither the gate's own, nor those of a kind that was chosen and never drawn"

    def taught(seed: int) -> list[tuple[str, str]]:
        episode = next(one.pk for one in Episode.objects.all() if one.task.definition.seed == seed)
        (told,) = lineage.trajectory_lineage(user=admin, episode_id=episode)
        return [(one.checkpoint.phase, one.source) for one in told.taught]

    assert taught(0) == [("sft", "fresh"), ("rl", "played")]
    assert taught(4) == [("rl", "played")], "nobody imitated it, but it is by it that its kind was played"
    assert taught(20) == [("sft", "fresh"), ("rl", "inherited")]
    assert (taught(21), taught(GATE)) == ([], [])


@pytest.mark.usefixtures("trainer")
@pytest.mark.parametrize(("temperature", "again"), [(0.0, False), (1.0, True)])
def test_what_the_active_revision_did_greedily_as_a_candidate_is_not_tried_again(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch, temperature: float, again: bool
) -> None:
    tried = list[str]()
    monkeypatch.setattr(gate, "_run_trials", lambda turn, programs, weights, out, revision: tried.append(revision))
    stop_after_stage(monkeypatch, "train")
    trials = wheel.recipe.trials.model_copy(update={"temperature": temperature})
    recipe = wheel.recipe.model_copy(update={"trials": trials})
    ledger.wheel_set(user=admin, name="main", pool="lights", recipe=recipe)
    first = run_turn(wheel, admin)
    made = PolicyRevision.objects.create(name="toy", revision="main-0001", base_url="https://models.example/v1")
    Checkpoint.objects.filter(turn=first).update(revision=made)
    Pool.objects.filter(pk=wheel.pool_id).update(policy=made)
    known = turn_files.turn_folder(first) / "trials" / "candidate"
    known.mkdir(parents=True)
    second = run_turn(Wheel.objects.get(pk=wheel.pk), admin)
    evaluation = RecordingEvaluation(report(policy_of(made), {"toy/lights": (1, 2)}))
    monkeypatch.setattr(gate, "evaluate_trials", evaluation)
    gate.gate(second, RecordingProgramRunner())
    trials_folder = turn_files.turn_folder(second) / "trials"
    against = trials_folder / "active" if again else known
    assert evaluation.compared == [(trials_folder / "candidate", against)]
    assert tried == ["main-0002", *(["main-0001"] if again else [])]


@pytest.mark.usefixtures("trainer")
def test_a_candidate_is_tried_with_what_people_s_desks_let_it_remember(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def served(
        given: programs.ProgramRunner, weights: Path, *, name: str, threads: int, **_: Any
    ) -> Iterator[ModelEndpoint]:
        yield ModelEndpoint(f"http://models.example/{name}/{threads}", name)

    monkeypatch.setattr(gate, "serve_weights", served)
    stop_after_stage(monkeypatch, "train")
    trials = GateTrials(world="bridge", suite="games", threads=2)
    recipe = wheel.recipe.model_copy(update={"trials": trials})
    ledger.wheel_set(user=admin, name="main", pool="lights", recipe=recipe)
    told = {"base_url": "https://models.example/v1", "memory": {"images": 1, "stride": 1}}
    prompt = PromptTemplate(prompt="As its makers have it: {instruction}")
    Pool.objects.filter(pk=wheel.pool_id).update(
        policy=PolicyRevision.objects.create(name="toy", prompt=prompt, **told)
    )
    turn = run_turn(Wheel.objects.get(pk=wheel.pk), admin)
    found = report(PolicyRef(name="toy", revision="main-0001", dialect="ui_tars_1_5"), {"a/b": (1, 2)})
    monkeypatch.setattr(gate, "evaluate_trials", RecordingEvaluation(found))
    noting = RecordingProgramRunner()
    gate.gate(turn, noting)
    (asked, before) = noting.asked
    for words in (asked, before):
        assert json.loads(words[words.index("--memory") + 1]) == told["memory"]
        assert PromptTemplate.model_validate_json(words[words.index("--prompt") + 1]) == prompt
        assert words[words.index("--model-url") + 1].endswith("/toy/2")


@pytest.mark.usefixtures("trainer")
def test_a_turn_shows_its_revision_and_the_active_one_task_by_task(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "train")
    turn = run_turn(wheel, admin)
    made = PolicyRevision.objects.create(name="toy", revision="main-0001", base_url="https://models.example/v1")
    Checkpoint.objects.filter(turn=turn).update(revision=made)
    change = TaskChange(
        suite="toy", name="lights", before=wilson_rate(3, 20), after=wilson_rate(17, 20), chance=0.01, adjusted=0.01,
        finding="better",
    )  # fmt: skip
    overall = PairedComparison(pairs=20, won=14, lost=0, chance=0.01, finding="better")
    found = Comparison(policies=(), overall=overall, tasks=(change,))
    evaluation_add(user=admin, revision_id=made.pk, report=report(policy_of(made), {"toy/lights": (17, 20)}, found))
    assert turns.turn_out(user=admin, turn_id=turn.pk).compared == (), "nothing is known of its gate"
    turn.stages.create(name="register", state="done", result={"revision": made.pk})
    assert turns.turn_out(user=admin, turn_id=turn.pk).compared == (change,)


@pytest.mark.usefixtures("trainer")
@pytest.mark.parametrize(
    ("where", "what", "after"),
    [
        (samples, "entries_refresh", 0),
        (samples, "value_of", 3),
        (samples, "decide_route", 5),
        (mixing, "write_export", 0),
        (training, "_checkpoint_record", 0),
        *((ledger, "stage_end", after) for after in (2, 4)),
    ],
)
def test_whoever_dies_anywhere_is_followed(
    where: Any, what: str, after: int, wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "train")
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    with monkeypatch.context() as patched:
        patched.setattr(where, what, crash_after(getattr(where, what), after))
        with pytest.raises(SimulatedCrash):
            engine.turn_run(turn_id=turn.pk)
    assert engine.turn_run(turn_id=turn.pk)
    turn.refresh_from_db()
    assert turn.state == "done"
    assert sorted(Stage.objects.filter(turn=turn).values_list("tries", flat=True)) == [1] * 5 + [2]
    assert Sample.objects.filter(wheel=wheel).count() == 7
    (checkpoint,) = Checkpoint.objects.filter(turn=turn)
    assert checkpoint.uses.count() == 4
    assert engine.turn_run(turn_id=turn.pk), "a turn that is done stays so"
    begun = (turn_files.turn_folder(turn) / "train" / "sft" / "begun").read_text().splitlines()
    assert len(begun) == (2 if what == "_checkpoint_record" else 1)


def test_a_program_that_fails_ends_the_turn_and_it_goes_on_once_that_is_mended(
    wheel: Wheel, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "train")
    monkeypatch.setattr(training, "trainer_python", lambda: "/bin/false")
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    engine.turn_run(turn_id=turn.pk)
    row = turns.turn_row(turns.turn_of(turn.pk))
    assert (row.state, row.stages[-1].name, row.stages[-1].code) == ("failed", "train", "program_failed")
    assert turns_due() == 0
    ledger.turn_resume(user=admin, turn_id=turn.pk)
    monkeypatch.setattr(training, "trainer_python", lambda: write_fake_trainer(tmp_path / "mended"))
    engine.turn_run(turn_id=turn.pk)
    assert turns.turn_row(turns.turn_of(turn.pk)).state == "done"


@pytest.mark.parametrize(
    ("module", "broken", "at"),
    [
        (samples, "value_of", "value"),
        (turn_files, "turn_folder", "collect"),
        (turn_files, "training_copies_delete", "mix"),
    ],
    ids=["in a stage", "before the first", "after the last"],
)
def test_an_error_nobody_foresaw_is_tried_again_and_then_ends_the_turn_until_somebody_mended_it(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture,
    module: ModuleType, broken: str, at: str,
) -> None:  # fmt: skip
    stop_after_stage(monkeypatch, "mix")
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)

    def standing() -> tuple[str, str, str, str]:
        row = turns.turn_row(turns.turn_of(turn.pk))
        return row.state, row.stages[-1].name, row.stages[-1].state, row.stages[-1].code

    def defect(_: Any) -> None:
        raise KeyError("a defect")

    def stumble() -> None:
        with pytest.raises(KeyError):
            engine.turn_run(turn_id=turn.pk)

    with monkeypatch.context() as patched:
        patched.setattr(module, broken, defect)
        for _ in range(1, ledger.MAX_UNEXPECTED_ERRORS):
            stumble()
            assert standing() == ("running", at, "begun", "unforeseen")
            assert turn.pk in turns.turns_running(), "a worker takes it up again"
        stumble()
        assert standing() == ("failed", at, "failed", "unforeseen")
        assert turns.turns_running() == ()
        stage = Stage.objects.get(turn=turn, name=at)
        assert (stage.error, stage.tries) == (
            "KeyError: 'a defect'",
            0 if at == "collect" else ledger.MAX_UNEXPECTED_ERRORS,
        )
        assert f"turn {turn.pk} failed: its stage {at}" in caplog.text
        ledger.turn_resume(user=admin, turn_id=turn.pk)
        stumble()
        assert standing()[0] == "running", "what goes on has its tries anew"
    assert engine.turn_run(turn_id=turn.pk)
    assert standing() == ("done", "mix", "done", "")
    assert Stage.objects.get(turn=turn, name=at).code == "", "what it ended with before is told no more"


def test_one_turn_at_a_time_by_one_process_and_only_admins_turn(
    wheel: Wheel, admin: User, committed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "mix")
    with pytest.raises(Forbidden):
        ledger.turn_begin(user=committed.ravi, wheel_id=wheel.pk)
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    with pytest.raises(Conflict, match="turning"):
        ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    with programs.turn_lock(turn_files.turn_folder(turn)) as lock:
        assert lock is not None
        assert not engine.turn_run(turn_id=turn.pk)
    ledger.turn_cancel(user=admin, turn_id=turn.pk)
    assert engine.turn_run(turn_id=turn.pk)
    assert not Stage.objects.filter(turn=turn).exists(), "nothing is begun in a turn that was cancelled"
    ledger.turn_resume(user=admin, turn_id=turn.pk)
    assert engine.turn_run(turn_id=turn.pk)
    assert turns.turn_row(turns.turn_of(turn.pk)).state == "done"
    with pytest.raises(Conflict, match="failed or was cancelled"):
        ledger.turn_resume(user=admin, turn_id=turn.pk)


def test_the_clock_begins_a_turn_once_there_is_enough_which_is_taken_up_where_a_worker_died(
    wheel: Wheel, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert turns_due() == 0, "it has no clock"
    stop_after_stage(monkeypatch, "route")
    recipe = wheel.recipe.model_copy(update={"least": 9})
    ledger.wheel_set(user=admin, name="main", pool="lights", recipe=recipe, every_hours=1)
    entries_refresh()
    turns_due_job()
    assert wheel.turns.count() == 0, "seven are too few, and nothing is used up by saying so"

    import_attempts(tmp_path / "second", {10: True, 11: False})
    entries_refresh()
    with monkeypatch.context() as patched:
        patched.setattr(ledger, "stage_begin", crash_after(ledger.stage_begin, 1))
        with pytest.raises(SimulatedCrash):
            turns_due_job()
    (turn_id,) = turns.turns_running()
    assert turns_due() == 0
    turns_due_job()
    row = turns.turn_row(turns.turn_of(turn_id))
    assert (row.state, sum(row.routes.model_dump().values())) == ("done", 9)
    turns_due_job()
    assert wheel.turns.count() == 1, "the hour is not over"


@pytest.mark.usefixtures("trainer")
def test_what_a_turn_took_in_and_never_said_where_to_is_the_next_ones(
    wheel: Wheel, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_stage(monkeypatch, "train")
    stopped = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    samples.collect(turns.turn_of(stopped.pk))
    ledger.turn_cancel(user=admin, turn_id=stopped.pk)
    entries_refresh()
    assert samples.is_enough(wheel), "what waits for a turn counts for the clock"
    turn = run_turn(wheel, admin)
    assert Sample.objects.filter(turn=turn).count() == 7
    assert not stopped.samples.exists()
    assert Use.objects.filter(sample__turn=turn).values_list("source", flat=True)[0] == "fresh"
