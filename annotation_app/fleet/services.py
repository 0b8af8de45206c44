"""The fleet as the bridge reports it, and an admin's changes. Each change is in the audit log."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeVar
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.audit.services import audit_record
from annotation_app.audit.verbs import Verb
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors.prepared_requests import PreparedRequestCost, prepared_request_costs
from annotation_app.errors import Conflict, Forbidden, NotFound
from annotation_app.live.stream_tickets import TICKET_TTL_SECONDS, host_key, stream_url
from annotation_app.notifications.services.notices import notice_create
from annotation_app.tasks.models import Pool
from annotation_app.tasks.selectors import pools_by_image
from protocol.base import FrozenModel
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.fleet_client import FleetClient
from vm_bridge.api.tickets import TicketClaim, mint_ticket
from vm_bridge.errors import BridgeError, StaleLease, UnknownHost
from vm_bridge.fleet import HostInfo, ImageInfo, LostMachine, MachineInfo, MachineKind, MachineState, QueueEntry, Quota

WatchableStream = Literal["webrtc", "vnc", "stills"]
EACH = "*"
"""The name of the default quota."""
LEASING_PROGRAMS = frozenset({"environment", "rollout", "sandbox"})
"""The names under which programs of `agent_backend` lease machines."""
T = TypeVar("T")


class FleetMachine(FrozenModel):
    """One machine and its holder."""

    id: str
    kind: MachineKind | None
    image: str
    host: str
    state: MachineState
    since: datetime
    holder: str | None
    user: str | None
    pool: str | None
    session: str | None
    expires_at: datetime | None
    last_act: datetime | None
    cpu_share: float | None
    """Fraction of one core."""
    memory_bytes: int | None
    watchable: bool
    """Whether it has a picture that an admin may view now."""


class MissingImage(FrozenModel):
    """A machine image that pools need and no host provides. Their episodes cannot begin."""

    image: str
    pools: tuple[str, ...]


class Fleet(FrozenModel):
    """The fleet at `at`. Parts of it may differ by some milliseconds."""

    at: datetime
    machines: tuple[FleetMachine, ...]
    hosts: tuple[HostInfo, ...]
    images: tuple[ImageInfo, ...]
    queue: tuple[QueueEntry, ...]
    losses: tuple[LostMachine, ...]
    quotas: tuple[Quota, ...]
    missing: tuple[MissingImage, ...]


def fleet_now(*, user: User) -> Fleet:
    """The current state. Raises Forbidden, and Conflict when the bridge does not answer."""
    fleet = _query_as_admin(user, _fetch_fleet)
    return fleet.model_copy(update={"missing": missing_images(fleet.hosts)})


def prepared_costs(*, user: User, days: int) -> tuple[PreparedRequestCost, ...]:
    """Cost of prepared requests by day and pool, for the last `days` days including today. Raises Forbidden."""
    if not user.has_role(Role.ADMIN):
        raise Forbidden("Machines are for admins.")
    today = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    return prepared_request_costs(since=today - timedelta(days=days - 1))


def missing_images(hosts: Iterable[HostInfo], *, waiting: bool = False) -> tuple[MissingImage, ...]:
    """Images that no host provides, of pools that may assign tasks. With `waiting`, only of those with waiting
    tasks."""
    made = {image for host in hosts for image in host.images}
    needed = pools_by_image(waiting=waiting).items()
    return tuple(MissingImage(image=image, pools=tuple(pools)) for image, pools in needed if image not in made)


def hosts_now(*, within: float) -> tuple[HostInfo, ...]:
    """The machine hosts, for checks of the platform itself. Raises Conflict when the bridge does not answer, and
    TimeoutError when it takes longer than `within` seconds."""

    async def soon(fleet: FleetClient) -> tuple[HostInfo, ...]:
        async with asyncio.timeout(within):
            return await fleet.hosts()

    return _query_fleet(soon)


def thumbnail(*, user: User, machine_id: str) -> bytes:
    """A small JPEG of a machine's screen. Raises Forbidden, NotFound, Conflict."""

    async def look(fleet: FleetClient) -> bytes:
        return await fleet.thumbnail(await _get_machine(fleet, machine_id))

    return _query_as_admin(user, look)


def watch(*, user: User, machine_id: str, kind: WatchableStream, host: str) -> tuple[str, str]:
    """A ticket for the picture of a leased machine, and where to redeem it. Raises Forbidden, NotFound, Conflict."""
    machine = _query_as_admin(user, lambda fleet: _get_machine(fleet, machine_id))
    if machine.fencing_token is None:
        raise Conflict("This machine is not leased, so there is nothing to watch.", code="not_leased")
    claim = TicketClaim(
        kind=kind,
        user=user.username,
        episode=machine.session or "",
        machine_id=machine.id,
        fencing_token=machine.fencing_token,
    )
    _audit(user, "machine.watch", f"machine:{machine.id}", session=machine.session)
    ticket = mint_ticket(host_key(machine.host), claim, ttl=TICKET_TTL_SECONDS)
    return ticket, stream_url(kind, ticket, host=host, bridge=machine.host)


