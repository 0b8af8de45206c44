"""Queries on episodes; read-only."""

import json
from uuid import UUID

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.selectors import can_see_all_work
from annotation_app.blobs.models import Blob
from annotation_app.episodes.models import (
    OPEN_STATUSES,
    Command,
    Episode,
    EpisodeBlob,
    EpisodeStateDocument,
    Review,
)
from annotation_app.episodes.models import Step as StepRow
from annotation_app.episodes.schemas import EpisodePage, EpisodeSummary
from annotation_app.errors import Forbidden, NotFound
from annotation_app.policies.selectors import PolicyServer
from annotation_app.tasks.models import AssignmentState
from annotation_app.tasks.selectors import can_annotate, policy_server_in, pool_had_credentials, tasks_blinded_for
from protocol.base import FrozenModel
from protocol.evaluation.judge_prompts import without_references
from protocol.messages.events import EpisodeState
from protocol.trajectory.mcp_servers import McpServers
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task

NO_EPISODE = "There is no such episode."
ENDED_STATUSES = ("finished", "left")
PAGE = 50
"""Episodes per page."""


class Access(FrozenModel):
    """What a person may do with an episode that they may see."""

    steers: bool


def episodes_visible(user: User) -> QuerySet[Episode]:
    """The episodes that this person may see: their own, or all for reviewers, admins and researchers. Episodes that
    would reveal how others do a task that the person may still do are left out."""
    if not can_see_all_work(user):
        return Episode.objects.filter(annotator=user)
    hidden = tasks_blinded_for(user)
    return Episode.objects.exclude(~Q(annotator=user), task__in=hidden) if hidden.exists() else Episode.objects.all()


def episode_of(*, user: User, episode_id: UUID) -> Episode:
    """One episode that this person may see. Raises NotFound, also when they may not see it."""
    found = (
        episodes_visible(user)
        .select_related("task__pool", "annotator", "policy", "assignment")
        .filter(pk=episode_id)
        .first()
    )
    if found is None:
        raise NotFound(NO_EPISODE)
    return found


def _summary(episode: Episode) -> EpisodeSummary:
    task = episode.task
    return EpisodeSummary(
        id=episode.id,
        task_id=task.key,
        instruction=task.definition.instruction,
        pool=task.pool.name,
        status=episode.status,
        outcome=episode.outcome or None,
        verdict=episode.desk.verdict,
        steps=episode.step_count,  # type: ignore[attr-defined]  # annotated by _listed
        annotator=episode.annotator.username,
        annotator_name=episode.annotator.name,
        practice=task.pool.practice,
        help_requested=episode.help_requested,
        created_at=episode.created_at,
        finished_at=episode.finished_at,
        review=episode.review,
        review_reason=episode.review_reason if episode.review in (Review.RETURNED, Review.REJECTED) else "",
        note=episode.last_note or "",  # type: ignore[attr-defined]  # annotated by _listed
    )


def _with_summary_columns(episodes: QuerySet[Episode]) -> QuerySet[Episode]:
    notes = Command.objects.filter(episode=OuterRef("pk")).exclude(note="").order_by("-id").values("note")
    standing = StepRow.objects.filter(episode=OuterRef("pk"), undoing__isnull=True).order_by()
    steps = standing.values("episode").annotate(count=Count("pk")).values("count")
    # A count by join would group the rows, and grouped rows are unordered.
    return episodes.select_related("task__pool", "annotator").annotate(
        step_count=Coalesce(Subquery(steps), 0), last_note=Subquery(notes[:1])
    )


def episodes_page(
    *,
    user: User,
    status: str | None = None,
    review: str | None = None,
    pool: int | None = None,
    annotator: str | None = None,
    page: int = 1,
) -> EpisodePage:
    """A page of the episodes this person may see, newest first."""
    wanted = Q()
    if status:
        wanted &= Q(status=status)
    if review:
        wanted &= Q(review=review)
    if pool is not None:
        wanted &= Q(task__pool_id=pool)
    if annotator:
        wanted &= Q(annotator__username=annotator) | Q(annotator__first_name__iexact=annotator)
    found = episodes_visible(user).filter(wanted)
    total, end = found.count(), page * PAGE
    items = tuple(_summary(e) for e in _with_summary_columns(found)[end - PAGE : end])
    return EpisodePage(items=items, total=total, next=page + 1 if end < total else None)


