"""The manager over HTTP: leases and claims, and what an operator reads and sets."""

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from pydantic import TypeAdapter
from starlette.types import Receive

from vm_bridge.errors import StaleLease, UnknownHost
from vm_bridge.fleet import HostInfo, ImageInfo, Loss, MachineInfo, Quota, Renewal, Waiter, Waiting
from vm_bridge.ledger.leases import Ask
from vm_bridge.machine import Lease
from vm_bridge.manager.manager import Manager
from vm_bridge.wire import (
    FENCING_HEADER,
    Allocate,
    Drain,
    Held,
    Name,
    Reclaim,
    Renew,
    RenewMany,
    RequestId,
    Warm,
    Words,
)

Token = Annotated[int, Header(alias=FENCING_HEADER, ge=1)]
JSON = "application/json"
RENEWALS = TypeAdapter(tuple[Renewal, ...])
QUEUED: dict[int | str, dict[str, Any]] = {202: {"model": Waiting, "description": "A place in the queue."}}
routes = APIRouter(prefix="/v1")


async def _manager(request: Request) -> Manager:  # a plain function would go through a thread
    manager: Manager = request.app.state.bridge.manager
    return manager


Managed = Annotated[Manager, Depends(_manager)]


async def _gone(request: Request) -> Receive:
    return request.receive


Gone = Annotated[Receive, Depends(_gone)]
"""Gives something more only when the asker has gone."""


@routes.post("/leases", response_model=Lease, responses=QUEUED)
async def allocate(gone: Gone, manager: Managed, body: Allocate) -> Response:
    """Lease a machine, waiting for one if need be. Safe to repeat under one `request_id`."""
    ask = Ask(
        request=body.request_id or uuid.uuid4().hex,
        image=body.image,
        holder=body.holder,
        user=body.user,
        pool=body.pool,
        session=body.session,
        ttl=body.ttl,
    )
    return _given(await manager.allocate(ask, wait=body.wait, gone=gone))


@routes.post("/leases/renew", response_model=tuple[Renewal, ...])
async def renew_many(manager: Managed, body: RenewMany) -> Response:
    """Put the ends of many leases off; each has its own answer."""
    leases = [(lease.machine_id, lease.fencing_token) for lease in body.leases]
    renewals = await manager.leases.renew(leases, ttl=body.ttl)
    return Response(RENEWALS.dump_json(renewals), media_type=JSON)


@routes.post("/leases/{machine_id}/renew")
async def renew(manager: Managed, machine_id: Name, token: Token, body: Renew) -> Lease:
    """Put the end of a lease off; says why where it has ended."""
    return await manager.leases.extend(machine_id, token, ttl=body.ttl)


@routes.get("/leases/{machine_id}", status_code=204)
async def check(manager: Managed, machine_id: Name, token: Token) -> None:
    """Whether a lease holds its machine now; says why where it has ended."""
    await manager.ledger.check(machine_id, token)


@routes.delete("/leases/{machine_id}", status_code=204)
async def release(manager: Managed, machine_id: Name, token: Token) -> Response:
    """End a lease; idempotent."""
    await manager.leases.release(machine_id, token)
    return Response(status_code=204)


@routes.get("/claims/{request_id}", response_model=Lease, responses=QUEUED)
async def claim(manager: Managed, request_id: RequestId) -> Response:
    """How a request for a machine stands; asking keeps its place."""
    return _given(await manager.leases.look(request_id))


@routes.delete("/claims/{request_id}", status_code=204)
async def cancel(manager: Managed, request_id: RequestId) -> None:
    """Give a request up, whether it waits or has its machine; idempotent."""
    await manager.leases.cancel(request_id)


@routes.post("/claims/{request_id}/decline", status_code=204)
async def decline(manager: Managed, request_id: RequestId, body: Held) -> None:
    """Have a machine dropped that did not answer; the same request then gets another. Idempotent."""
    await manager.leases.decline(request_id, body.machine_id, body.fencing_token)


def _given(answer: Lease | Waiting) -> Response:
    return Response(answer.model_dump_json(), 202 if isinstance(answer, Waiting) else 200, media_type=JSON)


@routes.get("/machines")
async def machines(manager: Managed, session: Annotated[Words | None, Query()] = None) -> tuple[MachineInfo, ...]:
    """Every machine with its state, holder and cost, or those a session holds."""
    return await manager.overview.machines(session=session)


@routes.post("/machines/{machine_id}/reclaim", status_code=204)
async def reclaim(manager: Managed, machine_id: Name, body: Reclaim) -> None:
    """Take a machine from its holder, who is told the reason."""
    if not await manager.leases.reclaim(machine_id, body.reason):
        raise StaleLease(f"nobody holds {machine_id}")


@routes.get("/losses")
async def losses(manager: Managed) -> tuple[Loss, ...]:
    """The last machines that ended under their leases, the newest first."""
    return await manager.overview.losses()


@routes.get("/hosts")
async def hosts(manager: Managed) -> tuple[HostInfo, ...]:
    """The places that make machines."""
    return await manager.overview.hosts()


@routes.put("/hosts/{host}/draining", status_code=204)
async def drain(manager: Managed, host: Annotated[Name, Path()], body: Drain) -> None:
    """Give no machine of a host to anybody any more, and end each when its lease does; or take that back."""
    if not await manager.overview.drain(host, body.draining):
        raise UnknownHost(f"there is no host {host}")


@routes.get("/queue")
async def queue(manager: Managed) -> tuple[Waiter, ...]:
    """Who waits for machines, in the order in which they are served."""
    return await manager.overview.queue()


@routes.get("/images")
async def images(manager: Managed) -> tuple[ImageInfo, ...]:
    """The images hosts have, and how many machines of each are ready."""
    return await manager.overview.images()


@routes.put("/images/{image}/warm", status_code=204)
async def warm(manager: Managed, image: Name, body: Warm) -> None:
    """Keep so many machines of an image ready."""
    await manager.overview.warm_set(image, body.count, at_least=body.at_least)


@routes.get("/quotas")
async def quotas(manager: Managed) -> tuple[Quota, ...]:
    """How many machines users and pools may hold at once."""
    return await manager.overview.quotas()


@routes.put("/quotas", status_code=204)
async def quota_set(manager: Managed, body: Quota) -> None:
    """Set or lift a limit; machines held beyond it stay with their holders."""
    await manager.overview.quota_set(body)
