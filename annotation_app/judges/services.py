"""Having pools judged."""

from contextlib import AbstractContextManager
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

import protocol.evaluation.judgements
from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, NotFound
from annotation_app.heartbeats import abandoned_jobs, heartbeat
from annotation_app.judges.models import UNDER_WAY, Judge, Judgement, PoolJudge, Run, RunState
from annotation_app.judges.schemas import WHOLE_POOL, JudgeIn, RunIn, RunPlan
from annotation_app.judges.selectors import (
    episodes_waiting,
    judge_is_used,
    judge_server,
    judges_admin_check,
    pool_judge_of,
)
from annotation_app.policies.services import provider_key_store
from annotation_app.tasks.models import Pool
from protocol.evaluation.judgements import VERIFIER

ATTEMPTS = 3
"""How often a run is tried whose worker dies."""


@transaction.atomic(durable=True)
def judge_create(*, user: User, judge: JudgeIn) -> Judge:
    """Add a judge; it is never changed. Raises Forbidden, and Conflict where its name and revision are another's."""
    judges_admin_check(user)
    if judge.key:
        provider_key_store(user, judge.base_url, judge.key)
    try:
        with transaction.atomic():
            made = Judge.objects.create(
                **judge.model_dump(include={"kind", "name", "revision", "base_url", "model", "scripted"}),
                settings=judge.settings.model_dump(mode="json", exclude_defaults=True),
            )
    except IntegrityError:
        raise Conflict("There is a judge of this name and revision; it never changes.", code="judge_exists") from None
    audit_record(actor=user, verb="judge.created", subject=f"judge:{made.pk}", details={"judge": str(made)})
    return made


@transaction.atomic(durable=True)
def judge_delete(*, user: User, judge_id: int) -> None:
    """Delete a judge that judges nowhere and has judged nothing. Raises Forbidden, NotFound and Conflict."""
    judges_admin_check(user)
    judge = Judge.objects.select_for_update().filter(pk=judge_id).first()
    if judge is None:
        raise NotFound("There is no such judge.", field="judge_id")
    if judge.kind == VERIFIER.kind or judge_is_used(judge):
        raise Conflict("A pool uses it or has its judgements, which are kept.", code="judge_used")
    judge.delete()
    audit_record(actor=user, verb="judge.deleted", subject=f"judge:{judge_id}", details={"judge": str(judge)})


@transaction.atomic(durable=True)
def pool_judge_set(*, user: User, pool_id: int, judge_id: int, threshold: float) -> PoolJudge:
    """Let a judge judge in a pool, believed from this score on. Raises Forbidden, NotFound and Conflict."""
    judges_admin_check(user)
    pool = Pool.objects.select_for_update().filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool_id")
    if pool.practice:
        raise Conflict("Practice is not judged.", code="practice_pool")
    judge = Judge.objects.filter(pk=judge_id).first()
    if judge is None:
        raise NotFound("There is no such judge.", field="judge_id")
    assigned, _made = PoolJudge.objects.update_or_create(pool=pool, judge=judge, defaults={"threshold": threshold})
    details = {"judge": str(judge), "threshold": threshold}
    audit_record(actor=user, verb="judge.set", subject=f"pool:{pool_id}", details=details)
    return assigned


@transaction.atomic(durable=True)
def pool_judge_remove(*, user: User, pool_id: int, judge_id: int) -> None:
    """Let a judge judge no longer in a pool; what it said is kept. Raises Forbidden, NotFound and Conflict."""
    judges_admin_check(user)
    assigned = pool_judge_of(pool_id=pool_id, judge_id=judge_id)
    if Run.objects.filter(pool_id=pool_id, judge_id=judge_id, status__in=UNDER_WAY).exists():
        raise Conflict("It is judging; cancel that first.", code="judging")
    assigned.delete()
    audit_record(actor=user, verb="judge.removed", subject=f"pool:{pool_id}", details={"judge": str(assigned.judge)})


