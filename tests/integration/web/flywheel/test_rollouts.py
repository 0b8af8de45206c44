"""The wheel plays for its trainer, as two processes over one folder: attempts that cannot be used are made up for."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from annotation_app.flywheel import rollouts
from annotation_app.flywheel.model_servers import ModelEndpoint
from annotation_app.flywheel.programs import ProgramFailed, ProgramRunner
from annotation_app.flywheel.recipe import RolloutSettings
from annotation_app.flywheel.rollouts import MAX_ROUNDS, RolloutPlan, train_on_rollouts
from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from protocol.training.inbox import PROCESSED_FOLDER, REJECTED_FOLDER, SHORTAGE_FILE
from tests.integration.web.flywheel.flywheel_helpers import SimulatedCrash
from tests.unit.annotation_app.flywheel.test_trials import attempts_write

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

WITHIN = 90
"""Seconds that the trainer waits for attempts, should the wheel not know that some are missing."""
TRAINER = """
import sys
import time
from collections import Counter
from pathlib import Path
from trainer.rl.attempts import Attempt
from trainer.errors import AttemptStale, TrainerError
from trainer.data.inbox import Inbox
from trainer.data.trajectories import open_folder

run, folder, unusable = Path(sys.argv[1]), Path(sys.argv[2]), set(sys.argv[6:])
wanted, updates, patience = map(int, sys.argv[3:6])

def read(path):
    found = list(open_folder(path).trajectories())
    return [Attempt(one.id, str(one.task.seed), (), (), True, False, (), 1, 0.0) for one in found], Counter()

def check(attempt):
    if attempt.task in unusable:
        raise AttemptStale("as the test has it")

def kept(update):
    made = run / f"update-{update:06}"
    made.mkdir(parents=True, exist_ok=True)
    return made

made = kept(0)
inbox = Inbox(folder, patience=patience)
try:
    for update in range(len(list(run.glob("update-*"))), updates + 1):
        taken = inbox.take(wanted, read, check)
        while "waits" in unusable and update < updates and not (folder / f"update-{update:06}-0-0").exists():
            time.sleep(0.01)  # learning takes until the next update is played
        made = kept(update)
        inbox.mark_processed(taken.folders)
except TrainerError as error:
    sys.exit(f"{error.code}: {error}")
print(made)
"""
"""In the place of `trainer ppo`: the trainer's own inbox, and nothing learned."""


