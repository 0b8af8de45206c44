"""Attempts stream from the flywheel's player into its trainer, two processes over one folder.

No update waits for a straggler. Attempts that cannot be used are replaced. A killed trainer learns none twice.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

import pytest

from agent_backend.rollout.streaming import MAX_ROUNDS, attempt_name
from annotation_app.flywheel import rollouts
from annotation_app.flywheel.model_servers import ModelEndpoint, ServingUnavailable
from annotation_app.flywheel.programs import ProgramFailed, ProgramRunner
from annotation_app.flywheel.recipe import RolloutSettings, ServingSettings
from annotation_app.flywheel.rollouts import RolloutPlan, count_refused, train_on_rollouts
from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from protocol.training.inbox import PROCESSED_FOLDER, SHORTAGE_FILE, waiting_folders
from tests.integration.web.flywheel.fake_machines import Behaviour

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

WITHIN = 90
"""Seconds that the trainer waits for attempts, should the player not know that some are missing."""
TRAINER = """
import json
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace as Attempt
from trainer.errors import AttemptStale, TrainerError
from trainer.data.inbox import Inbox
from trainer.data.trajectories import open_folder

assert "torch" not in sys.modules
run, folder = map(Path, sys.argv[1:3])
wanted, updates, patience = map(int, sys.argv[3:6])
behaviour = json.loads(sys.argv[6])
unusable = behaviour.get("unusable", [])

def read(path):
    found = list(open_folder(path).trajectories())
    made = [Attempt(id=one.id, task=str(one.task.seed), judged=False, has_human_steps=False) for one in found]
    return made, Counter()

def check(attempt):
    if int(attempt.task) in unusable:
        raise AttemptStale("as the test has it")

def dies(update, step):
    if behaviour.get("dies") == [update, step]:
        os.kill(os.getpid(), signal.SIGKILL)

def save(update, taken, tasks):
    made = run / f"update-{update:06}"
    aside = run / "making"
    aside.mkdir(parents=True)
    (aside / "taken.json").write_text(json.dumps([taken, tasks]))
    aside.rename(made)
    return made

newest = max(run.glob("update-??????"), default=None) or save(0, [], [])
inbox = Inbox(folder, patience=patience)
taken, tasks = json.loads((newest / "taken.json").read_text())
inbox.mark_processed(taken)
try:
    for update in range(int(newest.name[-6:]) + 1, updates + 1):
        compared = set(tasks) if behaviour.get("compares") else None
        while update == 2 and not (folder / behaviour.get("straggler", "")).exists():
            time.sleep(0.01)  # learning took until then
        batch = inbox.take(wanted, read, check, compared=compared)
        dies(update, "taken")
        tasks += [one.task for one in batch.attempts]
        newest = save(update, batch.folders, tasks)
        dies(update, "saved")
        inbox.mark_processed(batch.folders)
        dies(update, "moved")
except TrainerError as error:
    sys.exit(f"{error.code}: {error}")
print(newest)
"""
"""In the place of `trainer grpo`: the trainer's own inbox, and nothing learned, so that it starts without torch."""


class Machines(ProgramRunner):
    """Programs as they are, but for machines and model of those that play."""

    def __init__(self, **behaviour: object) -> None:
        super().__init__(1, lambda: True, {})
        self._behaviour = Behaviour.model_validate(behaviour)

    @contextmanager
    def background(self, command: Sequence[str], *, log: Path) -> Iterator["Popen[bytes]"]:
        """See `ProgramRunner`."""
        if "agent_backend.rollout" in command:
            fake = ["-m", "tests.integration.web.flywheel.fake_machines", self._behaviour.model_dump_json()]
            command = [command[0], *fake, *command[3:]]
        with super().background(command, log=log) as process:
            yield process


