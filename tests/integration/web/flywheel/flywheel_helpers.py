"""Wheels of tests: attempts that come in, a program in the trainer's place, turns, and who dies at them."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotation_app.accounts.models import User
from annotation_app.flywheel import engine, programs
from annotation_app.flywheel.models import Stage, Turn, Wheel
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe
from annotation_app.flywheel.services import ledger
from annotation_app.imports.services import import_folder_run
from protocol.evaluation.reports import Evaluation
from tests.unit.annotation_app.flywheel.test_trials import attempts_write

GATE = 900
"""The first seed of the gate's tasks."""
TRAINER = """#!{python}
import json, pathlib, sys
told = json.loads(pathlib.Path(sys.argv[sys.argv.index("--config") + 1]).read_text())
made = pathlib.Path(told["out"]) / "update-000001"
made.mkdir(parents=True, exist_ok=True)
(made / "model.safetensors").write_text(told["out"])
with (pathlib.Path(told["out"]) / "begun").open("a") as begun:
    begun.write(told.get("checkpoint", "merged") + chr(10))
print(made)
"""


class SimulatedCrash(BaseException):
    """A process that ends here, as far as the ledger can tell."""


def write_fake_trainer(script: Path) -> str:
    """A program in the trainer's place that makes a checkpoint and notes that it was begun."""
    script.write_text(TRAINER.format(python=sys.executable))
    script.chmod(0o755)
    return str(script)


def import_attempts(folder: Path, won: dict[int, bool], *, name: str = "lights") -> None:
    """Attempts at the lights come in."""
    attempts_write(folder, won, name=name)
    job = import_folder_run(folder=folder, pool="lights")
    assert (job.status, job.imported) == ("done", len(won)), job.error


def create_wheel(user: User, folder: Path) -> Wheel:
    """A wheel over four attempts that succeeded, two that failed, one at the gate's own task."""
    import_attempts(folder / "first", {**dict.fromkeys(range(4), True), 4: False, 5: False, GATE: True})
    plan = LikelihoodTraining(updates=1, shares=MixShares(fresh=0.7, earlier=0.3, general=0))
    recipe = Recipe(
        policy="toy", start="/start", sft=plan, ct=plan.model_copy(update={"every": 2}),
        trials=GateTrials(world="toy", first_seed=GATE, seeds=10), server="http://desks.example",
    )  # fmt: skip
    return ledger.wheel_set(user=user, name="main", pool="lights", recipe=recipe)


def stop_after_stage(monkeypatch: pytest.MonkeyPatch, last: str) -> None:
    """Turns end after this stage: what comes later needs weights, and is tried with the whole wheel."""
    names = [name for name, _work in engine.STAGES]
    monkeypatch.setattr(engine, "STAGES", engine.STAGES[: names.index(last) + 1])


def run_turn(wheel: Wheel, user: User) -> Turn:
    turn = ledger.turn_begin(user=user, wheel_id=wheel.pk)
    assert engine.turn_run(turn_id=turn.pk)
    turn.refresh_from_db()
    assert turn.state == "done", list(Stage.objects.filter(turn=turn).values_list("name", "code", "error"))
    return turn


class RecordingProgramRunner(programs.ProgramRunner):
    """Begins nothing: notes what was asked for, and makes an empty file in its place."""

    def __init__(self) -> None:
        super().__init__(0, lambda: True, {})
        self.asked = list[list[str]]()

    def run(self, command: Sequence[str], *, log: Path) -> str:
        self.asked.append(list(command))
        log.parent.mkdir(parents=True, exist_ok=True)
        Path(command[command.index("--out") + 1]).touch()
        return ""


class RecordingEvaluation:
    """Stands for `evaluate_trials`: notes which attempts are compared, and gives this report."""

    def __init__(self, found: Evaluation) -> None:
        self.found, self.compared = found, list[tuple[Path, Path | None]]()

    def __call__(self, candidate: Path, *, against: Path | None) -> Evaluation:
        self.compared.append((candidate, against))
        return self.found


def crash_after(work: Callable[..., Any], after: int) -> Callable[..., Any]:
    """The same so many times, then the end."""
    left = [after]

    def dies(*words: Any, **told: Any) -> Any:
        if left[0] == 0:
            raise SimulatedCrash
        left[0] -= 1
        return work(*words, **told)

    return dies
