"""A turn whose candidate is tried by a running model server: it is given who tries, and gets back who proposes. Only
the attempts themselves and their report are not real here."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotation_app.accounts.models import User
from annotation_app.errors import Conflict
from annotation_app.flywheel import engine, programs
from annotation_app.flywheel.models import Stage, Turn, Wheel
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe, ServingSettings
from annotation_app.flywheel.services import gate, ledger, training, turn_files
from annotation_app.operations.runtime.ports import free_port
from annotation_app.policies.models import PolicyRevision
from annotation_app.settings.base import ROOT
from annotation_app.tasks.models import Pool
from protocol.trajectory.proposals import PolicyRef
from tests.integration.web.flywheel.flywheel_helpers import (
    RecordingEvaluation,
    SimulatedCrash,
    crash_after,
    import_attempts,
    run_turn,
    write_fake_trainer,
)
from tests.integration.web.reloadable_model_server import ReloadableModelServer
from tests.unit.annotation_app.test_gate import report

CANDIDATE = PolicyRef(name="toy", revision="main-0001", dialect="ui_tars_1_5")


class Trying(programs.ProgramRunner):
    """Makes folders in the place of attempts; all else is begun."""

    begun: Callable[[], None] = staticmethod(lambda: None)
    """What happens while attempts are made."""
    asked = list[list[str]]()

    def run(self, command: Sequence[str], *, log: Path) -> str:
        if "agent_backend.rollout" in command:
            Trying.asked.append(list(command))
            Trying.begun()
            if not self._running():
                raise programs.TurnCancelled
            Path(command[command.index("--out") + 1]).mkdir(parents=True)
            return ""
        return super().run(command, log=log)


@pytest.fixture
def first(tmp_path: Path) -> str:
    """The weights of who proposes as the turn begins."""
    (tmp_path / "first").mkdir()
    return str(tmp_path / "first")


@pytest.fixture
def wheel(
    admin: User, first: str, tmp_path: Path, model: ReloadableModelServer, monkeypatch: pytest.MonkeyPatch
) -> Wheel:
    """A wheel whose candidates that server answers for; another one answers people."""
    monkeypatch.setattr(training, "trainer_python", lambda: write_fake_trainer(tmp_path / "trainer"))
    monkeypatch.setattr(engine, "ProgramRunner", Trying)
    monkeypatch.setattr(gate, "evaluate_trials", RecordingEvaluation(report(CANDIDATE, {"a/b": (1, 2)})))
    monkeypatch.setattr(Trying, "begun", staticmethod(lambda: None))
    Trying.asked = []
    import_attempts(tmp_path / "attempts", dict.fromkeys(range(2), True))
    active = PolicyRevision.objects.create(
        name="toy", revision="begin", dialect="ui_tars_1_5", base_url="http://desks.example/v1", model="m",
        checkpoint=first,
    )  # fmt: skip
    Pool.objects.filter(name="lights").update(policy=active)
    return wheel_of(admin, model.url)


def wheel_of(admin: User, url: str, name: str = "main") -> Wheel:
    plan = LikelihoodTraining(updates=1, shares=MixShares(fresh=1, earlier=0, general=0))
    recipe = Recipe(
        policy="toy", start="/nowhere", sft=plan, trials=GateTrials(world="bridge", suite="games"),
        serving=ServingSettings(url=url, model="ours"),
    )  # fmt: skip
    return ledger.wheel_set(user=admin, name=name, pool="lights", recipe=recipe)


def trained_weights(turn: Turn) -> str:
    """The weights that the turn trained."""
    return str(turn_files.turn_folder(turn) / "train" / "sft" / "update-000001")


def ended(turn: Turn) -> tuple[str, str]:
    """The turn's state, and the code of its last stage."""
    turn.refresh_from_db()
    return turn.state, Stage.objects.filter(turn=turn).last().code  # type: ignore[union-attr]


