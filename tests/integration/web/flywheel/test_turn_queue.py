"""Turns wait in a queue of their own for a worker that has the trainer: others leave them, and people are told."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone
from redis import Redis

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.celery import app
from annotation_app.flywheel import engine
from annotation_app.flywheel.jobs import TURN_TIME_LIMIT_SECONDS, turn_job, turns_due_job
from annotation_app.flywheel.models import Stage, Turn
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe
from annotation_app.flywheel.selectors.turns import turn_of, turn_row
from annotation_app.flywheel.services import ledger
from annotation_app.health.jobs import heartbeat_job
from annotation_app.health.probes import queue_status
from annotation_app.queues import DEFAULT_QUEUE, TRAINING_QUEUE, training_worker_heartbeat
from tests.integration.web.celery_workers import worker_running
from tests.integration.web.conftest import World, cache_of_the_web_app
from tests.integration.web.flywheel.flywheel_helpers import import_attempts
from tests.waiting import wait_until

PATIENCE = 200.0
"""Seconds workers may take to begin and to answer on a busy machine."""
HEARD, HEARTBEAT = "health:training", "health:heartbeat"
"""Where workers say that they take turns, and that they do ordinary jobs."""


@pytest.fixture
def admin(committed: World) -> User:
    cache.clear()
    return user_ensure(username="wanda", password="a password of wanda", name="Wanda", roles=["admin"])


@pytest.fixture
def turn(admin: User, tmp_path: Path) -> Turn:
    """Begun by the clock, and nobody would serve what it makes: whoever takes it finds that before any training."""
    import_attempts(tmp_path / "first", {1: True})
    sft = LikelihoodTraining(updates=1, shares=MixShares(fresh=1, earlier=0, general=0))
    trials = GateTrials(world="toy", first_seed=900, seeds=10)
    recipe = Recipe(policy="toy", start="/start", sft=sft, trials=trials)
    wheel = ledger.wheel_set(user=admin, name="main", pool="lights", recipe=recipe)
    return ledger.turn_begin(user=admin, wheel_id=wheel.pk, by_clock=True)


def test_one_job_waits_for_a_turn_however_long_nobody_listens(turn: Turn, monkeypatch: pytest.MonkeyPatch) -> None:
    queued: list[str] = []
    monkeypatch.setattr(turn_job, "delay", queued.append)
    monkeypatch.setattr(engine, "turn_run", lambda *, turn_id: None)
    for _minute in range(3):
        turns_due_job()
    assert queued == [str(turn.pk)]
    turn_job(str(turn.pk))
    turns_due_job()
    assert queued == [str(turn.pk)] * 2, "who began it may have died"


def test_a_turn_says_that_nobody_is_heard_who_takes_it(turn: Turn) -> None:
    assert turn_row(turn_of(turn.pk)).unheard
    training_worker_heartbeat()
    assert not turn_row(turn_of(turn.pk)).unheard
    cache.clear()
    engine.turn_run(turn_id=turn.pk)
    assert not turn_row(turn_of(turn.pk)).unheard, "it has ended"


def test_a_turn_that_takes_too_long_fails_until_somebody_has_it_go_on(
    turn: Turn, admin: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[str] = []
    monkeypatch.setattr(turn_job, "delay", queued.append)
    before, turns = timezone.now() - timedelta(seconds=TURN_TIME_LIMIT_SECONDS + 1), Turn.objects.filter(pk=turn.pk)

    def standing() -> tuple[str, str]:
        turns_due_job()
        row = turn_row(turn_of(turn.pk))
        return row.state, row.stages[-1].code if row.stages else ""

    turns.update(created_at=before)
    assert standing() == ("running", ""), "nobody has taken it yet"
    ledger.stage_begin(turn_id=turn.pk, name="collect")
    ledger.stage_end(turn_id=turn.pk, name="collect", result={})
    Stage.objects.update(began_at=before)
    assert standing() == ("running", ""), "it is between two stages"
    ledger.stage_begin(turn_id=turn.pk, name="check")
    queued.clear()
    cache.clear()
    assert standing() == ("failed", "too_long")
    assert (queued, Stage.objects.get(turn=turn, name="collect").state) == ([], "done")
    ledger.turn_resume(user=admin, turn_id=turn.pk)
    ledger.stage_begin(turn_id=turn.pk, name="check")
    assert standing() == ("running", "")
    assert queued == [str(turn.pk)]
    turns.update(resumed_at=before)
    assert standing() == ("failed", "too_long")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_worker_without_a_trainer_leaves_turns_to_one_that_has_it(turn: Turn, redis_url: str, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"redis_url": redis_url})
    told = cache_of_the_web_app(redis_url)
    told.delete_many([HEARD, HEARTBEAT])
    with Redis.from_url(redis_url) as redis:
        redis.delete(DEFAULT_QUEUE, TRAINING_QUEUE)  # what other tests have queued there
    with app.connection_for_write(redis_url) as broker:
        with worker_running(redis_url, settings, queues=DEFAULT_QUEUE):
            turn_job.apply_async((str(turn.pk),), connection=broker)  # type: ignore[call-arg]  # the stubs lack it
            heartbeat_job.apply_async((), connection=broker)  # type: ignore[call-arg]
            wait_until(lambda: told.get(HEARTBEAT) is not None, limit=PATIENCE)
            assert queue_status(TRAINING_QUEUE).length == 1, "it does what was queued later, and leaves the turn"
            assert told.get(HEARD) is None
        with worker_running(redis_url, settings, queues=TRAINING_QUEUE):
            wait_until(lambda: turn_row(turn_of(turn.pk)).state == "failed", limit=PATIENCE)
            wait_until(lambda: told.get(HEARD) is True, limit=PATIENCE)
    assert queue_status(TRAINING_QUEUE).length == 0
