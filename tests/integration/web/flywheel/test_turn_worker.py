"""A worker that is killed while its turn trains: the clock has another take the turn up, and nothing is done twice."""

import sys
from pathlib import Path
from typing import Any

import pytest

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.celery import app
from annotation_app.flywheel.jobs import turn_job, turns_due_job
from annotation_app.flywheel.models import Checkpoint, Sample, Stage, Turn
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe
from annotation_app.flywheel.services import ledger
from tests.integration.web.celery_workers import worker_kill, worker_running
from tests.integration.web.conftest import World
from tests.integration.web.flywheel.flywheel_helpers import import_attempts
from tests.waiting import wait_until

PATIENCE = 200.0
"""Seconds a worker may take to begin and to come to its turn on a busy machine."""
JOBS = "tests.integration.web.flywheel.blocking_worker_app"
HELD = """#!{python}
import json, os, pathlib, sys, time
told = json.loads(pathlib.Path(sys.argv[sys.argv.index("--config") + 1]).read_text())
out = pathlib.Path(told["out"])
out.mkdir(parents=True, exist_ok=True)
with pathlib.Path("{begun}").open("a") as begun:
    begun.write(f"{{os.getpid()}}\\n")
ends = time.monotonic() + 600
while not pathlib.Path("{go}").exists() and time.monotonic() < ends:
    time.sleep(0.05)
made = out / "update-000001"
made.mkdir()
(made / "model.safetensors").write_text("learned")
print(made)
"""
"""In the trainer's place: it learns for as long as it is not told to end."""


@pytest.fixture
def turn(committed: World, tmp_path: Path) -> Turn:
    wanda: User = user_ensure(username="wanda", password="a password of wanda", name="Wanda", roles=["admin"])
    import_attempts(tmp_path / "first", dict.fromkeys(range(4), True))
    sft = LikelihoodTraining(updates=1, shares=MixShares(fresh=1, earlier=0, general=0))
    trials = GateTrials(world="toy", first_seed=900, seeds=10)
    recipe = Recipe(policy="toy", start="/start", sft=sft, trials=trials, server="http://desks.example")
    wheel = ledger.wheel_set(user=wanda, name="main", pool="lights", recipe=recipe)
    return ledger.turn_begin(user=wanda, wheel_id=wheel.pk)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_another_worker_takes_up_what_a_killed_one_trained(
    turn: Turn, redis_url: str, settings: Any, tmp_path: Path
) -> None:
    settings.ENV = settings.ENV.model_copy(update={"redis_url": redis_url})
    trainer, begun, go = tmp_path / "trainer", tmp_path / "begun", tmp_path / "go"
    trainer.write_text(HELD.format(python=sys.executable, begun=begun, go=go))
    trainer.chmod(0o755)

    def times() -> int:
        return len(begun.read_text().splitlines()) if begun.exists() else 0

    with app.connection_for_write(redis_url) as broker:
        with worker_running(redis_url, settings, jobs=JOBS, HELD_TRAINER=str(trainer)) as first:
            turn_job.apply_async((str(turn.pk),), connection=broker)  # type: ignore[call-arg]  # the stubs lack it
            wait_until(lambda: times() == 1, limit=PATIENCE)
            worker_kill(first)
        left = int(begun.read_text())
        wait_until(lambda: not Path(f"/proc/{left}").exists(), limit=60)
        taken = set(Sample.objects.filter(turn=turn).values_list("pk", flat=True))
        assert taken
        assert not Checkpoint.objects.filter(turn=turn).exists()
        go.touch()
        with worker_running(redis_url, settings, jobs=JOBS, HELD_TRAINER=str(trainer)):
            turns_due_job.apply_async((), connection=broker)  # type: ignore[call-arg]
            wait_until(lambda: Stage.objects.filter(turn=turn, name="train", state="done").exists(), limit=PATIENCE)
    assert times() == 2, "it was begun once more, and not beside the first"
    assert Checkpoint.objects.filter(turn=turn, phase="sft").count() == 1
    assert set(Sample.objects.filter(turn=turn).values_list("pk", flat=True)) == taken, "nothing is taken in twice"