def test_each_is_tried_with_its_weights_and_who_proposes_gets_the_server_back(
    wheel: Wheel, admin: User, model: ReloadableModelServer, first: str, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.ENV = settings.ENV.model_copy(update={"policy_api_key": "a key", "policy_api_key_servers": model.url})
    had = list[tuple[str, str]]()
    monkeypatch.setattr(Trying, "begun", staticmethod(lambda: had.append((model.weights, model.version))))
    turn = run_turn(wheel, admin)
    candidate = (trained_weights(turn), "main-0001")
    assert had == [candidate, (first, "begin")]
    assert model.had == [*had, (first, "begin")], "nobody judged it: who proposed goes on"
    asked = Trying.asked[0]
    told = {word: asked[asked.index(word) + 1] for word in ("--model-url", "--model", "--policy", "--revision")}
    assert told == {"--model-url": model.url, "--model": "ours", "--policy": "toy", "--revision": "main-0001"}
    assert (model.keys, model.paused) == ({"Bearer a key"}, False)
    logs = "".join(path.read_text(errors="replace") for path in turn_files.turn_folder(turn).rglob("*.log"))
    assert "a key" not in logs

    Pool.objects.filter(pk=wheel.pool_id).update(policy=PolicyRevision.objects.get(revision="main-0001"))
    gate.refresh(turn, Trying(0, lambda: True, {}))
    assert model.had[-1] == candidate, "it proposes now"


def test_a_turner_that_dies_between_two_sides_is_followed(
    wheel: Wheel, admin: User, model: ReloadableModelServer, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    with monkeypatch.context() as patched:
        patched.setattr(gate, "_run_trials", crash_after(gate._run_trials, 1))
        with pytest.raises(SimulatedCrash):
            engine.turn_run(turn_id=turn.pk)
    assert model.had == [(trained_weights(turn), "main-0001")]
    assert engine.turn_run(turn_id=turn.pk)
    assert ended(turn) == ("done", "")
    assert model.had[1:] == [(first, "begin")] * 2, "the candidate's attempts were whole"


def test_a_turn_that_is_stopped_gives_the_server_back(
    wheel: Wheel, admin: User, model: ReloadableModelServer, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    monkeypatch.setattr(Trying, "begun", staticmethod(lambda: ledger.turn_cancel(user=admin, turn_id=turn.pk)))
    assert engine.turn_run(turn_id=turn.pk)
    assert ended(turn) == ("cancelled", "")
    assert (model.had, model.paused) == ([(trained_weights(turn), "main-0001"), (first, "begin")], False)


@pytest.mark.parametrize("wrong", ["away", "refused", "taken", "missing"])
def test_a_server_that_is_of_no_use_fails_the_turn_by_a_code_and_it_goes_on_once_that_is_mended(
    wrong: str, wheel: Wheel, admin: User, model: ReloadableModelServer, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if wrong == "away":
        wheel = wheel_of(admin, f"http://127.0.0.1:{free_port()}")
    if wrong == "missing":
        Path(first).rmdir()
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    model.refuses = (trained_weights(turn),) if wrong == "refused" else ()
    if wrong == "taken":
        monkeypatch.setattr(Trying, "begun", staticmethod(lambda: setattr(model, "version", "another's")))
    assert engine.turn_run(turn_id=turn.pk)
    code = "weights_missing" if wrong == "missing" else f"serving_{wrong}"
    assert ended(turn) == ("failed", code)
    tried = turn_files.turn_folder(turn) / "trials" / "candidate"
    assert tried.exists() == (wrong == "missing"), "what other weights may have done is not kept"
    error = Stage.objects.get(turn=turn, name="gate").error
    assert {"refused": "is of another shape", "taken": "another's"}.get(wrong, "") in error

    if wrong == "away":
        Turn.objects.filter(pk=turn.pk).update(recipe=wheel_of(admin, model.url).recipe)
    Path(first).mkdir(exist_ok=True)
    model.refuses = ()
    monkeypatch.setattr(Trying, "begun", staticmethod(lambda: None))
    ledger.turn_resume(user=admin, turn_id=turn.pk)
    assert engine.turn_run(turn_id=turn.pk)
    assert ended(turn) == ("done", "")
    assert model.had[-1] == (first, "begin")


def test_a_reload_that_is_told_to_end_has_the_server_go_on(model: ReloadableModelServer, tmp_path: Path) -> None:
    model.has_read.clear()
    words = ["--server", model.url, "--weights", str(tmp_path), "--version", "newer"]
    command = [sys.executable, "-m", "agent_backend.policy.reload", *words]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert model.reads.wait(60)
            assert model.paused
            process.terminate()
            _, told = process.communicate(timeout=60)
        finally:
            process.kill()
            model.has_read.set()
    assert (process.returncode, told.strip()) == (1, "policy_error: stopped by a signal")
    assert not model.paused


def test_a_server_that_answers_people_is_given_nothing(wheel: Wheel, admin: User, model: ReloadableModelServer) -> None:
    PolicyRevision.objects.update(base_url=model.url.upper().replace("HTTP", "http") + "/")
    turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    assert engine.turn_run(turn_id=turn.pk)
    assert ended(turn) == ("failed", "serving_in_use")
    assert model.had == []


def test_a_server_is_one_turns_at_a_time(wheel: Wheel, admin: User, model: ReloadableModelServer) -> None:
    other = wheel_of(admin, model.url.removesuffix("/v1"), name="other")
    first_turn = ledger.turn_begin(user=admin, wheel_id=wheel.pk)
    with pytest.raises(Conflict, match="main 1 is running") as refused:
        ledger.turn_begin(user=admin, wheel_id=other.pk)
    assert refused.value.code == "serving_taken"
    ledger.turn_cancel(user=admin, turn_id=first_turn.pk)
    ledger.turn_begin(user=admin, wheel_id=other.pk)
    with pytest.raises(Conflict, match="other 1 is running"):
        ledger.turn_resume(user=admin, turn_id=first_turn.pk)
