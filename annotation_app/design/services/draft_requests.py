"""Having task drafts written by a model, cell by cell."""

from contextlib import AbstractContextManager
from uuid import UUID

from django.db import IntegrityError, transaction

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.design.draft_replies import DraftContent, LeftOut, share_out
from annotation_app.design.draft_schemas import DraftPlan, DraftRequestIn
from annotation_app.design.models import DraftRequest, DraftState, TaskDraft, Writer, WritingState
from annotation_app.design.selectors import node_of, node_paths
from annotation_app.design.selectors.drafts import application_names
from annotation_app.design.services.requests import (
    request_begin,
    request_cancel,
    request_end,
    request_heartbeat,
    server_of,
)
from annotation_app.errors import Conflict, NotFound

MAX_LEFT_OUT = 200


def draft_request_add(*, user: User, wanted: DraftRequestIn) -> DraftRequest:
    """Note that drafts are wanted. Raises Forbidden, NotFound, and Conflict where some of the node are being written or
    where several applications are wanted and the graph has one."""
    role_check(user, Role.ADMIN)
    node, writer = node_of(node_id=wanted.node, field="node"), Writer.objects.filter(pk=wanted.writer).first()
    if writer is None:
        raise NotFound("There is no such model.", field="writer")
    if "several" in wanted.scopes and len(application_names()) < 2:
        raise Conflict("The graph has one application alone.", code="one_application", field="scopes")
    cells = share_out(wanted.count, wanted.expertises, wanted.scopes)
    try:
        with transaction.atomic(durable=True):
            request = DraftRequest.objects.create(
                node=node,
                writer=writer,
                count=wanted.count,
                cells=cells,
                persona=wanted.persona,
                language=wanted.language,
                requested_by=user,
            )
            details = {"writer": str(writer), **wanted.model_dump(mode="json", exclude={"node", "writer"})}
            audit_record(actor=user, verb="design.drafts_requested", subject=f"node:{node.pk}", details=details)
    except IntegrityError:
        raise Conflict("Drafts of this node are being written.", code="drafting") from None
    return request


@transaction.atomic(durable=True)
def draft_request_cancel(*, user: User, request_id: UUID) -> None:
    """Want no more of them; the drafts that are there stay. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    rows = DraftRequest.objects.filter(pk=request_id)
    node_id = rows.values_list("node_id", flat=True).first()
    if node_id is None:
        raise NotFound("There is no such request.")
    if request_cancel(rows):
        details = {"request": str(request_id)}
        audit_record(actor=user, verb="design.drafts_cancelled", subject=f"node:{node_id}", details=details)


def draft_request_begin(*, request_id: UUID) -> DraftPlan | None:
    """Take up a queued request; None for any other."""
    if not request_begin(DraftRequest.objects.filter(pk=request_id)):
        return None
    request = DraftRequest.objects.select_related("writer").get(pk=request_id)
    return DraftPlan(
        server=server_of(request.writer),
        path=node_paths()[request.node_id],
        applications=application_names(),
        persona=request.persona,
        language=request.language,
        cells=request.cells[request.cells_done :],
    )


def draft_request_heartbeat(*, request_id: UUID) -> AbstractContextManager[None]:
    """Heartbeats of a request that this worker has, while the block runs."""
    return request_heartbeat(DraftRequest.objects.filter(pk=request_id))


def draft_texts_known(*, request_id: UUID) -> tuple[str, ...]:
    """The texts of all drafts of the request's node that were not rejected."""
    node = DraftRequest.objects.filter(pk=request_id).values("node")
    kept = TaskDraft.objects.filter(node__in=node).exclude(state=DraftState.REJECTED)
    return tuple(kept.values_list("text", flat=True))


@transaction.atomic(durable=True)
def draft_cell_store(
    *, request_id: UUID, drafts: tuple[DraftContent, ...], left_out: tuple[LeftOut, ...], prompt_sha256: str
) -> bool:
    """Keep what became of a cell. False, and nothing is kept, where the request was cancelled."""
    request = DraftRequest.objects.select_for_update().filter(pk=request_id, status=WritingState.RUNNING).first()
    if request is None:
        return False
    TaskDraft.objects.bulk_create(
        TaskDraft(
            node_id=request.node_id,
            request=request,
            prompt_sha256=prompt_sha256,
            original=draft.text,
            **draft_columns(draft),
        )
        for draft in drafts
    )
    request.cells_done += 1
    request.left_out = (*request.left_out, *left_out)[:MAX_LEFT_OUT]
    request.save(update_fields=["cells_done", "left_out"])
    return True


@transaction.atomic(durable=True)
def draft_request_end(*, request_id: UUID, error: str = "") -> None:
    """It has ended, with an error or without; one that was cancelled stays so."""
    request_end(DraftRequest.objects.filter(pk=request_id), error=error)


def draft_columns(content: DraftContent) -> dict[str, object]:
    """What a draft says, as its row has it."""
    return {
        "text": content.text,
        "expertise": content.expertise,
        "applications": list(content.applications),
        "persona": content.persona,
        "preconditions": list(content.preconditions),
        "criteria": list(content.criteria),
        "rubric": content.rubric,
    }


def drafts_written(*, request_id: UUID) -> int:
    """The number of drafts that a request made."""
    return TaskDraft.objects.filter(request_id=request_id).count()
