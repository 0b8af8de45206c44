"""Background jobs that run cycles: requested ones, scheduled ones, and those whose worker died."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.core.cache import cache

from annotation_app.celery import app
from annotation_app.flywheel import engine
from annotation_app.flywheel.schemas import TurnRow
from annotation_app.flywheel.selectors.turns import turn_of, turn_row, turns_running
from annotation_app.flywheel.services import ledger, schedule
from annotation_app.flywheel.services.turn_files import training_copies_sweep

TURN_TIME_LIMIT_SECONDS = 7 * 24 * 3600
"""Longest run of a cycle in seconds: a week. After that a person must resume it. It occupies only its own worker."""

REQUEUE_AFTER_SECONDS = 3600
"""Seconds after which a queued job that never started may have been lost and is queued again."""


@app.task(name="flywheel.turn", time_limit=TURN_TIME_LIMIT_SECONDS)
def turn_job(turn_id: str) -> None:
    """Run a cycle, unless another worker runs it."""
    cache.delete(_queued_key(turn_id))
    engine.turn_run(turn_id=UUID(turn_id))


@app.task(name="flywheel.due")
def turns_due_job() -> None:
    """Start scheduled cycles, fail those that take too long, and requeue those without a worker. The cycle's lock
    prevents two workers on it. At most one job for each cycle is queued, even if no worker listens. Delete the
    trajectory copies of cycles that ended."""
    schedule.turns_due()
    ledger.overlong_turns_fail(longest=timedelta(seconds=TURN_TIME_LIMIT_SECONDS))
    for turn_id in turns_running():
        if cache.add(_queued_key(turn_id), True, REQUEUE_AFTER_SECONDS):
            turn_job.delay(str(turn_id))
    training_copies_sweep()


def turn_start(*, user: Any, wheel_id: int) -> TurnRow:
    """Start a cycle. Raises Forbidden, NotFound and Conflict."""
    turn = ledger.turn_begin(user=user, wheel_id=wheel_id)
    turn_job.delay(str(turn.pk))
    return turn_row(turn_of(turn.pk))


def turn_requeue(*, user: Any, turn_id: UUID) -> TurnRow:
    """Resume a cycle that failed or was cancelled. Raises Forbidden, NotFound and Conflict."""
    ledger.turn_resume(user=user, turn_id=turn_id)
    turn_job.delay(str(turn_id))
    return turn_row(turn_of(turn_id))


def _queued_key(turn_id: UUID | str) -> str:
    """The cache key that marks a cycle's job as queued."""
    return f"flywheel:waits:{turn_id}"
