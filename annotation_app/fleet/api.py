"""HTTP routes of the fleet, for admins."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router, Status
from pydantic import Field, StringConstraints

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.episodes.selectors.prepared_requests import PreparedRequestCost
from annotation_app.fleet import services
from annotation_app.fleet.services import Fleet, WatchableStream
from annotation_app.live.api import TicketOut
from annotation_app.live.stream_tickets import TICKET_TTL_SECONDS, ice_servers
from protocol.base import FrozenModel

router = Router(tags=["fleet"])
Name = Annotated[str, Path(), StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,100}$")]
Reason = Annotated[str, StringConstraints(min_length=1, max_length=500, strip_whitespace=True, pattern=r"^[^\x00]*$")]


class WatchIn(FrozenModel):
    """The kind of picture to watch."""

    kind: WatchableStream


class ReclaimIn(FrozenModel):
    """Why a machine is reclaimed. Its holder sees the reason."""

    reason: Reason


class DrainIn(FrozenModel):
    """Whether the host is to be emptied."""

    draining: bool


class WarmIn(FrozenModel):
    """How many machines to keep ready."""

    count: int = Field(ge=0, le=1_000)


class QuotaIn(FrozenModel):
    """A limit for one user or pool, or with `*` for each without its own; None removes it."""

    scope: Literal["user", "pool"]
    name: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
    limit: int | None = Field(ge=0, le=100_000)


@router.get("/fleet", response=Fleet, auth=TOKEN_OR_SESSION_AUTH)
def fleet_get(request: HttpRequest) -> Fleet:
    """Machines, hosts, images, queue, losses and quotas."""
    return services.fleet_now(user=user_of(request))


@router.get("/fleet/prepared-requests", response=list[PreparedRequestCost], auth=TOKEN_OR_SESSION_AUTH)
def prepared_requests_list(
    request: HttpRequest, days: Annotated[int, Query(ge=1, le=366)] = 14
) -> list[PreparedRequestCost]:
    """Cost by day and pool of prepared model requests, which are sent while a person reads."""
    return list(services.prepared_costs(user=user_of(request), days=days))


@router.get("/fleet/machines/{machine_id}/thumbnail", response={200: None})
def machine_thumbnail(request: HttpRequest, machine_id: Name) -> HttpResponse:
    """A small picture of the machine's screen."""
    data = services.thumbnail(user=user_of(request), machine_id=machine_id)
    return HttpResponse(data, content_type="image/jpeg", headers={"Cache-Control": "no-store"})


@router.post("/fleet/machines/{machine_id}/tickets", response=TicketOut)
def machine_watch(request: HttpRequest, machine_id: Name, body: WatchIn) -> TicketOut:
    """A ticket for the live picture of a leased machine."""
    host = urlsplit(f"//{request.get_host()}").hostname or ""
    user = user_of(request)
    ticket, url = services.watch(user=user, machine_id=machine_id, kind=body.kind, host=host)
    helped = ice_servers(user.username) if body.kind == "webrtc" else ()
    return TicketOut(ticket=ticket, url=url, expires_in=TICKET_TTL_SECONDS, ice_servers=helped)


@router.post("/fleet/machines/{machine_id}/reclaim", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def machine_reclaim(request: HttpRequest, machine_id: Name, body: ReclaimIn) -> Status[None]:
    """Reclaim a machine from its holder."""
    services.reclaim(user=user_of(request), machine_id=machine_id, reason=body.reason)
    return Status(204, None)


@router.post("/fleet/hosts/{host}/draining", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def host_drain(request: HttpRequest, host: Name, body: DrainIn) -> Status[None]:
    """Drain a host, or undo that."""
    services.drain(user=user_of(request), host=host, draining=body.draining)
    return Status(204, None)


@router.post("/fleet/images/{image}/warm", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def image_warm(request: HttpRequest, image: Name, body: WarmIn) -> Status[None]:
    """Set how many machines of an image are kept ready."""
    services.warm(user=user_of(request), image=image, count=body.count)
    return Status(204, None)


@router.post("/fleet/quotas", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def quota_set(request: HttpRequest, body: QuotaIn) -> Status[None]:
    """Set how many machines a user or a pool may hold at once."""
    services.quota_set(user=user_of(request), scope=body.scope, name=body.name, limit=body.limit)
    return Status(204, None)
