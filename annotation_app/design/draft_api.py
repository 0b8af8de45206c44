"""HTTP routes of task drafts. Admins write and decide; researchers read."""

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest
from ninja import Path, Query, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.design import jobs, services
from annotation_app.design.draft_replies import DraftContent
from annotation_app.design.draft_schemas import (
    DraftAcceptIn,
    DraftCheck,
    DraftCheckIn,
    DraftFilters,
    DraftIn,
    DraftRejectIn,
    DraftReopenIn,
    DraftRequestIn,
    DraftRequestOut,
    DraftsAccepted,
    DraftsOverview,
    DraftsPage,
)
from annotation_app.design.selectors import drafts as selectors
from protocol.base import FrozenModel

router = Router(tags=["design"], auth=TOKEN_OR_SESSION_AUTH)
RowId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


class DraftAdded(FrozenModel):
    """The draft that was made."""

    id: int


@router.get("/design/drafts/overview", response=DraftsOverview)
def drafts_overview(request: HttpRequest) -> DraftsOverview:
    """The nodes with their waiting drafts, and the models and pools that drafts can be asked of and sent to."""
    return selectors.drafts_overview(user=user_of(request))


@router.get("/design/drafts", response=DraftsPage)
def drafts_list(
    request: HttpRequest,
    filters: Query[DraftFilters],
    node: Annotated[int, Query(), Field(ge=1, le=2**31 - 1)],
    after: Annotated[int, Query(), Field(ge=0, le=2**31 - 1)] = 0,
) -> DraftsPage:
    """Drafts of a node and all below it, each with drafts that say the same."""
    return selectors.drafts_page(user=user_of(request), node_id=node, filters=filters, after=after)


@router.post("/design/drafts", response={201: DraftAdded})
def draft_add(request: HttpRequest, body: DraftIn) -> Status[DraftAdded]:
    """Write a draft."""
    return Status(201, DraftAdded(id=services.draft_add(user=user_of(request), wanted=body).pk))


@router.post("/design/drafts/check", response=list[DraftCheck])
def drafts_check(request: HttpRequest, body: DraftCheckIn) -> list[DraftCheck]:
    """Which of these drafts say the same as another draft of their application, or as a task of the pool."""
    return list(selectors.drafts_check(user=user_of(request), wanted=body))


@router.post("/design/drafts/accept", response={201: DraftsAccepted})
def drafts_accept(request: HttpRequest, body: DraftAcceptIn) -> Status[DraftsAccepted]:
    """Make drafts tasks of a pool, all or none; refused (`near_duplicates`) where one says the same as another, unless
    that is confirmed."""
    tasks = services.drafts_accept(user=user_of(request), wanted=body)
    return Status(201, DraftsAccepted(tasks=tuple(task.pk for task in tasks)))


@router.post("/design/drafts/reject", response={204: None})
def drafts_reject(request: HttpRequest, body: DraftRejectIn) -> Status[None]:
    """Reject drafts, with the reason."""
    services.drafts_reject(user=user_of(request), wanted=body)
    return Status(204, None)


@router.post("/design/drafts/reopen", response={204: None})
def drafts_reopen(request: HttpRequest, body: DraftReopenIn) -> Status[None]:
    """Return rejected drafts to the queue for a decision."""
    services.drafts_reopen(user=user_of(request), wanted=body)
    return Status(204, None)


@router.post("/design/draft-requests", response={202: DraftRequestOut})
def drafts_request(request: HttpRequest, body: DraftRequestIn) -> Status[DraftRequestOut]:
    """Request drafts from a model, in the background."""
    return Status(202, jobs.drafting_start(user=user_of(request), wanted=body))


@router.post("/design/draft-requests/{uuid:request_id}/cancel", response={204: None})
def drafts_cancel(request: HttpRequest, request_id: UUID) -> Status[None]:
    """Cancel a request for drafts. Existing drafts stay."""
    services.draft_request_cancel(user=user_of(request), request_id=request_id)
    return Status(204, None)


@router.patch("/design/drafts/{draft_id}", response={204: None})
def draft_change(request: HttpRequest, draft_id: RowId, body: DraftContent) -> Status[None]:
    """Edit a draft that waits for a decision."""
    services.draft_change(user=user_of(request), draft_id=draft_id, content=body)
    return Status(204, None)
