"""The end of a turn whose candidate passed: the policy server's weights and the revision that proposes are exchanged
together, or neither. The server and its calls are real here."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotation_app.accounts.models import User
from annotation_app.errors import Forbidden
from annotation_app.flywheel import model_servers, programs
from annotation_app.flywheel.models import Checkpoint, Turn
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe
from annotation_app.flywheel.selectors.turns import turn_of
from annotation_app.flywheel.services import gate, ledger, training
from annotation_app.policies.gate import Gate
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policy_of
from annotation_app.promotions.services import evaluation_add, gate_set, policy_activate
from annotation_app.tasks.models import Pool
from tests.integration.web.flywheel.flywheel_helpers import (
    import_attempts,
    run_turn,
    stop_after_stage,
    write_fake_trainer,
)
from tests.integration.web.reloadable_model_server import ReloadableModelServer
from tests.unit.annotation_app.test_gate import report


@pytest.fixture
def active(admin: User, tmp_path: Path, model: ReloadableModelServer) -> PolicyRevision:
    """Who proposes as the turn begins, at that server."""
    import_attempts(tmp_path / "attempts", {0: True})
    (tmp_path / "first").mkdir()
    made = PolicyRevision.objects.create(
        name="toy", revision="begin", weight_version="w0", base_url=model.url, checkpoint=str(tmp_path / "first")
    )
    pool = Pool.objects.get(name="lights")
    policy_activate(user=admin, pool_id=pool.pk, revision_id=made.pk)
    gate_set(user=admin, pool_id=pool.pk, gate=Gate(attempts=1, no_regression=False))
    return made


@pytest.fixture
def turn(
    admin: User, active: PolicyRevision, model: ReloadableModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Turn:
    """Its candidate is registered, and the pool's gate let it through."""
    monkeypatch.setattr(training, "trainer_python", lambda: write_fake_trainer(tmp_path / "trainer"))
    plan = LikelihoodTraining(updates=1, shares=MixShares(fresh=1, earlier=0, general=0))
    trials, server = GateTrials(world="toy", first_seed=900, seeds=10), model.url.removesuffix("/v1")
    recipe = Recipe(policy="toy", start="/nowhere", sft=plan, trials=trials, server=server)
    wheel = ledger.wheel_set(user=admin, name="main", pool="lights", recipe=recipe)
    with monkeypatch.context() as patched:
        stop_after_stage(patched, "train")
        done = run_turn(wheel, admin)
    made = PolicyRevision.objects.create(name="toy", revision="main-0001", base_url=model.url)
    Checkpoint.objects.filter(turn=done).update(revision=made)
    evaluation_add(user=admin, revision_id=made.pk, report=report(policy_of(made), {"toy/lights": (2, 2)}))
    Turn.objects.filter(pk=done.pk).update(state="running", ended_at=None)
    return turn_of(done.pk)


def beginning(work: Callable[..., None], first: Callable[[], object]) -> Callable[..., None]:
    """The same, after something else happened."""

    def begins(*words: Any, **told: Any) -> None:
        first()
        work(*words, **told)

    return begins


def running(turn: Turn) -> programs.ProgramRunner:
    return programs.ProgramRunner(0, lambda: ledger.turn_running(turn_id=turn.pk), {})


def trained(turn: Turn) -> str:
    return Checkpoint.objects.get(turn=turn).path


def proposing() -> str:
    return str(Pool.objects.get(name="lights").policy)


def test_a_turn_that_is_stopped_while_the_server_takes_the_weights_still_has_their_revision_propose(
    turn: Turn, admin: User, model: ReloadableModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop = beginning(model_servers.weights_load, lambda: ledger.turn_cancel(user=admin, turn_id=turn.pk))
    monkeypatch.setattr(gate, "weights_load", stop)
    assert gate.refresh(turn, running(turn)) == {"active": "toy main-0001", "reloaded": True}
    assert (model.had, model.paused) == ([(trained(turn), "main-0001")], False)
    assert proposing() == "toy main-0001"


@pytest.mark.parametrize("meanwhile", [False, True], ids=["as it began", "another meanwhile"])
def test_where_nobody_may_activate_the_server_gets_the_weights_back_of_who_proposes(
    meanwhile: bool, turn: Turn, active: PolicyRevision, admin: User, model: ReloadableModelServer, tmp_path: Path
) -> None:
    if meanwhile:
        told = {"revision": "by hand", "weight_version": "", "checkpoint": str(tmp_path)}
        active = PolicyRevision.objects.create(name="toy", base_url=model.url, **told)
        policy_activate(user=admin, pool_id=turn.wheel.pool_id, revision_id=active.pk)
    turn.requested_by.roles = ["annotator"]
    with pytest.raises(Forbidden):
        gate.refresh(turn, running(turn))
    assert model.had == [(trained(turn), "main-0001"), (active.checkpoint, active.weight_version or "by hand")]
    assert proposing() == str(active)


def test_that_the_server_takes_nothing_back_hides_no_reason(
    turn: Turn, active: PolicyRevision, model: ReloadableModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    model.refuses = (active.checkpoint,)
    turn.requested_by.roles = ["annotator"]
    with pytest.raises(Forbidden):
        gate.refresh(turn, running(turn))
    assert "left its policy server with other weights: serving_refused" in caplog.text
    assert not model.paused
