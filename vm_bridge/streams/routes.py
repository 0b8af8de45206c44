"""The streams over HTTP: a ticket opens one stream, once, while its lease lasts."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Header
from fastapi.responses import StreamingResponse
from pydantic import StringConstraints

from protocol.base import FrozenModel
from vm_bridge.api.tickets import StreamKind, TicketClaim, verify_ticket
from vm_bridge.errors import MachineGone, TicketRefused
from vm_bridge.leases import LeaseGuard
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Sandbox
from vm_bridge.streams.cdp_routes import cdp_routes
from vm_bridge.streams.stills import MEDIA_TYPE, STREAM_HEADERS, stream_stills
from vm_bridge.streams.terminal import terminal_routes
from vm_bridge.streams.thumbnails import thumbnail_routes
from vm_bridge.streams.webrtc import MAX_OFFER, WebRtcServer


class WebRtcOffer(FrozenModel):
    """`POST /streams/webrtc`: what the browser's peer connection offers, and the ticket."""

    ticket: Annotated[str, StringConstraints(max_length=2_000)]
    sdp: Annotated[str, StringConstraints(max_length=MAX_OFFER)]
    type: Literal["offer"]


class WebRtcAnswer(FrozenModel):
    """What the browser sets as its remote description."""

    sdp: str
    type: Literal["answer"] = "answer"


class StreamServer:
    """The viewers of this host's machines."""

    def __init__(
        self,
        *,
        keys: tuple[str, ...],
        lease_guard: LeaseGuard,
        webrtc: WebRtcServer,
        web_origins: tuple[str, ...] = (),
        cdp_logs: Path | None = None,
    ) -> None:
        """`keys` sign tickets. `cdp_logs` is the folder for what programs send to browsers; without it, none may."""
        self._keys, self._cdp_logs = keys, cdp_logs
        self._web_origins = web_origins
        self._lease_guard = lease_guard
        self._webrtc = webrtc
        self._over: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def end(self, machine_id: str) -> None:
        """Disconnect all viewers of a machine whose lease ended."""
        self._over.pop(machine_id, asyncio.Event()).set()
        await self._webrtc.end(machine_id)

    async def close(self) -> None:
        """Let go of everyone."""
        for over in self._over.values():
            over.set()
        await self._webrtc.close()

    def routes(self, sandbox_of: Callable[[str], Sandbox]) -> APIRouter:
        """The calls; `sandbox_of` raises MachineGone."""
        router = APIRouter(prefix="/streams")

        async def redeem(text: str, kind: StreamKind) -> tuple[Sandbox, asyncio.Event, TicketClaim]:
            """The machine a ticket opens, what is set when its lease ends, and what the ticket claims."""
            ticket = verify_ticket(self._keys, text, kind)
            sandbox = sandbox_of(ticket.claim.machine_id)
            over = self._over[sandbox.id]
            await self._lease_guard.redeem(ticket)
            if over.is_set():  # the lease ended while Redis's answer was on its way
                raise TicketRefused("the lease of this ticket has ended")
            return sandbox, over, ticket.claim

        async def admit(text: str, kind: StreamKind) -> tuple[Sandbox, asyncio.Event]:
            sandbox, over, _ = await redeem(text, kind)
            return sandbox, over

        async def admit_machine(text: str) -> tuple[Machine, asyncio.Event]:
            sandbox, over, claim = await redeem(text, "terminal")
            return sandbox.bind(claim.fencing_token), over

        @router.post("/webrtc")
        async def webrtc(body: WebRtcOffer) -> WebRtcAnswer:
            """Answer a viewer's offer. Non-trickle: the answer holds every candidate."""
            sandbox, _ = await admit(body.ticket, "webrtc")
            return WebRtcAnswer(sdp=await self._webrtc.answer(sandbox, body.sdp))

        @router.get("/stills", response_class=StreamingResponse, responses={200: {"content": {MEDIA_TYPE: {}}}})
        async def still_frames(authorization: Annotated[str, Header()] = "") -> StreamingResponse:
            """JPEG parts, each with `X-Captured-At` (ms since the epoch), at most 5 a second."""
            scheme, _, text = authorization.partition(" ")
            if scheme != "Bearer":
                raise TicketRefused("a ticket is needed")
            sandbox, over = await admit(text, "stills")
            if sandbox.frames is None:
                raise MachineGone(f"machine {sandbox.id} has no picture")
            return StreamingResponse(
                stream_stills(sandbox.frames, over),
                media_type=MEDIA_TYPE,
                headers=STREAM_HEADERS,
            )

        router.include_router(thumbnail_routes(lambda text: redeem(text, "thumbnails")))
        router.include_router(terminal_routes(admit_machine, self._web_origins))
        if self._cdp_logs is not None:
            router.include_router(cdp_routes(lambda text: redeem(text, "cdp"), self._cdp_logs))
        return router
