"""HTTP routes of the wall, for reviewers and admins."""

from typing import Annotated
from urllib.parse import urlsplit
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.wall import selectors
from annotation_app.wall.schemas import WallPage, WallStream
from annotation_app.wall.selectors import PAGE_SIZE
from protocol.base import FrozenModel

router = Router(tags=["desk"])


class WallTicketsIn(FrozenModel):
    """The sessions whose pictures are in view."""

    episodes: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=PAGE_SIZE)]


@router.get("/wall", response=WallPage, auth=TOKEN_OR_SESSION_AUTH)
def wall_get(request: HttpRequest, page: Annotated[int, Query(), Field(ge=1, le=1_000)] = 1) -> WallPage:
    """Running episodes, those waiting for help first."""
    return selectors.wall_page(user=user_of(request), page=page)


@router.post("/wall/tickets", response=list[WallStream])
def wall_tickets(request: HttpRequest, body: WallTicketsIn) -> list[WallStream]:
    """Single-use tickets for small pictures of sessions, by bridge host."""
    host = urlsplit(f"//{request.get_host()}").hostname or ""
    return list(selectors.wall_tickets(user=user_of(request), episodes=body.episodes, host=host))