def reclaim(*, user: User, machine_id: str, reason: str) -> None:
    """Reclaim a machine from its holder, who is notified with the reason. Raises Forbidden, NotFound, Conflict."""

    async def take(fleet: FleetClient) -> MachineInfo:
        machine = await _get_machine(fleet, machine_id)
        await fleet.reclaim(machine.id, reason=reason)
        return machine

    machine = _query_as_admin(user, take)
    details = {"reason": reason, "holder": machine.holder, "session": machine.session}
    _audit(user, "machine.reclaim", f"machine:{machine.id}", **details)
    _notify_annotator(machine.session, reason)


def drain(*, user: User, host: str, draining: bool) -> None:
    """Drain a host as its leases end, or undo that. Raises Forbidden, NotFound, Conflict."""
    _query_as_admin(user, lambda fleet: fleet.set_draining(host, draining=draining))
    _audit(user, "host.drain" if draining else "host.undrain", f"host:{host}")


def warm(*, user: User, image: str, count: int) -> None:
    """Keep this many machines of an image ready. Raises Forbidden, NotFound, Conflict."""

    async def keep(fleet: FleetClient) -> None:
        if image not in {known.name for known in await fleet.images()}:
            raise NotFound(f"There is no image {image}.", field="image")
        await fleet.set_warm_target(image=image, count=count)

    _query_as_admin(user, keep)
    _audit(user, "image.warm", f"image:{image}", count=count)


def quota_set(*, user: User, scope: Literal["user", "pool"], name: str, limit: int | None) -> None:
    """Set or remove a limit. Raises Forbidden, Conflict, and NotFound for a limit on an unknown name, which would limit
    nothing. A limit can be removed for any name."""
    if user.has_role(Role.ADMIN) and limit is not None and not _holds_machines(scope, name):
        raise NotFound(f"There is no {'person' if scope == 'user' else 'pool'} with this name.", field="name")
    _query_as_admin(user, lambda fleet: fleet.set_quota(Quota(scope=scope, name=name, limit=limit)))
    _audit(user, "quota.set", f"quota:{scope}:{name}", limit=limit)


def _holds_machines(scope: Literal["user", "pool"], name: str) -> bool:
    """Whether this name may lease machines: of a person, a pool, or a program that leases by itself."""
    if name == EACH:
        return True
    if scope == "pool":
        return Pool.objects.filter(name=name).exists()
    return name in LEASING_PROGRAMS or User.objects.filter(username=name).exists()


def _query_as_admin(user: User, question: Callable[[FleetClient], Awaitable[T]]) -> T:
    """Query the bridge as an admin. Raises Forbidden, NotFound, Conflict."""
    if not user.has_role(Role.ADMIN):
        raise Forbidden("Machines are for admins.")
    return _query_fleet(question)


def _query_fleet(question: Callable[[FleetClient], Awaitable[T]]) -> T:
    """Query the bridge. Raises NotFound, Conflict."""

    async def query() -> T:
        async with BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge:
            return await question(bridge.fleet)

    try:
        return async_to_sync(query)()
    except StaleLease as error:
        raise Conflict("This machine is no longer leased.", code="not_leased") from error
    except UnknownHost as error:
        raise NotFound(str(error), field="host") from error
    except BridgeError as error:
        raise Conflict(str(error), code=error.code) from error


async def _fetch_fleet(fleet: FleetClient) -> Fleet:
    task = asyncio.ensure_future
    first = task(fleet.machines()), task(fleet.hosts()), task(fleet.images())
    others = task(fleet.queue()), task(fleet.losses()), task(fleet.quotas())
    # If one fails, still wait for the others: their connections must not outlive the client.
    await asyncio.wait((*first, *others))
    for failed in [one.exception() for one in (*first, *others)]:
        if failed is not None:
            raise failed
    machines, hosts, images = await asyncio.gather(*first)
    queue, losses, quotas = await asyncio.gather(*others)
    return Fleet(
        at=datetime.now(UTC),
        machines=tuple(map(_machine, machines)),
        hosts=hosts,
        images=images,
        queue=queue,
        losses=losses,
        quotas=quotas,
        missing=(),
    )


async def _get_machine(fleet: FleetClient, machine_id: str) -> MachineInfo:
    machine = next((known for known in await fleet.machines() if known.id == machine_id), None)
    if machine is None:
        raise NotFound("There is no such machine any more.", field="machine_id")
    return machine


def _notify_annotator(session: str | None, reason: str) -> None:
    """Tell the annotator of the episode that had the machine why it is gone."""
    try:
        episode = Episode.objects.select_related("annotator").filter(pk=UUID(session or "")).first()
    except ValueError:
        return
    if episode is not None:
        subject, details = f"episode:{episode.pk}", {"reason": reason}
        notice_create(user=episode.annotator, kind="machine.taken", subject=subject, details=details)


def _audit(user: User, verb: Verb, subject: str, **details: object) -> None:
    audit_record(actor=user, verb=verb, subject=subject, details=details)


def _machine(machine: MachineInfo) -> FleetMachine:
    watchable = machine.fencing_token is not None and machine.kind in ("desktop", "phone")
    visible_fields = machine.model_dump(include=set(FleetMachine.model_fields))
    return FleetMachine(**visible_fields, watchable=watchable)
