"""Writing task drafts by hand, editing them, and deciding on them."""

from hashlib import sha256

from django.db import transaction
from django.utils import timezone
from pydantic import JsonValue

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.design.difficulty import level_of
from annotation_app.design.draft_replies import DraftContent, LeftOutReason, find_fault, scope_of
from annotation_app.design.draft_schemas import DraftAcceptIn, DraftIn, DraftRejectIn, DraftReopenIn
from annotation_app.design.models import DraftState, Placement, TaskDraft
from annotation_app.design.selectors import node_of, node_paths
from annotation_app.design.selectors.drafts import application_names, content_of, draft_matches, pool_of
from annotation_app.design.services.draft_requests import draft_columns
from annotation_app.errors import Conflict, Invalid, NotFound
from annotation_app.tasks.models import Pool, Task
from annotation_app.tasks.services import tasks_add
from protocol.evaluation.judgements import CRITERIA_PARAMETER
from protocol.trajectory.tasks import Task as Definition

MIN_STEPS, STEPS_FACTOR, MAX_STEPS = 10, 2, 1_000
"""A task allows twice the steps of its rubric, within these bounds."""
FAULTS: dict[LeftOutReason, str] = {
    "unknown_application": "The graph has no application {detail!r}.",
    "vague_criterion": "This criterion cannot be checked: {detail}",
    "names_secret": "A draft must not name a secret: {detail}",
}


@transaction.atomic(durable=True)
def draft_add(*, user: User, wanted: DraftIn) -> TaskDraft:
    """A draft by this person. Raises Forbidden, NotFound, and Invalid for one that no task can be made of."""
    role_check(user, Role.ADMIN)
    node_of(node_id=wanted.node, field="node")
    content = _checked(wanted.content, node_id=wanted.node)
    draft = TaskDraft.objects.create(node_id=wanted.node, written_by=user, **draft_columns(content))
    details = {"draft": draft.pk, "text": content.text, "expertise": content.expertise}
    audit_record(actor=user, verb="design.draft_added", subject=f"node:{draft.node_id}", details=details)
    return draft


@transaction.atomic(durable=True)
def draft_change(*, user: User, draft_id: int, content: DraftContent) -> None:
    """Edit a draft that waits. Raises Forbidden, NotFound, Invalid, and Conflict for one that was decided on."""
    role_check(user, Role.ADMIN)
    (draft,) = _locked((draft_id,), state=DraftState.WAITING)
    before = content_of(draft).model_dump(mode="json")
    columns = draft_columns(_checked(content, node_id=draft.node_id))
    for name, value in columns.items():
        setattr(draft, name, value)
    draft.written_by = user
    draft.save(update_fields=[*columns, "written_by"])
    details = {"draft": draft.pk, "before": before, "after": content_of(draft).model_dump(mode="json")}
    audit_record(actor=user, verb="design.draft_changed", subject=f"node:{draft.node_id}", details=details)


@transaction.atomic(durable=True)
def drafts_accept(*, user: User, wanted: DraftAcceptIn) -> tuple[Task, ...]:
    """Make drafts tasks of a pool, all or none: on the pool's machines, judged by their criteria, under their node.
    Raises Forbidden, NotFound, and Conflict for drafts that were decided on, texts that the pool has, and, unless that
    is confirmed, drafts that say the same as another one or as a task of the pool."""
    role_check(user, Role.ADMIN)
    pool = Pool.objects.select_for_update().get(pk=pool_of(pool_id=wanted.pool).pk)
    drafts = _locked(wanted.drafts, state=DraftState.WAITING)
    if not wanted.confirmed and (matches := draft_matches(drafts, pool=pool)):
        raise Conflict(
            "Some of the drafts say the same as another draft or a task of the pool.",
            code="near_duplicates",
            extra={"drafts": sorted(matches)},
        )
    definitions = [_definition(draft, pool, wanted) for draft in drafts]
    keys = [definition.id for definition in definitions]
    if len(set(keys)) < len(keys) or tasks_add(pool=pool, definitions=definitions) < len(keys):
        raise Conflict("The pool has a task of this wording already.", code="wording_known")
    tasks = {task.key: task for task in Task.objects.filter(pool=pool, key__in=keys)}
    for key, draft in zip(keys, drafts, strict=True):
        Placement.objects.create(
            task=tasks[key], node_id=draft.node_id, rubric=draft.rubric, level=level_of(draft.rubric), guessed=False
        )
        draft.task = tasks[key]
        _decide(user, draft, DraftState.ACCEPTED)
    details = {"drafts": [draft.pk for draft in drafts], "tasks": keys, "confirmed": wanted.confirmed}
    audit_record(actor=user, verb="design.drafts_accepted", subject=f"pool:{pool.pk}", details=details)
    return tuple(tasks[key] for key in keys)


