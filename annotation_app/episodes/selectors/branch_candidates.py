"""Where a pool's active policy needs people: states at which it was overridden or failed."""

from uuid import UUID

from django.db.models import QuerySet

from annotation_app.accounts.models import User
from annotation_app.episodes.models import Branch, Episode, Step
from annotation_app.episodes.schemas import BranchCandidate, BranchReason
from annotation_app.episodes.selectors import ENDED_STATUSES, success_of
from annotation_app.errors import NotFound
from annotation_app.policies.selectors import policies_admin_check, policy_ref
from annotation_app.tasks.models import Pool, TaskState
from annotation_app.tasks.selectors import counts_by_kind
from annotation_app.tasks.task_sampling import OVERRIDING_DECISIONS, ProposalCounts, sampling_weight

SCAN_LIMIT = 200
"""How many of the latest overridden steps, and of the latest finished episodes, are considered."""


def branch_candidates(*, user: User, pool_id: int, most: int = 50) -> tuple[BranchCandidate, ...]:
    """States at which the active revision was overridden last, or proposed last in an attempt that failed. The most
    needed come first. Raises Forbidden and NotFound."""
    policies_admin_check(user)
    pool = Pool.objects.select_related("policy").filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool_id")
    return _candidate_states(pool)[:most]


def branchable_states(pool: Pool) -> tuple[BranchCandidate, ...]:
    """States of ended episodes from which a task of this pool can start and none has yet. Each task occurs once, the
    most needed first."""
    states = [state for state in _candidate_states(pool) if state.done]
    over = Episode.objects.filter(pk__in={state.episode for state in states}, status__in=ENDED_STATUSES)
    ended, already_branched = set(over.values_list("pk", flat=True)), set(_branched_episodes(pool))
    first: dict[int, BranchCandidate] = {}
    for state in states:
        if state.episode in ended and state.episode not in already_branched:
            first.setdefault(state.task, state)
    return tuple(first.values())


def _branched_episodes(pool: Pool) -> QuerySet[Branch, UUID]:
    return Branch.objects.filter(episode__task__pool=pool).values_list("episode_id", flat=True)


def _candidate_states(pool: Pool) -> tuple[BranchCandidate, ...]:
    active, counts = policy_ref(pool.policy), counts_by_kind(pool)
    steps = Step.objects.filter(episode__task__pool=pool, undoing__isnull=True).select_related("episode__task")
    refused = steps.filter(decision__in=OVERRIDING_DECISIONS).order_by("-id")[:SCAN_LIMIT]
    finished = Episode.objects.filter(task__pool=pool, status="finished").order_by("-created_at")[:SCAN_LIMIT]
    failed = [episode.pk for episode in finished if success_of(episode) is False]
    last = Step.objects.filter(episode__in=failed, undoing__isnull=True).order_by("episode_id", "-index")
    ends = steps.filter(pk__in=last.distinct("episode_id").values("pk"))
    reasons: tuple[tuple[BranchReason, QuerySet[Step]], ...] = (("overridden", refused), ("failed", ends))
    found = {
        (row.episode_id, row.index): BranchCandidate(
            episode=row.episode_id,
            step=row.index,
            reason=reason,
            weight=sampling_weight(counts.get(row.episode.task.kind, ProposalCounts()), row.episode.task.done),
            task=row.episode.task_id,
            kind=row.episode.task.kind,
            waiting=row.episode.task.state == TaskState.WAITING,
            done=row.episode.task.state == TaskState.DONE,
        )
        for reason, rows in reasons
        for row in rows
        if row.document.policy == active
    }
    return tuple(sorted(found.values(), key=lambda state: -state.weight))