def episodes_current(*, user: User) -> tuple[EpisodeSummary, ...]:
    """This person's open episodes, newest first."""
    return tuple(_summary(e) for e in _with_summary_columns(user.episodes.filter(status__in=OPEN_STATUSES)))


def episodes_returned(*, user: User) -> tuple[EpisodeSummary, ...]:
    """Episodes that reviewers returned to this person and that they have not resumed."""
    waiting = user.assignments.filter(state=AssignmentState.RETURNED).values("task_id")
    return tuple(
        _summary(e) for e in _with_summary_columns(user.episodes.filter(review=Review.RETURNED, task_id__in=waiting))
    )


def episodes_recent(*, user: User, most: int = 10) -> tuple[EpisodeSummary, ...]:
    """Episodes that this person ended, latest first."""
    found = user.episodes.filter(status__in=ENDED_STATUSES).order_by("-finished_at", "id")
    return tuple(_summary(e) for e in _with_summary_columns(found)[:most])


def state_of(episode: Episode, *, steps: tuple[Step, ...] = (), proposals: tuple[Proposal, ...] = ()) -> EpisodeState:
    """The state that an episode's row makes with these steps and proposals."""
    pool, desk = episode.task.pool, episode.desk
    return EpisodeState(
        id=str(episode.id),
        version=episode.version,
        status=episode.status,
        task=without_references(task_of(episode)),
        pool=pool.name,
        instructions=pool.instructions,
        thought_required=pool.thought_required,
        thought_later=pool.thought_later,
        text_continuation=pool.text_continuation,
        unattended_safety_checks=pool.unattended_safety_checks,
        steps=steps,
        proposals=proposals,
        help_requested=episode.help_requested,
        outcome=episode.outcome or None,
        lease_expires_at=episode.assignment.expires_at,
        created_at=episode.created_at,
        finished_at=episode.finished_at,
        **{name: getattr(desk, name) for name in EpisodeStateDocument.model_fields},
    )


def task_of(episode: Episode) -> Task:
    """The task with the pool's settings applied: its step limit and its screenshot format."""
    task, pool = episode.task.definition, episode.task.pool
    return task.model_copy(
        update={
            "max_steps": min(task.max_steps, pool.max_steps),
            "parameters": {**task.parameters, "screenshot": pool.screenshot_format},
        }
    )


def success_of(episode: Episode) -> bool | None:
    """Whether a finished episode solved its task: the verifier's verdict, else the annotator's; None without either."""
    if episode.status != "finished":
        return None
    verdict = episode.desk.verdict
    if verdict is not None and verdict.success is not None:
        return verdict.success
    return {"success": True, "failure": False}.get(episode.outcome)


def branch_blob(*, episode_id: UUID, sha256: str) -> Blob | None:
    """A blob that the earlier episode shows, of which this one is a branch."""
    branch = Episode.objects.get(pk=episode_id).desk.branch_of
    return None if branch is None else episode_blob(episode_id=UUID(branch.episode), sha256=sha256)


def episode_status(*, episode_id: UUID) -> str:
    """The status of an episode. Raises Episode.DoesNotExist."""
    return Episode.objects.values_list("status", flat=True).get(pk=episode_id)


def runner_token(*, episode_id: UUID) -> int:
    """The fencing token of the runner that may drive an episode. Raises Episode.DoesNotExist."""
    return Episode.objects.values_list("runner_token", flat=True).get(pk=episode_id)


def episode_blob(*, episode_id: UUID, sha256: str) -> Blob | None:
    """A blob, if this episode shows it."""
    link = EpisodeBlob.objects.select_related("blob").filter(episode_id=episode_id, blob_id=sha256).first()
    return link.blob if link else None