class Machines(ProgramRunner):
    """Programs as they are, but for attempts: some are lost with their machines, and somebody may die at a folder."""

    def __init__(self, *, lost: Sequence[int] = (), dies_at: str = "") -> None:
        super().__init__(1, lambda: True, {})
        self._lost, self._dies_at = lost, dies_at
        self.played: list[str] = []
        self.weights: list[str] = []

    def run(self, command: Sequence[str], *, log: Path) -> str:
        trainer_settings = dict(pairwise(command))
        out, first = Path(trainer_settings["--out"]), int(trainer_settings["--first-seed"])
        if out.name == self._dies_at:
            raise SimulatedCrash
        seeds = range(first, first + int(trainer_settings["--seeds"]))
        attempts_write(
            out, {seed: True for seed in seeds if seed not in self._lost}, revision=trainer_settings["--revision"]
        )
        self.played.append(out.name)
        self.weights.append(trainer_settings["--revision"])
        return ""


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights answer without a model."""

    @contextmanager
    def served(*_: object, **__: object) -> Iterator[ModelEndpoint]:
        yield ModelEndpoint("http://models.example/v1", "toy")

    monkeypatch.setattr(rollouts, "serve_weights", served)
    monkeypatch.setattr(rollouts, "weights_load", lambda *_, **__: None)


def player(folder: Path, *, updates: int = 2, ahead: int = 0) -> RolloutPlan:
    return RolloutPlan(
        play=RolloutSettings(suite="toy", pages=20, seeds=2, group=1, ahead=ahead), tasks=("lights",), bridge="http://b",
        policy="toy", dialect="ui_tars_1_5", memory={}, temperature=1.0, turn=1, updates=updates, run=folder / "run",
        inbox=folder / "inbox",
    )  # fmt: skip


def run_learning(folder: Path, machines: Machines, *, unusable: Sequence[int] = ()) -> str:
    """Two updates of two attempts each, of which the trainer cannot use these."""
    who = player(folder)
    words = [str(ensure_trainer(Console(sys.stderr))), "-c", TRAINER, str(who.run), str(who.inbox)]
    words += [str(number) for number in (who.attempts, who.updates, WITHIN, *unusable)]
    made = train_on_rollouts(machines, words, who, threads=1, log=folder / "rl.log")
    assert not (who.inbox / SHORTAGE_FILE).exists()
    return Path(made).name


@pytest.mark.parametrize(
    ("lost", "unusable", "where"),
    [
        ((), (1,), PROCESSED_FOLDER),
        ((), (0, 1), REJECTED_FOLDER),
        ((0,), (), PROCESSED_FOLDER),
        ((0,), (1,), REJECTED_FOLDER),
        ((0, 1), (), REJECTED_FOLDER),
    ],
)
def test_what_is_lost_or_cannot_be_used_is_played_again_elsewhere(
    tmp_path: Path, lost: Sequence[int], unusable: Sequence[int], where: str
) -> None:
    machines = Machines(lost=lost)
    assert run_learning(tmp_path, machines, unusable=unusable) == "update-000002"
    assert machines.played[:2] == ["update-000000-0-0", "update-000000-1-0"]
    assert (tmp_path / "inbox" / where / "update-000000-0-0").is_dir()
    assert (tmp_path / "inbox" / PROCESSED_FOLDER / "update-000000-1-0").is_dir()


def test_a_trainer_that_can_use_nothing_fails_the_turn_which_plays_on_when_it_is_told_to(tmp_path: Path) -> None:
    machines = Machines()
    with pytest.raises(ProgramFailed, match=f"0 of 2 .* after {MAX_ROUNDS} rounds.* attempt_stale {2 * MAX_ROUNDS}"):
        run_learning(tmp_path, machines, unusable=range(20))
    assert machines.played == [f"update-000000-{again}-0" for again in range(MAX_ROUNDS)]
    assert (tmp_path / "inbox" / SHORTAGE_FILE).exists(), "the trainer was ended while it waited"

    machines = Machines()
    assert run_learning(tmp_path, machines) == "update-000002"
    assert machines.played == [f"update-000000-{MAX_ROUNDS}-0", "update-000001-0-0"]


def test_who_is_killed_between_two_rounds_plays_none_twice(tmp_path: Path) -> None:
    with pytest.raises(SimulatedCrash):
        run_learning(tmp_path, Machines(dies_at="update-000000-1-0"), unusable=(1,))
    machines = Machines()
    assert run_learning(tmp_path, machines, unusable=(1,)) == "update-000002"
    assert machines.played[0] == "update-000000-1-0"


def test_the_next_update_is_played_while_the_trainer_learns_and_no_further(tmp_path: Path) -> None:
    machines, who = Machines(), player(tmp_path, updates=4, ahead=1)
    words = [str(ensure_trainer(Console(sys.stderr))), "-c", TRAINER, str(who.run), str(who.inbox)]
    words += [str(number) for number in (who.attempts, who.updates, WITHIN)] + ["waits"]
    train_on_rollouts(machines, words, who, threads=1, log=tmp_path / "rl.log")
    assert machines.played == [f"update-{update:06}-0-0" for update in range(4)]
    ages = [update - int(version.removeprefix("update-")) for update, version in enumerate(machines.weights)]
    assert ages[0] == 0
    assert max(ages) == 1, "no weights play that are older than that"
