"""Branches: states of ended episodes from which their tasks start over."""

from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.compiled_queries import CompiledQuery
from annotation_app.episodes import selectors
from annotation_app.episodes.models import Branch, Episode
from annotation_app.episodes.selectors import branch_candidates
from annotation_app.errors import Conflict, NotFound
from annotation_app.policies.selectors import policies_admin_check
from annotation_app.tasks.models import Pool, Sampling, TaskState
from annotation_app.tasks.services import task_open_again
from protocol.trajectory.trajectories import Branch as BranchValue

MAX_OPEN_BRANCHES = 20
"""Most open branches of a pool. More are added when these are done."""


@transaction.atomic(durable=True)
def episode_branch(*, user: User, episode_id: UUID, step: int) -> None:
    """Queue an episode's task again, from the state before this step. A repeated request reopens the branch. The state
    before the first step is the task's own start. Raises Forbidden, NotFound, and Conflict for an open episode and a
    broken task."""
    policies_admin_check(user)
    _branch_create(actor=user, episode_id=episode_id, step=step)


def _branch_create(*, actor: User | None, episode_id: UUID, step: int) -> None:
    episode = Episode.objects.select_for_update(of=("self",)).select_related("task").filter(pk=episode_id).first()
    if episode is None:
        raise NotFound(selectors.NO_EPISODE)
    if episode.status not in selectors.ENDED_STATUSES:
        raise Conflict("The episode is not over yet.", code="episode_open")
    before = episode.steps.filter(index__lt=step, undoing__isnull=True).count()
    if not episode.steps.filter(index=step, undoing__isnull=True).exists():
        raise NotFound("There is no such step.", code="unknown_step")
    task = task_open_again(actor=actor, part="sampling", task_id=episode.task_id)
    if before and task.state != TaskState.DONE:
        Branch.objects.update_or_create(episode=episode, steps=before, defaults={"open": True})
        details = {"step": step}
        audit_record(
            actor=actor, part="sampling", verb="episode.branched", subject=f"episode:{episode.pk}", details=details
        )


def branch_next(*, task_id: int) -> BranchValue | None:
    """Where the next attempt at a task begins, if not at its start. Runs inside the caller's transaction."""
    row = next(iter(_open_branch.rows(task=task_id)), None)
    return None if row is None else BranchValue(episode=str(row[0]), steps=row[1])


def _first_open_branch(task: int) -> QuerySet[Branch, tuple[UUID, int]]:
    waiting = Branch.objects.filter(episode__task_id=task, open=True).order_by("id")
    return waiting.values_list("episode_id", "steps")[:1]


_open_branch = CompiledQuery(_first_open_branch, task=-1)


def branch_close(*, branch: BranchValue) -> None:
    """Close a branch when an attempt from it is finished. Runs inside the caller's transaction."""
    Branch.objects.filter(episode_id=branch.episode, steps=branch.steps).update(open=False)


def branches_refresh() -> int:
    """Add the states that the active revision needs most to the waiting tasks of pools drawn by need, each once.
    Returns how many were added."""
    pools = Pool.objects.filter(sampling=Sampling.BY_NEED, policy__isnull=False, practice=False, paused=False)
    return sum(_refresh(pool) for pool in pools.select_related("policy"))


@transaction.atomic(durable=True)
def _refresh(pool: Pool) -> int:
    Pool.objects.select_for_update(of=("self",)).get(pk=pool.pk)
    room = MAX_OPEN_BRANCHES - Branch.objects.filter(episode__task__pool=pool, open=True).count()
    wanted = branch_candidates.branchable_states(pool)[: max(0, room)]
    for state in wanted:
        _branch_create(actor=None, episode_id=state.episode, step=state.step)
    return len(wanted)
