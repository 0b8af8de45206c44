"""HTTP routes of the manager: leases, claims, and an operator's calls."""

import uuid
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response
from pydantic import TypeAdapter
from starlette.types import Receive

from vm_bridge.api.wire import (
    FENCING_HEADER,
    AllocateRequest,
    DrainRequest,
    LeaseRef,
    Name,
    ReclaimRequest,
    RenewManyRequest,
    RenewRequest,
    RequestId,
    ShortText,
    WarmTarget,
)
from vm_bridge.errors import StaleLease, UnknownHost
from vm_bridge.fleet import (
    HostInfo,
    ImageInfo,
    LostMachine,
    MachineInfo,
    QueueEntry,
    QueuePosition,
    Quota,
    RenewalResult,
)
from vm_bridge.leases.manager import LeaseManager
from vm_bridge.leases.store import ClaimRequest
from vm_bridge.machine import Lease

Token = Annotated[int, Header(alias=FENCING_HEADER, ge=1)]
JSON = "application/json"
RENEWALS = TypeAdapter(tuple[RenewalResult, ...])
QUEUED_RESPONSE: dict[int | str, dict[str, Any]] = {
    202: {"model": QueuePosition, "description": "A place in the queue."}
}
routes = APIRouter(prefix="/v1")


async def _manager(request: Request) -> LeaseManager:  # a plain function would go through a thread
    manager: LeaseManager = request.app.state.bridge.manager
    return manager


LeaseManagerDependency = Annotated[LeaseManager, Depends(_manager)]


async def _disconnect_receive(request: Request) -> Receive:
    return request.receive


DisconnectReceive = Annotated[Receive, Depends(_disconnect_receive)]
"""Sends its next message only when the client has disconnected."""


@routes.post("/leases", response_model=Lease, responses=QUEUED_RESPONSE)
async def allocate(
    wait_disconnect: DisconnectReceive, manager: LeaseManagerDependency, body: AllocateRequest
) -> Response:
    """Lease a machine, waiting for one if need be. Safe to repeat under one `request_id`."""
    claim_request = ClaimRequest(
        request=body.request_id or uuid.uuid4().hex,
        image=body.image,
        holder=body.holder,
        user=body.user,
        pool=body.pool,
        session=body.session,
        ttl=body.ttl,
    )
    return _claim_response(await manager.allocate(claim_request, wait=body.wait, wait_disconnect=wait_disconnect))


@routes.post("/leases/renew", response_model=tuple[RenewalResult, ...])
async def renew_many(manager: LeaseManagerDependency, body: RenewManyRequest) -> Response:
    """Extend many leases; each has its own result."""
    leases = [(lease.machine_id, lease.fencing_token) for lease in body.leases]
    renewals = await manager.leases.renew(leases, ttl=body.ttl)
    return Response(RENEWALS.dump_json(renewals), media_type=JSON)


@routes.post("/leases/{machine_id}/renew")
async def renew(manager: LeaseManagerDependency, machine_id: Name, token: Token, body: RenewRequest) -> Lease:
    """Extend a lease. If it has ended, the error gives the reason."""
    return await manager.leases.extend(machine_id, token, ttl=body.ttl)


@routes.get("/leases/{machine_id}", status_code=204)
async def check(manager: LeaseManagerDependency, machine_id: Name, token: Token) -> None:
    """Check that a lease holds its machine now. If it has ended, the error gives the reason."""
    await manager.lease_guard.check(machine_id, token)


@routes.delete("/leases/{machine_id}", status_code=204)
async def release(manager: LeaseManagerDependency, machine_id: Name, token: Token) -> Response:
    """End a lease; idempotent."""
    await manager.leases.release(machine_id, token)
    return Response(status_code=204)


@routes.get("/claims/{request_id}", response_model=Lease, responses=QUEUED_RESPONSE)
async def claim_status(manager: LeaseManagerDependency, request_id: RequestId) -> Response:
    """Status of a request for a machine. Each call keeps its place in the queue."""
    return _claim_response(await manager.leases.claim_status(request_id))


@routes.delete("/claims/{request_id}", status_code=204)
async def cancel(manager: LeaseManagerDependency, request_id: RequestId) -> None:
    """Cancel a request, whether it waits or has its machine; idempotent."""
    await manager.leases.cancel(request_id)


@routes.post("/claims/{request_id}/decline", status_code=204)
async def decline(manager: LeaseManagerDependency, request_id: RequestId, body: LeaseRef) -> None:
    """Reject a machine that did not answer; the same request then gets another. Idempotent."""
    await manager.leases.decline(request_id, body.machine_id, body.fencing_token)


def _claim_response(answer: Lease | QueuePosition) -> Response:
    return Response(answer.model_dump_json(), 202 if isinstance(answer, QueuePosition) else 200, media_type=JSON)


@routes.get("/machines")
async def machines(
    manager: LeaseManagerDependency, session: Annotated[ShortText | None, Query()] = None
) -> tuple[MachineInfo, ...]:
    """Every machine with its state, holder and cost, or those a session holds."""
    return await manager.overview.machines(session=session)


@routes.post("/machines/{machine_id}/reclaim", status_code=204)
async def reclaim(manager: LeaseManagerDependency, machine_id: Name, body: ReclaimRequest) -> None:
    """Take a machine from its holder, who gets the reason."""
    if not await manager.leases.reclaim(machine_id, body.reason):
        raise StaleLease(f"{machine_id} is not leased")


@routes.get("/losses")
async def losses(manager: LeaseManagerDependency) -> tuple[LostMachine, ...]:
    """The last machines that ended under their leases, the newest first."""
    return await manager.overview.losses()


@routes.get("/hosts")
async def hosts(manager: LeaseManagerDependency) -> tuple[HostInfo, ...]:
    """The machine hosts."""
    return await manager.overview.hosts()


@routes.put("/hosts/{host}/draining", status_code=204)
async def drain(manager: LeaseManagerDependency, host: Annotated[Name, Path()], body: DrainRequest) -> None:
    """Drain a host: lease out none of its machines, and destroy each when its lease ends. Or stop draining."""
    if not await manager.overview.set_draining(host, body.draining):
        raise UnknownHost(f"there is no host {host}")


@routes.get("/queue")
async def queue(manager: LeaseManagerDependency) -> tuple[QueueEntry, ...]:
    """Requests that wait for machines, in the order in which they are served."""
    return await manager.overview.queue()


@routes.get("/images")
async def images(manager: LeaseManagerDependency) -> tuple[ImageInfo, ...]:
    """The images hosts have, and how many machines of each are ready."""
    return await manager.overview.images()


@routes.put("/images/{image}/warm", status_code=204)
async def warm(manager: LeaseManagerDependency, image: Name, body: WarmTarget) -> None:
    """Keep `count` machines of an image ready."""
    await manager.overview.set_warm_target(image, body.count, at_least=body.at_least)


@routes.get("/quotas")
async def quotas(manager: LeaseManagerDependency) -> tuple[Quota, ...]:
    """How many machines users and pools may hold at once."""
    return await manager.overview.quotas()


@routes.put("/quotas", status_code=204)
async def set_quota(manager: LeaseManagerDependency, body: Quota) -> None:
    """Set or lift a limit. Machines held beyond it stay with their holders."""
    await manager.overview.set_quota(body)
