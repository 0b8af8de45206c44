"""A flywheel over several pools: one training, or a specialist for each pool whose weights are merged."""

import json
from pathlib import Path

import pytest

from annotation_app.accounts.models import User
from annotation_app.errors import Conflict, Invalid
from annotation_app.flywheel import programs
from annotation_app.flywheel.models import Checkpoint, Sample, Turn, Wheel
from annotation_app.flywheel.paths import TRIALS_FOLDER
from annotation_app.flywheel.recipe import LikelihoodTraining, MixShares, Specialists
from annotation_app.flywheel.selectors import lineage, turns
from annotation_app.flywheel.selectors.turns import turn_of
from annotation_app.flywheel.services import gate, ledger, merging, samples, training, turn_files
from annotation_app.flywheel.services.merging import merge_weights
from annotation_app.imports.services import import_folder_run
from annotation_app.notifications.services.webhooks import event_emit
from annotation_app.notifications.webhook_events import PolicyPromoted
from annotation_app.policies.gate import Gate
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policy_of
from annotation_app.policies.services import revision_add
from annotation_app.promotions import services as promotions
from annotation_app.promotions.models import GateDecision
from annotation_app.promotions.services import evaluation_add, gate_set
from annotation_app.tasks.models import Pool
from tests.integration.web.flywheel.flywheel_helpers import (
    RecordingProgramRunner,
    create_wheel,
    run_turn,
    stop_after_stage,
    write_fake_trainer,
)
from tests.unit.annotation_app.flywheel.test_trials import attempts_write
from tests.unit.annotation_app.test_gate import report


