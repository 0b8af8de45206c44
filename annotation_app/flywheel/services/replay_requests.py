"""Replays and judgements that a cycle requests. It waits for those that are already running, and stops if the cycle was
cancelled."""

import math
import time
from collections.abc import Callable, Iterable
from functools import partial
from uuid import UUID

from annotation_app.accounts.models import User
from annotation_app.errors import ApplicationError, Conflict
from annotation_app.flywheel.programs import TurnCancelled
from annotation_app.flywheel.services.ledger import turn_running
from annotation_app.judges.models import UNDER_WAY, Judgement, PoolJudge, Run, RunState
from annotation_app.judges.runs import run_execute
from annotation_app.judges.services import run_cancel, run_request
from annotation_app.reviews.models import UNDER_WAY as CHECKED_NOW
from annotation_app.reviews.models import Job, JobKind, JobState
from annotation_app.reviews.replay_checks import check_run
from annotation_app.reviews.services import check_request

POLL_SECONDS = 0.5
"""Seconds between checks of another process's work."""
CHECK_TIMEOUT_SECONDS = 1_200
"""Longest wait for a running check (seconds): twice the time to detect that its worker died."""


def checks_request(*, turn_id: UUID, user: User, episodes: Iterable[UUID]) -> tuple[str, ...]:
    """Replay these episodes one by one. Returns the error codes of those that could not be tried. Raises
    TurnCancelled."""
    refused: set[str] = set()
    for episode in episodes:
        _turn_running_check(turn_id)
        _wait_for(turn_id, partial(_check_in_progress, episode), within=CHECK_TIMEOUT_SECONDS)
        if _check_finished(episode):
            continue  # a check of another process, or of a worker that died
        try:
            job = check_request(user=user, episode_id=episode)
            check_run(job_id=job.pk, episode_id=episode)
        except ApplicationError as error:
            refused.add(error.code)
            continue
        job.refresh_from_db()
        if job.status == JobState.FAILED:
            return (*sorted(refused), job.error)  # no machine is available: the others would also wait in vain
    return tuple(sorted(refused))


def judgements_request(*, turn_id: UUID, user: User, pool_id: int) -> None:
    """Run the pool's judges on what they have not judged.

    Raises:
        TurnCancelled: the cycle was cancelled.
        Conflict: a judge failed. Without it, samples that only it can judge would stay without a value permanently.
    """
    for assigned in PoolJudge.objects.filter(pool=pool_id).select_related("judge"):
        runs = Run.objects.filter(pool=pool_id, judge=assigned.judge)
        # No timeout: if the workers of a run died three times, the judges' own timeout fails it.
        _wait_for(turn_id, runs.filter(status__in=UNDER_WAY).exists, within=math.inf)
        run = run_request(user=user, pool_id=pool_id, judge_id=assigned.judge_id)
        should_continue = partial(turn_running, turn_id=turn_id)
        run_execute(run_id=run.pk, should_continue=should_continue)
        run.refresh_from_db()
        if not should_continue():
            run_cancel(user=user, run_id=run.pk)
            raise TurnCancelled
        if run.status != RunState.DONE and not _only_refused(run):
            message = f"The judge {assigned.judge} did not come through: {run.error or run.status}"
            raise Conflict(message, code="judge_failed")


def _turn_running_check(turn_id: UUID) -> None:
    """Raises TurnCancelled if the cycle was cancelled."""
    if not turn_running(turn_id=turn_id):
        raise TurnCancelled


def _only_refused(run: Run) -> bool:
    """Whether a judge of this pool refused all the rest. It would refuse it again."""
    judges = Judgement.objects.filter(judge=run.judge_id, episode__task__pool=run.pool_id).exists()
    return judges and run.judged + run.refused >= run.total


def _wait_for(turn_id: UUID, others: Callable[[], bool], *, within: float) -> None:
    """Return once no other process runs it, or after `within` seconds. Raises TurnCancelled."""
    until = time.monotonic() + within
    while others() and time.monotonic() < until:
        _turn_running_check(turn_id)
        time.sleep(POLL_SECONDS)


def _check_in_progress(episode: UUID) -> bool:
    return Job.objects.filter(kind=JobKind.CHECK, episode=episode, status__in=CHECKED_NOW).exists()


def _check_finished(episode: UUID) -> bool:
    return Job.objects.filter(kind=JobKind.CHECK, episode=episode, status=JobState.DONE, report__isnull=False).exists()
