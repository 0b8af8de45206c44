"""The debugging protocol of a leased browser over a WebSocket, for programs of its holder's own."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, WebSocket, WebSocketDisconnect
from fastapi.responses import FileResponse

from vm_bridge.api.tickets import TicketClaim
from vm_bridge.api.wire import Name, ProgramLog
from vm_bridge.browser import BrowserFailed
from vm_bridge.drivers.browser.driver import BrowserDriver
from vm_bridge.errors import BridgeError, TicketRefused, UnsupportedAction
from vm_bridge.network.cdp_proxy import CdpLog, CdpProxyClient, read_cdp_log
from vm_bridge.sandbox import Sandbox

POLICY_VIOLATION, GOING_AWAY, TOO_SLOW = 1008, 1001, 1013
CONNECTED_TIME_SCALE = 1.0
"""A program waits for frames and timers: its page's time goes as everybody's while it is there."""

Count = Annotated[int, Query(ge=0)]
PageSize = Annotated[int, Query(ge=1, le=500)]
AdmitClient = Callable[[str], Awaitable[tuple[Sandbox, asyncio.Event, TicketClaim]]]
"""The machine a ticket opens, what is set when its lease ends, and what the ticket claims. Raises BridgeError."""


def cdp_routes(admit: AdmitClient, logs: Path) -> APIRouter:
    """One WebSocket, opened by a ticket in its query; what is sent is logged in `logs` under the episode's name."""
    router = APIRouter()
    busy: set[str] = set()

    @router.websocket("/cdp")
    async def cdp(socket: WebSocket, token: str = "") -> None:
        """Chromium's protocol with flat sessions, as `connect_over_cdp` speaks it. One client at a time."""
        try:
            if "origin" in socket.headers:
                raise TicketRefused("a web page may not")
            sandbox, over, claim = await admit(token)
            browser = getattr(sandbox, "browser", None)
            if not isinstance(browser, BrowserDriver) or sandbox.id in busy:
                raise UnsupportedAction("this machine has no such way in, or another program uses it")
            session = await browser.borrow_session(claim.fencing_token)
        except BridgeError:
            return await socket.close(POLICY_VIOLATION)  # before it is accepted: the client sees a refusal
        busy.add(sandbox.id)
        client = CdpProxyClient(session, CdpLog(logs / f"{claim.episode}.jsonl"))
        try:
            await client.begin()
            await browser.set_time_scale(claim.fencing_token, CONNECTED_TIME_SCALE)
            await socket.accept()
            await _relay(socket, client, over, session.engine.died)
        except BrowserFailed:
            with suppress(RuntimeError):
                await socket.close(GOING_AWAY)
        finally:
            busy.discard(sandbox.id)
            await client.end()
            with suppress(BridgeError):
                await browser.set_time_scale(claim.fencing_token, 0.0)

    return router


def cdp_log_routes(logs: Path) -> APIRouter:
    """Messages that programs sent, for callers with the key."""
    router = APIRouter(prefix="/v1")

    @router.get("/cdp/{episode}", response_class=FileResponse)
    async def cdp_log(episode: Name) -> FileResponse:
        """One JSON object a line: the page's time, the message, whether it was refused. 404 where nothing was sent."""
        file = logs / f"{episode}.jsonl"
        if not file.is_file():
            raise HTTPException(404, "no program spoke to a browser of this episode")
        return FileResponse(file, media_type="application/jsonl")

    @router.get("/cdp/{episode}/messages")
    def cdp_page(episode: Name, after: Count = 0, most: PageSize = 100) -> ProgramLog:
        """The same, a page at a time; nothing where nothing was sent."""
        return read_cdp_log(logs / f"{episode}.jsonl", after=after, most=most)

    return router


async def _relay(socket: WebSocket, client: CdpProxyClient, over: asyncio.Event, died: asyncio.Event) -> None:
    """Until the client leaves, reads too slowly, or there is nothing left to speak to."""
    work = [
        _receive_messages(socket, client),
        _send_messages(socket, client),
        client.overflowed.wait(),
        over.wait(),
        died.wait(),
    ]
    hearing, *others = (asyncio.create_task(one) for one in work)
    done, _ = await asyncio.wait((hearing, *others), return_when=asyncio.FIRST_COMPLETED)
    for task in (hearing, *others):
        task.cancel()
    await asyncio.gather(hearing, *others, return_exceptions=True)
    if hearing not in done:
        with suppress(RuntimeError):  # it left at this very moment
            await socket.close(TOO_SLOW if client.overflowed.is_set() else GOING_AWAY)


async def _receive_messages(socket: WebSocket, client: CdpProxyClient) -> None:
    """Messages are answered as their answers come; only so many at once."""
    room, asked = asyncio.Semaphore(64), set[asyncio.Task[None]]()

    def answered(task: asyncio.Task[None]) -> None:
        asked.discard(task)
        room.release()

    try:
        with suppress(WebSocketDisconnect):
            while True:
                text = await socket.receive_text()
                await room.acquire()
                task = asyncio.create_task(client.handle_message(text))
                asked.add(task)
                task.add_done_callback(answered)
    finally:
        for task in tuple(asked):
            task.cancel()


async def _send_messages(socket: WebSocket, client: CdpProxyClient) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await socket.send_text(json.dumps(await client.messages.get(), separators=(",", ":")))
