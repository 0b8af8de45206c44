"""The live output of a machine's terminals over a WebSocket: for looking only, whatever the viewer sends is ignored."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Awaitable, Callable
from contextlib import suppress

from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from vm_bridge.errors import BridgeError, TicketRefused
from vm_bridge.machine import Machine
from vm_bridge.machine_io import TerminalFrame

POLICY_VIOLATION, GOING_AWAY = 1008, 1001

AdmitViewer = Callable[[str], Awaitable[tuple[Machine, asyncio.Event]]]
"""The machine a ticket opens, and what is set when its lease ends. Raises BridgeError."""


def terminal_routes(admit: AdmitViewer, web_origins: tuple[str, ...]) -> APIRouter:
    """One WebSocket, opened by a ticket in its query from a page of these origins."""
    router = APIRouter()

    @router.websocket("/terminal")
    async def terminal(socket: WebSocket, token: str = "") -> None:
        """JSON texts `{session, data, cols, rows}`: output as base64, the first of a session draws its screen.

        A viewer that is slow to read is sent the present screen instead of all it missed.
        """
        try:
            if socket.headers.get("origin") not in web_origins:
                raise TicketRefused("a page of another origin")
            machine, over = await admit(token)
        except BridgeError:
            return await socket.close(POLICY_VIOLATION)  # before it is accepted: the browser sees a refusal
        await socket.accept()
        showing, leaving, ending = (
            asyncio.create_task(work) for work in (_send_frames(machine, socket), _wait_disconnect(socket), over.wait())
        )
        tasks = (showing, leaving, ending)
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if leaving not in done:
            with suppress(RuntimeError):  # it left at this very moment
                await socket.close(GOING_AWAY, "the lease of this ticket has ended" if ending in done else "")

    return router


async def _send_frames(machine: Machine, socket: WebSocket) -> None:
    """Send frames until the machine is gone. The next frame is requested only after the previous one was sent."""
    with suppress(BridgeError, WebSocketDisconnect, RuntimeError):
        async with machine.terminals.watch() as frames:
            async for frame in frames:
                if frame.rows:
                    await socket.send_text(_frame_json(frame))


async def _wait_disconnect(socket: WebSocket) -> None:
    """Returns when the viewer has left."""
    while (await socket.receive())["type"] != "websocket.disconnect":
        pass


def _frame_json(frame: TerminalFrame) -> str:
    data = b64encode(frame.data).decode()
    return json.dumps({"session": frame.session, "data": data, "cols": frame.columns, "rows": frame.rows})
