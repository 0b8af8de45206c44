"""What the desk's page does with its WebSocket, without a page: commands are kept until they are answered."""

import asyncio
import contextlib
import itertools
import json
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from websockets import Origin
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

BACKOFF_SECONDS, BACKOFF_CAP_SECONDS = 0.25, 10.0
PING_SECONDS, SILENCE_SECONDS, RESEND_SECONDS = 5.0, 12.0, 15.0
"""As in `frontend/src/session/socket.ts`."""
CONTROL_SECONDS = 2.0
"""After so long without control a person asks for it."""
OPEN_SECONDS = 5.0
KEPT = frozenset({"view_only", "queue_full", "flooding"})
"""Refusals after which a command is kept, and sent again."""
ENDED = frozenset({"finished", "left"})


@dataclass(eq=False, slots=True)
class Command:
    """One command over all its sends. `fate`: what was answered to it; `step`: as it was recorded."""

    id: str
    body: dict[str, Any]
    began: float
    sent: float = 0.0
    fate: str = ""
    step: dict[str, Any] | None = None


@dataclass(eq=False, slots=True)
class EpisodeClient:
    """One person at one episode, until `close`."""

    episode: str
    session: str
    addresses: tuple[str, ...]
    """`host:port` of every web process."""
    origin: str
    rng: random.Random
    commands: dict[str, Command] = field(default_factory=dict)
    status: str = "warming"
    error: str = ""
    control: str = "nobody"
    connections: int = 0
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _socket: ClientConnection | None = None
    _last_received_at: float = 0.0
    _without_control: float = 0.0
    _outgoing: "asyncio.Queue[dict[str, Any]]" = field(default_factory=asyncio.Queue)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def has_control(self) -> bool:
        """Whether this page may act now."""
        return self._socket is not None and self.control == "mine"

    @property
    def waiting(self) -> list[Command]:
        """Commands that nobody answered yet."""
        return [command for command in self.commands.values() if not command.fate]

    def send(self, body: Mapping[str, Any], name: str = "") -> Command:
        """Give a command, now or when the connection is back."""
        command_id = name or f"{self.episode}-{next(self._numbers)}"
        command = Command(command_id, {**body, "command_id": command_id}, began=time.monotonic())
        self.commands[command_id] = command
        self._transmit(command)
        return command

    def abort(self) -> bool:
        """End the connection as a network does; whether there was one."""
        if self._socket is None:
            return False
        self._socket.transport.abort()
        return True

    async def run(self) -> None:
        """Connect again and again, for ever."""
        attempt = 0
        while True:
            address = self.addresses[self.connections % len(self.addresses)]
            self.connections += 1
            with contextlib.suppress(OSError, WebSocketException, TimeoutError):
                async with self._connect(address) as socket:
                    self._opened(socket)
                    sidecar_files = [
                        asyncio.create_task(work) for work in (self._heartbeat(socket), self._write(socket))
                    ]
                    try:
                        async for text in socket:
                            attempt = 0
                            self._last_received_at = time.monotonic()
                            self._handle_event(json.loads(text))
                    finally:
                        self._socket = None
                        for task in sidecar_files:
                            task.cancel()
                        await asyncio.gather(*sidecar_files, return_exceptions=True)
            ceiling = min(BACKOFF_CAP_SECONDS, BACKOFF_SECONDS * 2**attempt)
            await asyncio.sleep(ceiling / 2 + self.rng.random() * ceiling / 2)
            attempt += 1

    def _opened(self, socket: ClientConnection) -> None:
        self._socket, self._last_received_at, self.control = socket, time.monotonic(), "nobody"
        self._without_control, self._outgoing = self._last_received_at, asyncio.Queue()
        for command in self.waiting:
            self._transmit(command)

    def _connect(self, address: str) -> connect:
        return connect(
            f"ws://{address}/ws/episodes/{self.episode}/",
            additional_headers={"Cookie": f"sessionid={self.session}"},
            origin=Origin(self.origin),
            max_size=None,
            proxy=None,
            open_timeout=OPEN_SECONDS,
            close_timeout=1,
            ping_interval=None,
        )

    async def _write(self, socket: ClientConnection) -> None:
        """Send what is given, in order, for as long as the connection lasts."""
        outgoing = self._outgoing
        while True:
            await socket.send(json.dumps(await outgoing.get()))

    async def _heartbeat(self, socket: ClientConnection) -> None:
        """Ping, find silence, send again, ask for control."""
        pinged = 0.0
        while True:
            await asyncio.sleep(0.25)
            now = time.monotonic()
            if now - self._last_received_at > SILENCE_SECONDS:
                return socket.transport.abort()
            if now - pinged > PING_SECONDS:
                pinged = now
                self._outgoing.put_nowait({"type": "ping", "at": int(now * 1000)})
            if self.control == "mine" or self.status in ENDED:
                self._without_control = now
                for command in self.waiting:
                    if now - command.sent >= RESEND_SECONDS:
                        self._transmit(command)
            elif now - self._without_control > CONTROL_SECONDS:
                self._without_control = now
                self.send({"type": "control"})

    def _transmit(self, command: Command) -> None:
        if self._socket is not None:
            command.sent = time.monotonic()
            self._outgoing.put_nowait(command.body)

    def _handle_event(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "snapshot":
                self._snapshot(event)
            case "control.changed":
                self._controlled(event["control"])
            case "episode.changed":
                self.status = event.get("status") or self.status
                self.error = event.get("error") or self.error
            case "step.added":
                self._recorded(event["step"])
            case "acknowledged":
                self._answered(event["command_id"], "acknowledged")
            case "rejected" if event["command_id"] and event["code"] not in KEPT:
                self._answered(event["command_id"], event["code"])
        self.changed.set()

    def _snapshot(self, event: dict[str, Any]) -> None:
        state = event["state"]
        self.status, self.error = state["status"], state["error"]
        for step in state["steps"]:
            self._recorded(step)
        self._controlled(event["control"])

    def _controlled(self, control: str) -> None:
        regained = control == "mine" and self.control != "mine"
        self.control = control
        if regained:
            for command in self.waiting:
                self._transmit(command)

    def _recorded(self, step: dict[str, Any]) -> None:
        if (command := self.commands.get(step["command_id"])) is not None:
            command.step = step
            command.fate = command.fate or "recorded"

    def _answered(self, command_id: str, fate: str) -> None:
        if (command := self.commands.get(command_id)) is not None and command.fate in ("", "recorded"):
            command.fate = fate
