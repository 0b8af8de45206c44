"""The debugging protocol of a leased browser over a WebSocket, for programs of its holder's own."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, WebSocket, WebSocketDisconnect
from fastapi.responses import FileResponse

from vm_bridge.browser import BrowserFailed
from vm_bridge.drivers.browser import Browser
from vm_bridge.errors import BridgeError, TicketRefused, UnsupportedAction
from vm_bridge.network.cdp import CdpLog, Visitor, cdp_messages
from vm_bridge.sandbox import Sandbox
from vm_bridge.tickets import TicketClaim
from vm_bridge.wire import Name, ProgramLog

POLICY_VIOLATION, GOING_AWAY, TOO_SLOW = 1008, 1001, 1013
WATCHED_PACE = 1.0
"""A program waits for frames and timers: its page's time goes as everybody's while it is there."""

Count = Annotated[int, Query(ge=0)]
Most = Annotated[int, Query(ge=1, le=500)]
Admit = Callable[[str], Awaitable[tuple[Sandbox, asyncio.Event, TicketClaim]]]
"""The machine a ticket opens, what is set when its lease ends, and what the ticket claims. Raises BridgeError."""


def cdp_routes(admit: Admit, logs: Path) -> APIRouter:
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
            if not isinstance(browser, Browser) or sandbox.id in busy:
                raise UnsupportedAction("this machine has no such way in, or another program uses it")
            session = await browser.lend(claim.fencing_token)
        except BridgeError:
            return await socket.close(POLICY_VIOLATION)  # before it is accepted: the client sees a refusal
        busy.add(sandbox.id)
        visitor = Visitor(session, CdpLog(logs / f"{claim.episode}.jsonl"))
        try:
            await visitor.begin()
            await browser.pace(claim.fencing_token, WATCHED_PACE)
            await socket.accept()
            await _carry(socket, visitor, over, session.engine.died)
        except BrowserFailed:
            with suppress(RuntimeError):
                await socket.close(GOING_AWAY)
        finally:
            busy.discard(sandbox.id)
            await visitor.end()
            with suppress(BridgeError):
                await browser.pace(claim.fencing_token, 0.0)

    return router


def cdp_log_routes(logs: Path) -> APIRouter:
    """What programs sent, for who has the secret."""
    router = APIRouter(prefix="/v1")

    @router.get("/cdp/{episode}", response_class=FileResponse)
    async def cdp_log(episode: Name) -> FileResponse:
        """One JSON object a line: the page's time, the message, whether it was refused. 404 where nothing was sent."""
        file = logs / f"{episode}.jsonl"
        if not file.is_file():
            raise HTTPException(404, "no program spoke to a browser of this episode")
        return FileResponse(file, media_type="application/jsonl")

    @router.get("/cdp/{episode}/messages")
    def cdp_page(episode: Name, after: Count = 0, most: Most = 100) -> ProgramLog:
        """The same, a page at a time; nothing where nothing was sent."""
        return cdp_messages(logs / f"{episode}.jsonl", after=after, most=most)

    return router


async def _carry(socket: WebSocket, visitor: Visitor, over: asyncio.Event, died: asyncio.Event) -> None:
    """Until the client leaves, reads too slowly, or there is nothing left to speak to."""
    work = [_hear(socket, visitor), _tell(socket, visitor), visitor.full.wait(), over.wait(), died.wait()]
    hearing, *others = (asyncio.create_task(one) for one in work)
    done, _ = await asyncio.wait((hearing, *others), return_when=asyncio.FIRST_COMPLETED)
    for task in (hearing, *others):
        task.cancel()
    await asyncio.gather(hearing, *others, return_exceptions=True)
    if hearing not in done:
        with suppress(RuntimeError):  # it left at this very moment
            await socket.close(TOO_SLOW if visitor.full.is_set() else GOING_AWAY)


async def _hear(socket: WebSocket, visitor: Visitor) -> None:
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
                task = asyncio.create_task(visitor.ask(text))
                asked.add(task)
                task.add_done_callback(answered)
    finally:
        for task in tuple(asked):
            task.cancel()


async def _tell(socket: WebSocket, visitor: Visitor) -> None:
    with suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await socket.send_text(json.dumps(await visitor.told.get(), separators=(",", ":")))
