"""A turn of a flywheel, so that its pages can be looked at: the wheel's own stages over attempts of the toy world. Only
the trainer and its attempts are played, since they take minutes of a processor.

    PILOTHOUSE_… manage.py shell -c "from tests.e2e.flywheel_turns import turn_load; print(turn_load())"
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

from agent_backend.rollout.streaming import attempt_name
from annotation_app.accounts.models import User
from annotation_app.flywheel import engine, programs
from annotation_app.flywheel.models import Turn
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe, ReinforcementTraining
from annotation_app.flywheel.services import ledger
from annotation_app.imports.services import import_folder_run
from annotation_app.policies.gate import Gate
from annotation_app.policies.schemas import RevisionIn
from annotation_app.policies.services import revision_add
from annotation_app.promotions.services import gate_set, policy_activate
from annotation_app.tasks.models import Pool
from protocol.training.inbox import REASONS_FILE, REJECTED_FOLDER
from tests.unit.annotation_app.flywheel.test_trials import attempts_write

NAME, POLICY, FIRST = "invented-lights", "toy", "start"
SEEDS = 24
"""Of the gate; the page shows twenty at first."""
IMPORTED_SEEDS = {**dict.fromkeys(range(5), True), **dict.fromkeys(range(5, 9), False)}
"""The attempts that are learned from, by seeds: whether they succeeded."""
BEFORE, AFTER = {0, 1}, {1, 2, 3}
"""Of every four of the gate's seeds those that the active revision solves, and the candidate."""


class SimulatedTrainerRunner(programs.ProgramRunner):
    """Programs as they are, but for the trainer: it leaves what a training leaves, and its attempts are invented."""

    def run(self, command: Sequence[str], *, log: Path) -> str:
        """The same. Raises the same."""
        match command[2:4]:
            case ["trainer.toy", "attempts"]:
                told = dict(zip(command[5::2], command[6::2], strict=True))
                first, revision = int(told["--first-seed"]), told["--revision"]
                solved = BEFORE if revision == FIRST else AFTER
                won = {first + n: n % 4 in solved for n in range(int(told["--seeds"]))}
                attempts_write(Path(told["--out"]), won, revision=revision)
                return ""
            case ["trainer", _]:
                return str(_write_training_result(json.loads(Path(command[-1]).read_text())))
            case _:
                return super().run(command, log=log)


def turn_load() -> str:
    """Turn a wheel once; the turn's id. A second time gives the same turn."""
    if done := Turn.objects.filter(wheel__name=NAME, state="done").first():
        return str(done.pk)
    user = User.objects.get(username="admin")
    with tempfile.TemporaryDirectory() as inbox:
        attempts_write(Path(inbox, "attempts"), IMPORTED_SEEDS)
        job = import_folder_run(folder=Path(inbox, "attempts"), pool=NAME)
    assert (job.status, job.imported) == ("done", len(IMPORTED_SEEDS)), job.error
    pool = Pool.objects.get(name=NAME)
    first, _new = revision_add(user=user, revision=_first())
    gate_set(user=user, pool_id=pool.pk, gate=Gate(attempts=SEEDS))
    policy_activate(user=user, pool_id=pool.pk, revision_id=first.pk)
    wheel = ledger.wheel_set(user=user, name=NAME, pool=NAME, recipe=_recipe())
    turn = ledger.turn_begin(user=user, wheel_id=wheel.pk)
    with (
        mock.patch.object(engine, "ProgramRunner", SimulatedTrainerRunner),
        mock.patch.object(programs, "TRAINER", Path(sys.prefix)),
    ):
        engine.turn_run(turn_id=turn.pk)
    turn.refresh_from_db()
    assert turn.state == "done", list(turn.stages.values_list("name", "code", "error"))
    return str(turn.pk)


def _first() -> RevisionIn:
    return RevisionIn(
        name=POLICY,
        revision=FIRST,
        dialect="ui_tars_1_5",
        base_url="http://127.0.0.1:9/v1",
        model=POLICY,
        checkpoint="/start",
        weight_version=FIRST,
    )


def _recipe() -> Recipe:
    return Recipe(
        policy=POLICY,
        start="/start",
        sft=LikelihoodTraining(updates=30, shares=MixShares(fresh=1, earlier=0, general=0)),
        rl=ReinforcementTraining(updates=4, settings={"world": "lights"}),
        trials=GateTrials(world="toy", seeds=SEEDS),
    )


def _write_training_result(told: dict[str, object]) -> Path:
    """What a training leaves: weights, and a line an update of how it went."""
    made = Path(str(told["out"])) / "final"
    made.mkdir(parents=True)
    (made / "model.safetensors").write_text(str(made))
    plays = "inbox" in told
    updates = range(1, int(str(told["updates"])) + 1)
    lines = [{"update": n, "loss": 6 / n, **({"success": 0.5 + n / 10} if plays else {})} for n in updates]
    (made.parent / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    if plays:
        refused = Path(str(told["inbox"])) / REJECTED_FOLDER / attempt_name(3, 0, 1)
        refused.mkdir(parents=True)
        (refused / REASONS_FILE).write_text('{"attempt_stale": 1}')
    return made
