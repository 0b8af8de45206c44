"""HTTP routes of the annotation page and the queue."""

from typing import Annotated, Literal
from urllib.parse import urlsplit
from uuid import UUID

from django.http import HttpRequest
from ninja import Router
from pydantic import Field, StringConstraints

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.episodes import selectors, services
from annotation_app.episodes.schemas import EpisodeSummary
from annotation_app.episodes.selectors import trajectories
from annotation_app.errors import Forbidden
from annotation_app.live import stream_tickets
from annotation_app.live.schemas import IceServerOut
from annotation_app.tasks.schemas import PoolSummary
from annotation_app.tasks.selectors import pools_of
from protocol.base import FrozenModel
from protocol.messages.events import Snapshot

router = Router(tags=["desk"])


class Queue(FrozenModel):
    """A person's open, returned and recently ended episodes, and what waits."""

    current: tuple[EpisodeSummary, ...]
    returned: tuple[EpisodeSummary, ...]
    recent: tuple[EpisodeSummary, ...]
    pools: tuple[PoolSummary, ...]


class NextIn(FrozenModel):
    """The pool to claim from, or `after`, an episode whose pool to claim from. Practice tasks come only on request."""

    pool_id: Annotated[int, Field(ge=1)] | None = None
    after: UUID | None = None
    practice: bool = False


class NextOut(FrozenModel):
    """The episode to work on; None when nothing waits."""

    episode_id: UUID | None


class TicketIn(FrozenModel):
    """The kind of stream that the ticket is for."""

    kind: Literal["webrtc", "vnc", "stills", "terminal"]


class PreviewIn(FrozenModel):
    """The web program of the machine that the ticket is for, and the page to open."""

    kind: Literal["proxy"]
    port: Annotated[int, Field(ge=1, le=65_535)]
    path: Annotated[str, StringConstraints(max_length=2_000, pattern=r"^[!-~]*$")] = ""


class ProgramIn(FrozenModel):
    """A request to connect the caller's own program to the machine's browser."""

    kind: Literal["cdp"]


class TicketOut(FrozenModel):
    """A single-use ticket, where to redeem it, its lifetime (seconds), and the STUN and TURN servers for WebRTC
    there."""

    ticket: str
    url: str
    expires_in: float
    ice_servers: tuple[IceServerOut, ...] = ()


@router.get("/queue", response=Queue, auth=TOKEN_OR_SESSION_AUTH)
def queue_get(request: HttpRequest) -> Queue:
    """The content of the queue page."""
    user = user_of(request)
    return Queue(
        current=selectors.episodes_current(user=user),
        returned=selectors.episodes_returned(user=user),
        recent=selectors.episodes_recent(user=user),
        pools=tuple(pools_of(user=user)),
    )


@router.post("/queue/next", response=NextOut)
def queue_next(request: HttpRequest, body: NextIn) -> NextOut:
    """Resume the open episode, else claim the next task."""
    user, pool_id = user_of(request), body.pool_id
    if pool_id is None and body.after is not None:
        pool_id = selectors.episode_of(user=user, episode_id=body.after).task.pool_id
    episode = services.episode_next(user=user, pool_id=pool_id, practice=body.practice)
    return NextOut(episode_id=episode.id if episode else None)


@router.get("/episodes/{uuid:episode_id}", response=Snapshot, auth=TOKEN_OR_SESSION_AUTH)
def episode_snapshot(request: HttpRequest, episode_id: UUID, steps: bool = True) -> Snapshot:
    """A snapshot of the whole state. `control` depends on the socket, so it carries no information here. `steps=false`
    leaves out the steps, for a page that reads them from the trajectory."""
    selectors.episode_of(user=user_of(request), episode_id=episode_id)
    return Snapshot(state=trajectories.episode_state(episode_id=episode_id, with_steps=steps), control="nobody")


@router.post("/episodes/{uuid:episode_id}/tickets", response=TicketOut)
def ticket_make(request: HttpRequest, episode_id: UUID, body: TicketIn | PreviewIn | ProgramIn) -> TicketOut:
    """A ticket for the live picture, the live terminals, a web program of the machine, or a program that connects to
    its browser. The two kinds for programs require the right to act in the episode, because programs change the
    machine."""
    user = user_of(request)
    selectors.episode_of(user=user, episode_id=episode_id)
    host = urlsplit(f"//{request.get_host()}").hostname or ""
    turn_servers = stream_tickets.ice_servers(user.username) if body.kind == "webrtc" else ()
    ttl = stream_tickets.PROGRAM_TICKET_TTL_SECONDS if body.kind == "cdp" else stream_tickets.TICKET_TTL_SECONDS
    if isinstance(body, TicketIn):
        ticket, url = stream_tickets.ticket_mint(kind=body.kind, user=user.username, episode_id=episode_id, host=host)
    elif not selectors.episode_access(user=user, episode_id=episode_id).steers:
        raise Forbidden("Only the annotator of an episode may use its machine's programs.")
    elif isinstance(body, ProgramIn):
        ticket, url = stream_tickets.cdp_mint(user=user.username, episode_id=episode_id, host=host)
    else:
        ticket, url = stream_tickets.preview_mint(
            user=user.username, episode_id=episode_id, port=body.port, path=body.path, host=host
        )
    return TicketOut(ticket=ticket, url=url, expires_in=ttl, ice_servers=turn_servers)