@pytest.fixture
def wheel(admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wheel:
    """A wheel over the pools lights (four successes) and lamps (one); its turns end with their training."""
    for module in (training, merging):
        monkeypatch.setattr(module, "trainer_python", lambda: write_fake_trainer(tmp_path / "trainer"))
    stop_after_stage(monkeypatch, "train")
    made = create_wheel(admin, tmp_path)
    attempts_write(tmp_path / "lamps", {20: True, 21: False}, name="lamps")
    job = import_folder_run(folder=tmp_path / "lamps", pool="lamps")
    assert (job.status, job.imported) == ("done", 2), job.error
    plan = LikelihoodTraining(updates=1, shares=MixShares(fresh=0.7, earlier=0.3, general=0))
    return set_recipe(admin, made, pools=("lamps",), sft=plan, ct=plan.model_copy(update={"every": 2}))


def set_recipe(admin: User, wheel: Wheel, **told: object) -> Wheel:
    recipe = type(wheel.recipe).model_validate({**wheel.recipe.model_dump(), **told})
    return ledger.wheel_set(user=admin, name=wheel.name, pool="lights", recipe=recipe)


def test_one_training_learns_from_all_pools(wheel: Wheel, admin: User) -> None:
    turn = run_turn(wheel, admin)
    assert Sample.objects.filter(turn=turn, route="sft").count() == 5
    (made,) = Checkpoint.objects.filter(turn=turn)
    assert (made.phase, made.domain, made.uses.count()) == ("sft", "", 5)
    sources = json.loads((turn_files.turn_folder(turn) / "sft-sources.json").read_text())
    names = [Path(path).name for path in sources["fresh"]["paths"]]
    assert names == ["sft-fresh", f"sft-fresh-{Pool.objects.get(name='lamps').pk}"]


def test_specialists_are_trained_apart_from_the_same_weights_and_merged(wheel: Wheel, admin: User) -> None:
    wheel = set_recipe(admin, wheel, specialists=Specialists(weights="samples"))
    turn = run_turn(wheel, admin)
    lights, lamps, merged = Checkpoint.objects.filter(turn=turn)
    assert [(one.phase, one.domain) for one in (lights, lamps, merged)] == [
        ("sft", "lights"),
        ("sft", "lamps"),
        ("merge", ""),
    ]
    assert lights.begun_with == lamps.begun_with == "/start"
    assert (lights.uses.count(), lamps.uses.count(), merged.uses.count()) == (4, 1, 0)
    assert set(merged.parts.all()) == {lights, lamps}
    told = json.loads((turn_files.turn_folder(turn) / "train" / "merge.json").read_text())
    assert [part["weight"] for part in told["parts"]] == [0.8, 0.2]
    assert gate.candidate_of(turn) == merged
    result = turn.stages.get(name="train").result
    assert (result["specialists"], result["checkpoint"]) == (["lights", "lamps"], merged.path)

    for part in (lights, lamps):
        (Path(part.path) / "heads.pt").write_text(part.domain)
    below = Path(lights.path).relative_to(turn_files.turn_folder(turn).parent)
    lights.path = f"/another/installation/flywheel/{below}"
    again = merging.merge_specialists(turn, [lights, lamps], RecordingProgramRunner())
    assert (str(again), (again / "heads.pt").read_text()) == (merged.path, "lights"), "those of the largest part"

    sample = lamps.uses.get().sample
    (taught,) = lineage.trajectory_lineage(user=admin, episode_id=sample.episode)
    assert [(one.checkpoint.domain, one.source) for one in taught.taught] == [("lamps", "fresh"), ("", "inherited")]
    back = lineage.checkpoint_lineage(user=admin, checkpoint_id=merged.pk, after=0)
    assert [one.id for one in back.ancestors] == [lamps.pk, lights.pk]
    shown = turns.turn_out(user=admin, turn_id=turn.pk).checkpoints[-1]
    assert (shown.phase, shown.parts) == ("merge", (lights.pk, lamps.pk))


def test_a_pool_with_nothing_new_has_no_specialist(wheel: Wheel, admin: User, tmp_path: Path) -> None:
    wheel = set_recipe(admin, wheel, specialists=Specialists())
    run_turn(wheel, admin)
    attempts_write(tmp_path / "more", {30: True}, name="lamps")
    import_folder_run(folder=tmp_path / "more", pool="lamps")
    plan = LikelihoodTraining(updates=1, shares=MixShares(fresh=1, earlier=0, general=0))
    turn = run_turn(set_recipe(admin, wheel, sft=plan, ct=None), admin)
    (lamps,) = Checkpoint.objects.filter(turn=turn)
    assert (lamps.domain, gate.candidate_of(turn)) == ("lamps", lamps)


@pytest.fixture
def old(wheel: Wheel) -> PolicyRevision:
    """Who proposes in both pools."""
    made = PolicyRevision.objects.create(
        name="toy", revision="1", dialect="ui_tars_1_5", base_url="http://desks.example/v1", model="toy"
    )
    Pool.objects.filter(name__in=("lights", "lamps")).update(policy=made)
    return made


@pytest.fixture
def candidate(wheel: Wheel, old: PolicyRevision, admin: User) -> tuple[Turn, PolicyRevision]:
    """A turn whose candidate is tried and not registered yet, and its revision."""
    turn = turn_of(run_turn(wheel, admin).pk)
    made = gate.candidate_of(turn)
    assert made is not None
    revision, _ = revision_add(user=admin, revision=gate._revision(turn, made))
    found = report(policy_of(revision), {"toy/lights": (3, 5)})
    turn_files.file_write(turn_files.turn_folder(turn) / TRIALS_FOLDER / "report.json", found.model_dump(mode="json"))
    return turn, revision


def proposing() -> dict[str, str]:
    return {pool.name: str(pool.policy) for pool in Pool.objects.filter(policy__name="toy").select_related("policy")}


def set_gates(admin: User, **attempts: int) -> None:
    """Gates that promote automatically, from so many attempts on."""
    for name, least in attempts.items():
        wanted = Gate(attempts=least, no_regression=False, promote="automatically")
        gate_set(user=admin, pool_id=Pool.objects.get(name=name).pk, gate=wanted)


def test_a_shut_pool_keeps_all_pools_with_their_revision(
    candidate: tuple[Turn, PolicyRevision], admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn, new = candidate
    loaded = list[str]()
    monkeypatch.setattr(gate, "weights_load", lambda *words, **told: loaded.append(str(proposing())))
    before = proposing()
    set_gates(admin, lights=1, lamps=100)
    told = gate.register(turn)
    assert (told["judged"], told["passed"]) == (True, False)
    assert told["reasons"] == [{"code": "pool_shut", "subject": "lamps"}]
    running = programs.ProgramRunner(0, lambda: True, {})
    assert gate.refresh(turn, running) == {"active": "", "reloaded": False}
    assert (proposing(), loaded) == (before, []), "an automatic gate waits for the other pools and the server"

    later, _ = evaluation_add(
        user=admin, revision_id=new.pk, report=report(policy_of(new), {"toy/lights": (100, 100)}), automatic=False
    )
    assert GateDecision.objects.get(evaluation=later, pool__name="lamps").passed
    assert gate.refresh(turn, running)["active"] == str(new)
    assert loaded == [str(before)], "the server has the weights before the revision proposes"
    assert set(proposing().values()) == {str(new)}


def test_a_pool_with_a_newer_revision_or_an_unasked_gate_is_shut(
    candidate: tuple[Turn, PolicyRevision], old: PolicyRevision, admin: User
) -> None:
    turn, new = candidate
    lamps = Pool.objects.filter(name="lamps")
    assert gate._shut_pools(turn, new) == [], "a pool without a gate is open"
    set_gates(admin, lamps=1)
    assert gate._shut_pools(turn, new) == [lamps.get()], "its gate was set after the report and has not judged"
    newer = PolicyRevision.objects.create(name="toy", revision="newer", base_url=old.base_url)
    lamps.update(policy=newer, gate=None)
    assert gate._shut_pools(turn, new) == [lamps.get()]
    lamps.update(policy=None)
    assert gate._shut_pools(turn, new) == []
    assert gate._pools_to_activate(turn, new) == [turn.wheel.pool_id], "another policy stays where it is"


def test_a_revision_is_activated_in_all_pools_or_in_none(
    candidate: tuple[Turn, PolicyRevision], admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn, _ = candidate
    set_gates(admin, lights=1, lamps=1)
    gate.register(turn)
    loaded = list[str]()
    monkeypatch.setattr(gate, "weights_load", lambda *words, **told: loaded.append(words[3]))
    before = proposing()

    def fail_second(event: PolicyPromoted) -> None:
        event_emit(event)
        if event.pool == max(before):
            raise RuntimeError("the second pool")

    monkeypatch.setattr(promotions, "event_emit", fail_second)
    with pytest.raises(RuntimeError):
        gate.refresh(turn, programs.ProgramRunner(0, lambda: True, {}))
    assert proposing() == before
    assert loaded == ["main-0001", "1"], "the server gets the weights back of who proposes"


def test_a_pool_that_is_not_there_is_refused_and_fails_the_cycle(wheel: Wheel, admin: User) -> None:
    with pytest.raises(Invalid, match="no pool 'stoves'"):
        set_recipe(admin, wheel, pools=("stoves",))
    Pool.objects.filter(name="lamps").update(name="lanterns")
    assert samples.is_enough(wheel), "the cycle begins and says what is missing"
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    with pytest.raises(Conflict, match="no pool 'lamps'"):
        samples.collect(turn)


def test_specialists_weigh_alike_or_by_their_new_samples() -> None:
    assert merge_weights(Specialists(), (9, 1)) == (0.5, 0.5)
    assert merge_weights(Specialists(weights="samples"), (9, 1)) == (0.9, 0.1)
    assert merge_weights(Specialists(weights="samples"), (0, 0)) == (0.5, 0.5)
