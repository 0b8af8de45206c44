"""HTTP routes of task design. Admins change; researchers read."""

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import File, Form, Path, Query, Router, Status
from ninja.files import UploadedFile
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.design import jobs, selectors, services
from annotation_app.design.graph import LARGEST, GraphFormat, graph_csv
from annotation_app.design.schemas import (
    DesignPage,
    GraphReport,
    GraphRow,
    NodeChange,
    NodeIn,
    PlacedPage,
    PlacementIn,
    WordingIn,
    WriterIn,
    WritingIn,
    WritingOut,
)
from annotation_app.errors import TooLarge
from annotation_app.spreadsheets import spreadsheet_response
from protocol.base import FrozenModel

router = Router(tags=["design"], auth=TOKEN_OR_SESSION_AUTH)
RowId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


class MadeOut(FrozenModel):
    """What was made."""

    id: int


@router.get("/design", response=DesignPage)
def design_get(request: HttpRequest) -> DesignPage:
    """The graph, its coverage, and its largest gaps."""
    return selectors.design_page(user=user_of(request))


@router.get("/design/tasks", response=PlacedPage)
def design_tasks(
    request: HttpRequest,
    node: Annotated[int | None, Query(), Field(ge=1, le=2**31 - 1)] = None,
    level: Annotated[int | None, Query(), Field(ge=1, le=5)] = None,
    after: Annotated[int, Query(), Field(ge=0, le=2**31 - 1)] = 0,
) -> PlacedPage:
    """The tasks under a node, or without a node those that have no place in the graph."""
    return selectors.placed_page(user=user_of(request), node_id=node, level=level, after=after)


@router.get("/design/graph.csv", response={200: None})
def graph_download(request: HttpRequest) -> HttpResponse:
    """Every node by its path, for a spreadsheet."""
    return spreadsheet_response(graph_csv(selectors.graph_rows(user=user_of(request))), name="pilothouse-graph.csv")


@router.get("/design/graph.json", response=list[GraphRow])
def graph_document(request: HttpRequest) -> list[GraphRow]:
    """The same for programs."""
    return list(selectors.graph_rows(user=user_of(request)))


@router.post("/design/graph", response=GraphReport)
def graph_upload(
    request: HttpRequest,
    file: Annotated[UploadedFile, File()],
    kind: Annotated[GraphFormat, Form()],
    preview: Annotated[bool, Form()] = False,
) -> GraphReport:
    """Add the nodes of a file and apply its importances. If a row is wrong, nothing is changed."""
    if (file.size or 0) > LARGEST:
        raise TooLarge(f"A graph may have {LARGEST} bytes.")
    return services.graph_import(user=user_of(request), data=file.read(), form=kind, preview=preview)


@router.post("/design/suites", response=GraphReport)
def suites_derive(request: HttpRequest) -> GraphReport:
    """Place unplaced tasks of bundled suites by the metadata of their suites."""
    return services.suites_derive(user=user_of(request))


@router.post("/design/nodes", response={201: MadeOut})
def node_make(request: HttpRequest, body: NodeIn) -> Status[MadeOut]:
    """Make a node."""
    return Status(201, MadeOut(id=services.node_make(user=user_of(request), wanted=body).pk))


@router.patch("/design/nodes/{node_id}", response={204: None})
def node_change(request: HttpRequest, node_id: RowId, body: NodeChange) -> Status[None]:
    """Change a node's name or importance."""
    services.node_change(user=user_of(request), node_id=node_id, wanted=body)
    return Status(204, None)


@router.delete("/design/nodes/{node_id}", response={204: None})
def node_delete(request: HttpRequest, node_id: RowId) -> Status[None]:
    """Remove a node and all below it from the graph. Tasks stay in their pools."""
    services.node_delete(user=user_of(request), node_id=node_id)
    return Status(204, None)


@router.post("/design/placements", response={204: None})
def tasks_place(request: HttpRequest, body: PlacementIn) -> Status[None]:
    """Set the places of tasks and their difficulty."""
    services.tasks_place(user=user_of(request), wanted=body)
    return Status(204, None)


@router.post("/design/writers", response={201: MadeOut})
def writer_add(request: HttpRequest, body: WriterIn) -> Status[MadeOut]:
    """Add a model that words instructions."""
    return Status(201, MadeOut(id=services.writer_add(user=user_of(request), wanted=body).pk))


@router.delete("/design/writers/{writer_id}", response={204: None})
def writer_delete(request: HttpRequest, writer_id: RowId) -> Status[None]:
    """Delete a model that worded nothing."""
    services.writer_delete(user=user_of(request), writer_id=writer_id)
    return Status(204, None)


@router.post("/tasks/{task_id}/wordings", response={202: WritingOut})
def wordings_ask(request: HttpRequest, task_id: RowId, body: WritingIn) -> Status[WritingOut]:
    """Request new wordings of a task's instruction from a model, in the background."""
    return Status(202, jobs.writing_start(user=user_of(request), task_id=task_id, wanted=body))


@router.post("/wordings/{uuid:writing_id}/cancel", response={204: None})
def wordings_cancel(request: HttpRequest, writing_id: UUID) -> Status[None]:
    """Cancel a request for wordings."""
    services.writing_cancel(user=user_of(request), writing_id=writing_id)
    return Status(204, None)


@router.post("/suggestions/{suggestion_id}/accept", response={201: MadeOut})
def suggestion_accept(request: HttpRequest, suggestion_id: RowId, body: WordingIn) -> Status[MadeOut]:
    """Make a wording, edited or not, a task of the pool."""
    task = services.suggestion_accept(user=user_of(request), suggestion_id=suggestion_id, text=body.text)
    return Status(201, MadeOut(id=task.pk))


@router.post("/suggestions/{suggestion_id}/reject", response={204: None})
def suggestion_reject(request: HttpRequest, suggestion_id: RowId) -> Status[None]:
    """Reject a wording."""
    services.suggestion_reject(user=user_of(request), suggestion_id=suggestion_id)
    return Status(204, None)