@transaction.atomic(durable=True)
def drafts_reject(*, user: User, wanted: DraftRejectIn) -> None:
    """Leave drafts out, all or none. Raises Forbidden, NotFound and Conflict."""
    role_check(user, Role.ADMIN)
    drafts = _locked(wanted.drafts, state=DraftState.WAITING)
    for draft in drafts:
        draft.reason = wanted.reason
        _decide(user, draft, DraftState.REJECTED)
    details = {"drafts": [draft.pk for draft in drafts], "reason": wanted.reason}
    audit_record(actor=user, verb="design.drafts_rejected", subject=f"node:{drafts[0].node_id}", details=details)


@transaction.atomic(durable=True)
def drafts_reopen(*, user: User, wanted: DraftReopenIn) -> None:
    """Let rejected drafts wait again, all or none. Raises Forbidden, NotFound and Conflict."""
    role_check(user, Role.ADMIN)
    drafts = _locked(wanted.drafts, state=DraftState.REJECTED)
    for draft in drafts:
        draft.reason = ""
        _decide(user, draft, DraftState.WAITING)
    details = {"drafts": [draft.pk for draft in drafts]}
    audit_record(actor=user, verb="design.drafts_reopened", subject=f"node:{drafts[0].node_id}", details=details)


def _checked(content: DraftContent, *, node_id: int) -> DraftContent:
    """With the node's application first. Raises Invalid."""
    own = node_paths()[node_id][0]
    content = content.model_copy(update={"applications": tuple(dict.fromkeys((own, *content.applications)))})
    fault = find_fault(content, application_names())
    if fault is not None:
        message = FAULTS[fault.reason].format(detail=fault.detail)
        raise Invalid(message, code=fault.reason, field="content")
    return content


def _locked(draft_ids: tuple[int, ...], *, state: DraftState) -> list[TaskDraft]:
    """These drafts in the order that they are named in. Raises NotFound, and Conflict where one is in another state."""
    wanted = tuple(dict.fromkeys(draft_ids))
    found = {draft.pk: draft for draft in TaskDraft.objects.select_for_update().filter(pk__in=wanted).order_by("pk")}
    if len(found) < len(wanted):
        raise NotFound("There is no such draft.", field="drafts")
    if any(draft.state != state for draft in found.values()):
        raise Conflict("Another person has already decided on this.", code="decided")
    return [found[key] for key in wanted]


def _decide(user: User, draft: TaskDraft, state: DraftState) -> None:
    draft.state = state
    is_open = state == DraftState.WAITING
    draft.decided_by, draft.decided_at = (None, None) if is_open else (user, timezone.now())
    draft.save(update_fields=["state", "reason", "decided_by", "decided_at", "task"])


def _definition(draft: TaskDraft, pool: Pool, wanted: DraftAcceptIn) -> Definition:
    """The task; its id follows from its text, so that a pool has one of each."""
    steps = wanted.max_steps or min(MAX_STEPS, max(MIN_STEPS, STEPS_FACTOR * draft.rubric.steps))
    parameters: dict[str, JsonValue] = {
        CRITERIA_PARAMETER: list(draft.criteria),
        "category": draft.applications[0],
        "expertise": draft.expertise,
        "scope": scope_of(draft.applications),
        "applications": list(draft.applications),
    }
    if draft.preconditions:
        parameters["preconditions"] = list(draft.preconditions)
    if draft.persona:
        parameters["persona"] = draft.persona
    return Definition(
        id=f"draft {sha256(draft.text.encode()).hexdigest()[:16]}",
        instruction=draft.text,
        platform=pool.platform,
        parameters=parameters,
        network=wanted.network,
        max_steps=min(steps, pool.max_steps),
    )
