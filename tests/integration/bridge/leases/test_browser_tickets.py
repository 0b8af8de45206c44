"""The ticket of a program at a leased browser: once, in time, for its own machine, while the lease lasts."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from redis.asyncio import Redis
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from tests.waiting import eventually
from vm_bridge.api.tickets import StreamKind, TicketClaim, mint_ticket
from vm_bridge.hosts.browser.host import BrowserHost
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.guard import RedisScripts
from vm_bridge.leases.inventory import HostInventory
from vm_bridge.leases.manager import LeaseManager
from vm_bridge.leases.store import ClaimRequest
from vm_bridge.machine import Lease
from vm_bridge.pool import MachinePool
from vm_bridge.streams.broadcast import BroadcastRegistry
from vm_bridge.streams.routes import StreamServer
from vm_bridge.streams.webrtc import WebRtcServer

SECRET = "a secret of sixteen or more"


@dataclass(frozen=True, slots=True)
class TicketBridge:
    """A bridge that has browsers, and two leases on them."""

    url: str
    manager: LeaseManager
    mine: Lease
    other: Lease

    def ticket(self, *, kind: StreamKind = "cdp", machine: str = "", ttl: float = 30, secret: str = SECRET) -> str:
        claim = TicketClaim(
            kind=kind,
            user="ada",
            episode="episode-1",
            machine_id=machine or self.mine.machine_id,
            fencing_token=self.mine.fencing_token,
        )
        return mint_ticket(secret, claim, ttl=ttl)

    async def opens(self, ticket: str) -> bool:
        try:
            async with connect(f"{self.url}/streams/cdp?token={ticket}", proxy=None):
                return True
        except InvalidStatus:
            return False


@pytest.fixture
async def ticket_bridge(redis: Redis, tmp_path: Path) -> AsyncIterator[TicketBridge]:
    lease_guard = LeaseGuard(redis)
    webrtc = WebRtcServer(BroadcastRegistry(fps=5, bitrate=1_000_000), ice_servers=list)
    streams = StreamServer(keys=(SECRET,), lease_guard=lease_guard, webrtc=webrtc, cdp_logs=tmp_path / "logs")
    inventory = HostInventory(redis, RedisScripts(redis), "host-1", "http://host-1")
    pool = MachinePool(BrowserHost(tmp_path / "host"), lease_guard, inventory, capacity=2, ended=streams.end)
    manager = LeaseManager(redis)
    app = FastAPI()
    app.include_router(streams.routes(pool.sandbox))
    config = uvicorn.Config(app, port=0, ws="websockets-sansio", log_config=None, timeout_graceful_shutdown=1)
    server, listener = uvicorn.Server(config), config.bind_socket()
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await eventually(lambda: server.started)
    await pool.start()
    async with manager.running():
        mine, other = [await _lease(manager, name) for name in ("one", "two")]
        yield TicketBridge(f"ws://127.0.0.1:{listener.getsockname()[1]}", manager, mine, other)
    await streams.close()
    server.should_exit = True
    await serving
    listener.close()
    await pool.close()


async def _lease(manager: LeaseManager, request: str) -> Lease:
    never: asyncio.Future[object] = asyncio.get_running_loop().create_future()

    async def gone() -> object:
        return await never

    given = await manager.allocate(
        ClaimRequest(request, "browser", "somebody", ttl=600), wait=120, wait_disconnect=gone
    )
    assert isinstance(given, Lease)
    return given


async def test_a_ticket_opens_its_own_browser_once(ticket_bridge: TicketBridge) -> None:
    ticket = ticket_bridge.ticket()
    assert await ticket_bridge.opens(ticket)
    assert not await ticket_bridge.opens(ticket), "it was used"
    assert await ticket_bridge.opens(ticket_bridge.ticket())


async def test_other_tickets_open_nothing(ticket_bridge: TicketBridge) -> None:
    assert not await ticket_bridge.opens(ticket_bridge.ticket(ttl=-1)), "it has run out"
    assert not await ticket_bridge.opens(ticket_bridge.ticket(kind="stills")), "it is for something else"
    assert not await ticket_bridge.opens(ticket_bridge.ticket(secret="a secret of somebody else")), "it is forged"
    assert not await ticket_bridge.opens(ticket_bridge.ticket(machine=ticket_bridge.other.machine_id)), (
        "it is for another lease's machine"
    )
    assert not await ticket_bridge.opens(ticket_bridge.ticket(machine="browser-unknown"))
    assert await ticket_bridge.opens(ticket_bridge.ticket()), "none of this used anything up"


async def test_a_ticket_ends_with_its_lease(ticket_bridge: TicketBridge) -> None:
    ticket = ticket_bridge.ticket()
    await ticket_bridge.manager.leases.release(ticket_bridge.mine.machine_id, ticket_bridge.mine.fencing_token)
    assert not await ticket_bridge.opens(ticket)