def run_request(*, user: User, pool_id: int, judge_id: int, scope: RunIn = WHOLE_POOL) -> Run:
    """Note that a pool is to be judged, or some of its episodes.

    Raises Forbidden, NotFound, and Conflict where it is being judged.
    """
    judges_admin_check(user)
    assigned = pool_judge_of(pool_id=pool_id, judge_id=judge_id)
    try:
        with transaction.atomic(durable=True):
            run = Run.objects.create(pool=assigned.pool, judge=assigned.judge, requested_by=user, **scope.model_dump())
            details = {"judge": str(assigned.judge), "run": str(run.pk), **scope.model_dump(exclude_defaults=True)}
            audit_record(actor=user, verb="judge.run", subject=f"pool:{pool_id}", details=details)
    except IntegrityError:
        raise Conflict("This judge is judging this pool already.", code="judging") from None
    return run


@transaction.atomic(durable=True)
def run_cancel(*, user: User, run_id: UUID) -> None:
    """Stop a run; what was judged is kept, and one that has ended is left as it is. Raises Forbidden and NotFound."""
    judges_admin_check(user)
    run = Run.objects.filter(pk=run_id).first()
    if run is None:
        raise NotFound("There is no such run.")
    if _run_close(run_id, RunState.CANCELLED):
        audit_record(actor=user, verb="judge.cancelled", subject=f"pool:{run.pool_id}", details={"run": str(run_id)})


def run_begin(*, run_id: UUID) -> RunPlan | None:
    """Take up a queued run; None for any other."""
    started = {"attempts": F("attempts") + 1, "heard_at": timezone.now(), "refused": 0, "error": ""}
    queued = Run.objects.filter(pk=run_id, status=RunState.QUEUED)
    if not queued.update(status=RunState.RUNNING, **started):
        return None
    run = Run.objects.select_related("judge").get(pk=run_id)
    most = None if run.most is None else max(0, run.most - run.judged)
    episodes = episodes_waiting(pool_id=run.pool_id, judge_id=run.judge_id, labelled_only=run.labelled_only, most=most)
    Run.objects.filter(pk=run_id).update(total=run.judged + len(episodes))
    return RunPlan(judge_id=run.judge_id, server=judge_server(run.judge), episodes=episodes)


@transaction.atomic(durable=True)
def judgements_store(
    *,
    run_id: UUID,
    judge_id: int,
    answers: tuple[protocol.evaluation.judgements.Judgement, ...],
    refused: int,
    error: str,
) -> bool:
    """Store what a judge said, each once, and how far the run is; whether it is to go on."""
    made = 0
    for judgement in answers:
        _row, new = Judgement.objects.get_or_create(
            episode_id=UUID(judgement.trajectory),
            judge_id=judge_id,
            defaults={"score": judgement.score, "document": judgement},
        )
        made += new
    running = Run.objects.filter(pk=run_id, status=RunState.RUNNING)
    fields: dict[str, object] = {"error": error} if error else {}
    if made:
        fields["attempts"] = 1  # one that got further is not tired: a worker has an hour, a pool may need more
    return bool(
        running.update(judged=F("judged") + made, refused=F("refused") + refused, heard_at=timezone.now(), **fields)
    )


def run_heartbeat(*, run_id: UUID) -> AbstractContextManager[None]:
    """Heartbeats of a run that this worker has, while the block runs."""
    return heartbeat(Run.objects.filter(pk=run_id, status=RunState.RUNNING))


def run_end(*, run_id: UUID, error: str) -> None:
    """Note that a run is done, or why it failed; one that was cancelled stays so."""
    fields = {"error": error} if error else {}
    _run_close(run_id, RunState.FAILED if error else RunState.DONE, **fields)


@transaction.atomic(durable=True)
def runs_stale() -> tuple[UUID, ...]:
    """Runs nobody works on, queued again; one that broke every attempt has failed. Which are to be done."""
    silent = abandoned_jobs(Run.objects.all())
    tired = silent.filter(attempts__gte=ATTEMPTS)
    tired.update(status=RunState.FAILED, finished_at=timezone.now(), error=f"It broke off {ATTEMPTS} times.")
    again = tuple(silent.select_for_update(skip_locked=True).values_list("pk", flat=True))
    Run.objects.filter(pk__in=again).update(status=RunState.QUEUED, heard_at=timezone.now())
    return again


def _run_close(run_id: UUID, status: RunState, **fields: object) -> bool:
    """End a run that is under way; whether it was."""
    under_way = Run.objects.filter(pk=run_id, status__in=UNDER_WAY)
    return bool(under_way.update(status=status, finished_at=timezone.now(), **fields))
