"""Requests for new wordings of instructions by a model, and decisions on them."""

from contextlib import AbstractContextManager
from hashlib import sha256
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.audit.verbs import Verb
from annotation_app.design.difficulty import guess_rubric, level_of
from annotation_app.design.models import Placement, Suggestion, Writer, Writing
from annotation_app.design.schemas import WriterIn, WritingIn, WritingPlan
from annotation_app.design.services.requests import (
    request_begin,
    request_cancel,
    request_end,
    request_heartbeat,
    server_of,
)
from annotation_app.errors import Conflict, NotFound
from annotation_app.tasks.models import Pool, Task
from annotation_app.tasks.services import tasks_add
from protocol.trajectory.tasks import Task as Definition

LONGEST_ID = 200


@transaction.atomic(durable=True)
def writer_add(*, user: User, wanted: WriterIn) -> Writer:
    """Another model that may be asked. Raises Forbidden, and Conflict for a revision that is there: it is never
    changed."""
    role_check(user, Role.ADMIN)
    try:
        with transaction.atomic():
            writer = Writer.objects.create(**wanted.model_dump())
    except IntegrityError:
        raise Conflict("This revision is there already; other settings are another one.", code="name_taken") from None
    audit_record(actor=user, verb="design.writer_added", subject=f"writer:{writer.pk}", details=wanted.model_dump())
    return writer


@transaction.atomic(durable=True)
def writer_delete(*, user: User, writer_id: int) -> None:
    """Delete a model that wrote nothing. Raises Forbidden, NotFound and Conflict."""
    role_check(user, Role.ADMIN)
    writer = Writer.objects.select_for_update().filter(pk=writer_id).first()
    if writer is None:
        raise NotFound("There is no such model.", field="writer_id")
    if writer.writings.exists() or writer.draft_requests.exists():
        raise Conflict("It has written tasks, so its replies are kept.", code="writer_used")
    writer.delete()
    audit_record(
        actor=user, verb="design.writer_deleted", subject=f"writer:{writer_id}", details={"writer": str(writer)}
    )


def writing_request(*, user: User, task_id: int, wanted: WritingIn) -> Writing:
    """Note that other wordings of a task are wanted. Raises Forbidden, NotFound, and Conflict where some are being
    written."""
    role_check(user, Role.ADMIN)
    task, writer = Task.objects.filter(pk=task_id).first(), Writer.objects.filter(pk=wanted.writer).first()
    if task is None or writer is None:
        raise NotFound("There is no such task." if task is None else "There is no such model.")
    try:
        with transaction.atomic(durable=True):
            writing = Writing.objects.create(task=task, writer=writer, count=wanted.count, requested_by=user)
            details = {"writer": str(writer), "count": wanted.count}
            audit_record(actor=user, verb="design.wording_asked", subject=f"task:{task_id}", details=details)
    except IntegrityError:
        raise Conflict("Wordings of this task are being written.", code="writing") from None
    return writing


@transaction.atomic(durable=True)
def writing_cancel(*, user: User, writing_id: UUID) -> None:
    """Cancel a request for wordings. One that has ended stays unchanged. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    if not Writing.objects.filter(pk=writing_id).exists():
        raise NotFound("There is no such request.")
    if request_cancel(Writing.objects.filter(pk=writing_id)):
        audit_record(actor=user, verb="design.wording_cancelled", subject=f"writing:{writing_id}")


def writing_begin(*, writing_id: UUID) -> WritingPlan | None:
    """Take up a queued request; None for any other."""
    if not request_begin(Writing.objects.filter(pk=writing_id)):
        return None
    writing = Writing.objects.select_related("task", "writer").get(pk=writing_id)
    return WritingPlan(
        server=server_of(writing.writer), instruction=writing.task.definition.instruction, count=writing.count
    )


def writing_heartbeat(*, writing_id: UUID) -> AbstractContextManager[None]:
    """Heartbeats of a request that this worker has, while the block runs."""
    return request_heartbeat(Writing.objects.filter(pk=writing_id))


@transaction.atomic(durable=True)
def writing_end(*, writing_id: UUID, texts: tuple[str, ...] = (), error: str = "") -> None:
    """Store the wordings or the error. Nothing is stored for a cancelled request."""
    if request_end(Writing.objects.filter(pk=writing_id), error=error):
        Suggestion.objects.bulk_create(Suggestion(writing_id=writing_id, text=text) for text in texts)


@transaction.atomic(durable=True)
def suggestion_accept(*, user: User, suggestion_id: int, text: str) -> Task:
    """Make a wording, edited or not, a task of the same pool. It is judged as its source is, stands beside it, and has
    its kind, so that no division of data tears them apart. Raises Forbidden, NotFound and Conflict."""
    suggestion = _undecided(user, suggestion_id)
    source = suggestion.writing.task
    pool = Pool.objects.select_for_update().get(pk=source.pool_id)
    definition = _variant(source.definition, text)
    if not tasks_add(pool=pool, definitions=[definition]):
        raise Conflict("The pool has a task of this wording already.", code="wording_known")
    task = Task.objects.get(pool=pool, key=definition.id)
    beside = Placement.objects.filter(task=source).first()
    rubric = beside.rubric if beside else guess_rubric(definition)
    Placement.objects.create(
        task=task,
        node_id=beside.node_id if beside else None,
        rubric=rubric,
        level=level_of(rubric),
        guessed=beside.guessed if beside else True,
        variant_of_id=(beside.variant_of_id if beside else None) or source.pk,
    )
    _decide(user, suggestion, "design.wording_accepted", task=task)
    return task


@transaction.atomic(durable=True)
def suggestion_reject(*, user: User, suggestion_id: int) -> None:
    """Leave a wording out. Raises Forbidden, NotFound and Conflict."""
    _decide(user, _undecided(user, suggestion_id), "design.wording_rejected")


def _undecided(user: User, suggestion_id: int) -> Suggestion:
    role_check(user, Role.ADMIN)
    found = (
        Suggestion.objects.select_for_update(of=("self",))
        .select_related("writing__task")
        .filter(pk=suggestion_id)
        .first()
    )
    if found is None:
        raise NotFound("There is no such suggestion.", field="suggestion_id")
    if found.decided_at is not None:
        raise Conflict("Another person has already decided on this.", code="decided")
    return found


def _decide(user: User, suggestion: Suggestion, verb: Verb, task: Task | None = None) -> None:
    suggestion.decided_by, suggestion.decided_at, suggestion.task = user, timezone.now(), task
    suggestion.save(update_fields=["decided_by", "decided_at", "task"])
    details = {"said": suggestion.text, "became": task.definition.instruction if task else ""}
    audit_record(actor=user, verb=verb, subject=f"task:{suggestion.writing.task_id}", details=details)


def _variant(source: Definition, text: str) -> Definition:
    """The same task in other words; its id follows from them."""
    suffix = f" {sha256(text.encode()).hexdigest()[:12]}"
    named = {"id": source.id[: LONGEST_ID - len(suffix)] + suffix, "instruction": text}
    return source.model_copy(update={**named, "name": source.name or source.id})