def episodes_abandoned() -> tuple[UUID, ...]:
    """Open episodes whose lease has run out."""
    run_out = Episode.objects.filter(
        assignment__state=AssignmentState.ACTIVE, assignment__expires_at__lte=timezone.now()
    )
    return tuple(run_out.filter(status__in=OPEN_STATUSES).order_by().values_list("pk", flat=True))


def episode_summary(*, episode_id: UUID) -> EpisodeSummary:
    """One episode's summary. Raises Episode.DoesNotExist."""
    return _summary(_with_summary_columns(Episode.objects.all()).get(pk=episode_id))


def episode_summaries(*, ids: list[UUID]) -> tuple[EpisodeSummary, ...]:
    """The summaries of these episodes, in this order."""
    found = {episode.pk: episode for episode in _with_summary_columns(Episode.objects.filter(pk__in=ids))}
    return tuple(_summary(found[key]) for key in ids if key in found)


class StoredMachine(FrozenModel):
    """How to start an episode's machine. `lease` is the bridge's lease on it (empty before it has one)."""

    image: str
    user: str
    pool: str
    lease: str
    record: bool
    speculation: bool
    mcp_servers: McpServers
    """The pool's MCP servers when the episode began."""


def machine_of(*, episode_id: UUID) -> StoredMachine:
    """The stored machine of an episode, without a lease if it has ended. Raises Episode.DoesNotExist."""
    episode = Episode.objects.select_related("task__pool", "annotator").get(pk=episode_id)
    return StoredMachine(
        image=episode.task.pool.image,
        user=episode.annotator.username,
        pool=episode.task.pool.name,
        lease="" if episode.status in ENDED_STATUSES else episode.machine,
        record=episode.task.pool.record,
        speculation=episode.task.pool.speculation,
        mcp_servers=episode.mcp_servers or {},
    )


def episode_has_secrets(*, episode_id: UUID) -> bool:
    """Whether the machine may show the value of a secret: the pool has one, or has had one since the episode began.

    Raises Episode.DoesNotExist.
    """
    pool_id, began = Episode.objects.values_list("task__pool_id", "created_at").get(pk=episode_id)
    return pool_had_credentials(pool_id=pool_id, since=began)


def machine_host_of(*, episode_id: UUID) -> str:
    """The URL of the bridge host of an episode's last machine; empty if it never had one."""
    lease = Episode.objects.values_list("machine", flat=True).get(pk=episode_id)
    return str(json.loads(lease)["host_url"]) if lease else ""


def policy_server_of(*, episode_id: UUID) -> PolicyServer | None:
    """The policy server of an episode now; None without one. Raises Episode.DoesNotExist."""
    found = Episode.objects.select_related("task__pool__policy", "task__pool__canary")
    return policy_server_in(found.get(pk=episode_id).task.pool, episode_id)


def episode_access(*, user: User, episode_id: UUID) -> Access:
    """Whether this person may view an episode, and whether they may act in it. Raises NotFound, Forbidden."""
    annotator_id = Episode.objects.filter(pk=episode_id).values_list("annotator_id", flat=True).first()
    if annotator_id is None:
        raise NotFound(NO_EPISODE)
    if annotator_id != user.pk and not episodes_visible(user).filter(pk=episode_id).exists():
        raise Forbidden("This episode belongs to another person.")
    return Access(steers=annotator_id == user.pk and can_annotate(user))


def command_digest(*, episode_id: UUID, command_id: str) -> str | None:
    """The digest under which a command was stored. Empty, which matches no command, if another episode stored it."""
    found = Command.objects.filter(command_id=command_id).first()
    if found is None:
        return None
    return found.digest if found.episode_id == episode_id else ""


def command_intent(*, episode_id: UUID, command_id: str) -> str | None:
    """The stored intent of an act of this episode."""
    found = Command.objects.filter(episode_id=episode_id, command_id=command_id).exclude(intent="")
    return found.values_list("intent", flat=True).first()


def pending_intent(*, episode_id: UUID) -> str | None:
    """The stored intent of the act whose step is not recorded yet."""
    return (
        Episode.objects.filter(pk=episode_id, pending__isnull=False).values_list("pending__intent", flat=True).first()
    )