@pytest.fixture(autouse=True)
def server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights answer without a model."""

    @contextmanager
    def served(*_: object, **__: object) -> Iterator[ModelEndpoint]:
        yield ModelEndpoint("http://models.example/v1", "toy")

    monkeypatch.setattr(rollouts, "serve_weights", served)


def plan_of(
    folder: Path, *, updates: int = 2, seeds: int = 2, group: int = 1, ahead: int = 0, parallel: int = 1
) -> RolloutPlan:
    play = RolloutSettings(suite="toy", pages=20, seeds=seeds, group=group, ahead=ahead, parallel=parallel)
    return RolloutPlan(
        play=play, tasks=("lights",), bridge="http://b", policy="toy", dialect="ui_tars_1_5", memory={},
        temperature=1.0, turn=1, updates=updates, run=folder / "run", inbox=folder / "inbox",
    )  # fmt: skip


def run_learning(machines: Machines, plan: RolloutPlan, **trainer: object) -> str:
    """The last checkpoint of a trainer that behaves so."""
    words = [str(ensure_trainer(Console(sys.stderr))), "-c", TRAINER, str(plan.run), str(plan.inbox)]
    words += [str(number) for number in (plan.attempts, plan.updates, WITHIN)] + [json.dumps(trainer)]
    made = train_on_rollouts(machines, words, plan, threads=1, log=plan.run.with_name("rl.log"))
    assert not (plan.inbox / SHORTAGE_FILE).exists()
    return Path(made).name


def learned(plan: RolloutPlan) -> list[list[str]]:
    """Which folders each update learned from."""
    found = [json.loads((one / "taken.json").read_text())[0] for one in sorted(plan.run.glob("update-??????"))[1:]]
    names = [name for folders in found for name in folders]
    assert len(names) == len(set(names)), "none is learned twice"
    assert set(names) <= {one.name for one in (plan.inbox / PROCESSED_FOLDER).iterdir()}
    return found


def begun(plan: RolloutPlan) -> list[tuple[int, str]]:
    """The seeds at which attempts were begun, and the weights that answered then."""
    lines = plan.inbox.with_name("begun").read_text().splitlines()
    return [(int(seed), version) for seed, version in map(str.split, lines)]


def page(number: int, repetition: int = 0) -> str:
    return attempt_name(number, 0, repetition)


def test_an_update_does_not_wait_for_a_straggler_which_joins_the_next(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, updates=3, seeds=4, ahead=1, parallel=4)
    assert run_learning(Machines(slow={1: "update-000001"}), plan, straggler=page(1)) == "update-000003"
    first, second, _ = learned(plan)
    assert len(first) == 4
    assert page(1) not in first, "whichever four came first, the straggler was not waited for"
    assert second[0] == page(1)


def test_siblings_of_a_straggler_wait_for_it_where_attempts_are_compared(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, updates=3, seeds=2, group=2, ahead=1, parallel=2)
    machines = Machines(slow={1: "update-000001"})
    assert run_learning(machines, plan, compares=True, straggler=page(0, 1)) == "update-000003"
    first, second, _ = learned(plan)
    assert first == [page(1), page(1, 1), page(2), page(2, 1)]
    assert second[:2] == [page(0), page(0, 1)]


@pytest.mark.parametrize(("lost", "unusable"), [((), (0, 1)), ((0, 1), ()), ((0,), (1,))])
def test_what_is_lost_or_cannot_be_used_is_made_up_for_elsewhere(
    tmp_path: Path, lost: Sequence[int], unusable: Sequence[int]
) -> None:
    plan = plan_of(tmp_path)
    assert run_learning(Machines(lost=lost), plan, unusable=unusable) == "update-000002"
    usable = [page(seed) for seed in range(20) if seed not in (*lost, *unusable)]
    assert learned(plan) == [usable[:2], usable[2:4]]
    assert count_refused(plan.inbox) == ({"attempt_stale": len(unusable)} if unusable else {})


def test_a_trainer_that_can_use_nothing_fails_the_turn_which_plays_on_when_it_is_told_to(tmp_path: Path) -> None:
    plan = plan_of(tmp_path)
    with pytest.raises(ProgramFailed, match=rf"only 0 of 2 .* after {2 * MAX_ROUNDS} were begun.* attempt_stale"):
        run_learning(Machines(), plan, unusable=list(range(20)))
    assert [seed for seed, _ in begun(plan)] == list(range(2 * MAX_ROUNDS))
    assert (plan.inbox / SHORTAGE_FILE).exists(), "the trainer was ended while it waited"
    assert run_learning(Machines(), plan) == "update-000002"
    assert learned(plan)[0] == [page(2 * MAX_ROUNDS), page(2 * MAX_ROUNDS + 1)]


@pytest.mark.parametrize("ahead", [0, 1])
def test_no_weights_play_that_are_older_than_may_be(tmp_path: Path, ahead: int) -> None:
    plan = plan_of(tmp_path, updates=4, ahead=ahead)
    run_learning(Machines(), plan)
    update_of = {name: update for update, names in enumerate(learned(plan)) for name in names}
    ages = [update_of[page(seed)] - int(weights[-6:]) for seed, weights in begun(plan) if page(seed) in update_of]
    assert len(ages) == 8
    assert ages[0] == 0
    assert max(ages) <= ahead


@pytest.mark.parametrize("place", [0, 1, 3])
def test_a_player_that_is_killed_resumes_with_what_is_missing(tmp_path: Path, place: int) -> None:
    plan = plan_of(tmp_path, ahead=1)
    with pytest.raises(ProgramFailed, match="ended with -9"):
        run_learning(Machines(dies_at=place), plan)
    made = {*waiting_folders(plan.inbox), *(one.name for one in (plan.inbox / PROCESSED_FOLDER).glob("*"))}
    before = len(begun(plan))
    assert run_learning(Machines(), plan) == "update-000002"
    assert [name for names in learned(plan) for name in names] == [page(number) for number in range(4)]
    assert not {page(seed) for seed, _ in begun(plan)[before:]} & made, "what was made is not made again"


@pytest.mark.parametrize("step", ["taken", "saved", "moved"])
def test_a_trainer_that_is_killed_learns_everything_once(tmp_path: Path, step: str) -> None:
    plan = plan_of(tmp_path, ahead=1)
    with pytest.raises(ProgramFailed, match="ended with -9"):
        run_learning(Machines(), plan, dies=[1, step])
    assert run_learning(Machines(), plan) == "update-000002"
    assert [name for names in learned(plan) for name in names] == [page(number) for number in range(4)]
    assert not set(waiting_folders(plan.inbox)) & {page(number) for number in range(4)}


def test_a_model_server_that_the_recipe_names_and_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    plan = replace(plan_of(tmp_path), serving=ServingSettings(url="http://gpu:8000", model="m"))
    waits = "import pathlib, sys, time; pathlib.Path(sys.argv[1], 'update-000000').mkdir(parents=True); time.sleep(600)"
    command = [sys.executable, "-c", waits, str(plan.run)]
    with pytest.raises(ServingUnavailable, match="http://gpu:8000: the model server does not answer"):
        train_on_rollouts(Machines(model_gone=True), command, plan, threads=1, log=tmp_path / "rl.log")
