"""HTTP routes of the catalogue, for researchers, admins and reviewers."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Query, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.catalogue import schemas, selectors, services
from annotation_app.http_api import ShortText

router = Router(tags=["catalogue"], auth=TOKEN_OR_SESSION_AUTH)
RowId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


@router.get("/trajectories", response=schemas.FoundPage)
def trajectories_list(
    request: HttpRequest, query: Annotated[schemas.Query, Query()], after: ShortText | None = None
) -> schemas.FoundPage:
    """A page of a query's results, newest first."""
    return selectors.found_page(user=user_of(request), query=query, after=after)


@router.get("/trajectories/facets", response=schemas.Facets)
def trajectories_facets(request: HttpRequest, query: Annotated[schemas.Query, Query()]) -> schemas.Facets:
    """Facet counts of a query's results."""
    return selectors.facets(user=user_of(request), query=query)


@router.get("/queries", response=list[schemas.SavedQueryOut])
def queries_list(request: HttpRequest) -> list[schemas.SavedQueryOut]:
    """All saved queries."""
    return list(selectors.saved_queries(user=user_of(request)))


@router.post("/queries", response={201: schemas.SavedQueryOut})
def query_save(request: HttpRequest, body: schemas.SavedQueryIn) -> Status[schemas.SavedQueryOut]:
    """Save a query."""
    return Status(201, services.query_save(user=user_of(request), name=body.name, query=body.query))


@router.get("/queries/{query_id}", response=schemas.SavedQueryOut)
def query_get(request: HttpRequest, query_id: RowId) -> schemas.SavedQueryOut:
    """One saved query. Its address does not change."""
    return selectors.saved_query(user=user_of(request), query_id=query_id)


@router.delete("/queries/{query_id}", response={204: None})
def query_delete(request: HttpRequest, query_id: RowId) -> Status[None]:
    """Delete a saved query of one's own."""
    services.query_delete(user=user_of(request), query_id=query_id)
    return Status(204, None)
