"""HTTP routes of the feed, for researchers, admins and their programs."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.catalogue import schemas as catalogue
from annotation_app.feed import selectors
from annotation_app.feed.schemas import FeedPage
from annotation_app.http_api import ShortText

router = Router(tags=["feed"], auth=TOKEN_OR_SESSION_AUTH)


@router.get("/feed", response=FeedPage)
def feed_list(
    request: HttpRequest,
    query: Annotated[catalogue.Query, Query()],
    ready_since: datetime | None = None,
    after: ShortText | None = None,
) -> FeedPage:
    """Trajectories that became ready at or after `ready_since`, oldest first."""
    return selectors.feed_page(user=user_of(request), query=query, ready_since=ready_since, after=after)


@router.get("/feed/{uuid:episode_id}", response={200: None})
def feed_get(request: HttpRequest, episode_id: UUID) -> StreamingHttpResponse:
    """One trajectory as a zip file: a folder in the export format, with its manifest."""
    folder = selectors.trajectory_archive_write(user=user_of(request), episode_id=episode_id)
    return StreamingHttpResponse(selectors.trajectory_archive_stream(folder), content_type="application/zip")
