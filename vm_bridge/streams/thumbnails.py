"""Small pictures of many machines over one HTTP response, to watch many episodes at once."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import StreamingResponse
from pydantic import Field, StringConstraints

from protocol.base import FrozenModel
from vm_bridge.api.thumbnails import encode_thumbnail
from vm_bridge.api.tickets import MAX_TICKET_LENGTH, TicketClaim
from vm_bridge.errors import MachineGone, TicketRefused
from vm_bridge.sandbox import FrameSource, Sandbox
from vm_bridge.streams.stills import BOUNDARY, MEDIA_TYPE, STREAM_HEADERS

logger = logging.getLogger(__name__)

FPS = 1.0
"""Pictures of one machine a second, at most."""
MAX_MACHINES = 100
"""Machines of one response."""
KEEPALIVE_SECONDS = 10.0
"""An empty part is sent after this long without a picture, so that a dead viewer is noticed (seconds)."""


@dataclass(frozen=True, slots=True)
class WatchedMachine:
    """A machine of the response: the episode that labels its pictures, and the event set when its lease ends."""

    episode: str
    source: FrameSource
    over: asyncio.Event


class ThumbnailsRequest(FrozenModel):
    """`POST /streams/thumbnails`: a ticket for each machine."""

    tickets: Annotated[
        tuple[Annotated[str, StringConstraints(max_length=MAX_TICKET_LENGTH)], ...],
        Field(min_length=1, max_length=MAX_MACHINES),
    ]


Redeem = Callable[[str], Awaitable[tuple[Sandbox, asyncio.Event, TicketClaim]]]
"""Redeems a ticket: its machine, the event set when the lease ends, and the ticket's claim. Raises MachineGone,
TicketRefused."""


def thumbnail_routes(redeem: Redeem) -> APIRouter:
    """The endpoint that streams the thumbnails of many machines to a browser."""
    router = APIRouter()

    async def watched(text: str) -> WatchedMachine | None:
        try:
            sandbox, over, claim = await redeem(text)
        except (MachineGone, TicketRefused):
            return None
        return None if sandbox.frames is None else WatchedMachine(claim.episode, sandbox.frames, over)

    @router.post("/thumbnails", response_class=StreamingResponse, responses={200: {"content": {MEDIA_TYPE: {}}}})
    async def thumbnails(body: ThumbnailsRequest) -> StreamingResponse:
        """Small JPEG parts of many machines, at most 1 a second of each, with `X-Episode` and `X-Captured-At` (ms since
        the epoch). A part without a body says that the machine of its episode is gone; without an episode it is a
        keepalive. Tickets that are no longer valid are skipped. If none is valid the call is refused."""
        machines = [machine for text in body.tickets if (machine := await watched(text)) is not None]
        if not machines:
            raise TicketRefused("none of these tickets opens a picture")
        return StreamingResponse(stream_thumbnails(machines), media_type=MEDIA_TYPE, headers=STREAM_HEADERS)

    return router


async def stream_thumbnails(machines: Sequence[WatchedMachine]) -> AsyncIterator[bytes]:
    """Parts as the pictures change, until the last machine ends.

    A slow viewer gets only the newest picture of each machine.
    """
    parts = _LatestParts()
    watchers = {asyncio.create_task(_watch(machine, parts)) for machine in machines}
    try:
        async for part in parts.until_done(watchers):
            yield part
    finally:
        for watcher in watchers:
            watcher.cancel()
        await asyncio.gather(*watchers, return_exceptions=True)


class _LatestParts:
    """The latest unsent part of each episode; a newer part replaces it."""

    def __init__(self) -> None:
        self._waiting: dict[str, bytes] = {}
        self._changed = asyncio.Event()

    def put(self, episode: str, part: bytes) -> None:
        self._waiting[episode] = part
        self._changed.set()

    async def until_done(self, watchers: set["asyncio.Task[None]"]) -> AsyncIterator[bytes]:
        for watcher in watchers:
            watcher.add_done_callback(lambda _: self._changed.set())
        while True:
            self._changed.clear()
            waiting, self._waiting = self._waiting, {}
            for part in waiting.values():
                yield part
            if not self._waiting and all(watcher.done() for watcher in watchers):
                return
            try:
                async with asyncio.timeout(KEEPALIVE_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                yield _part("", b"", 0.0)


async def _watch(machine: WatchedMachine, parts: _LatestParts) -> None:
    """Offer a machine's pictures until it or its lease ends."""
    pictures = asyncio.create_task(_offer_pictures(machine, parts))
    over = asyncio.create_task(machine.over.wait())
    try:
        await asyncio.wait({pictures, over}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        pictures.cancel()
        over.cancel()
        await asyncio.wait({pictures, over})  # a source cannot close while it is asked
        if not pictures.cancelled() and (error := pictures.exception()) is not None:
            logger.warning("the pictures of episode %s ended", machine.episode, exc_info=error)
    parts.put(machine.episode, _part(machine.episode, b"", 0.0))


async def _offer_pictures(machine: WatchedMachine, parts: _LatestParts) -> None:
    async with machine.source.subscribe(fps=FPS) as frames:
        async for frame in frames:
            # On the event loop: a thread would first have to copy the whole frame, which takes longer.
            parts.put(machine.episode, _part(machine.episode, encode_thumbnail(frame), frame.captured_at))


def _part(episode: str, body: bytes, captured_at: float) -> bytes:
    head = (
        f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(body)}\r\n"
        f"X-Episode: {episode}\r\nX-Captured-At: {int(captured_at * 1000)}\r\n\r\n"
    )
    return head.encode() + body + b"\r\n"
