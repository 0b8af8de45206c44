"""Annotators who act again and again through the proxy, and come back when their process dies."""

import asyncio
import json
import time
from dataclasses import dataclass, field
from typing import Any

from websockets import Origin
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import WebSocketException

RETRY_SECONDS = 0.05
"""Between two tries to come back (seconds)."""
THINKING_SECONDS = 0.25
"""Between a step and the next act: a quick person's."""
SILENCE_TIMEOUT_SECONDS = 300.0
"""Longest wait for what must come."""


@dataclass(eq=False, slots=True)
class ReconnectingAnnotator:
    """One episode and its annotator: what was sent, and what was heard to be done."""

    episode: str
    session: str
    number: int
    at: str
    """`host:port` of the proxy."""
    limit: int = 0
    """How many acts it may send in all; then it rests until this is raised."""
    sent: list[tuple[int, int]] = field(default_factory=list)
    """Where each act clicks, in order; every act of every pilot has a place of its own."""
    done: list[str] = field(default_factory=list)
    """The commands whose step was heard of, in order."""
    stored: list[dict[str, Any]] = field(default_factory=list)
    """The steps as the last snapshot had them."""
    has_control: bool = False
    status: str = ""
    acting: bool = False
    """Whether an act has begun and its step was not heard of yet."""
    killed_at: float | None = None
    """When the process that served it was killed, until it acts again."""
    steered: list[float] = field(default_factory=list)
    """Seconds from such a death until it held control again."""
    acted: list[float] = field(default_factory=list)
    """The same until its next step was there."""

    async def run_until(self, over: asyncio.Event) -> None:
        """Act until `over`, up to `limit` acts, and reconnect whenever the connection is lost.

        Raises TimeoutError when nothing comes any more, RuntimeError when the platform rejects an act.
        """
        while not over.is_set():
            try:
                async with self._connect() as socket:
                    await self._work(socket, over)
            except TimeoutError:
                raise  # silence is no death
            except (OSError, WebSocketException):
                self.has_control = False
                await asyncio.sleep(RETRY_SECONDS)

    async def read_stored(self) -> None:
        """Read the episode once more, as it is stored."""
        async with self._connect() as socket:
            await self._until(socket, lambda event: event["type"] == "snapshot")

    def _connect(self) -> connect:
        return connect(
            f"ws://{self.at}/ws/episodes/{self.episode}/",
            additional_headers={"Cookie": f"sessionid={self.session}"},
            origin=Origin(f"http://{self.at}"),
            max_size=None,
            proxy=None,
        )

    async def _work(self, socket: ClientConnection, over: asyncio.Event) -> None:
        await self._until(socket, lambda _: self.has_control and self.status == "running")
        if self.killed_at is not None:
            self.steered.append(time.monotonic() - self.killed_at)
        while not over.is_set():
            if len(self.done) == len(self.sent):
                await asyncio.sleep(THINKING_SECONDS)
                if len(self.sent) >= self.limit:
                    continue
                self.sent.append((10 + len(self.sent), 10 + self.number))
            # After a reconnection this is the same command once more: it is done once.
            name = self._name(len(self.sent) - 1)
            x, y = self.sent[-1]
            action = {"kind": "click", "x": x, "y": y}
            await socket.send(json.dumps({"type": "act", "command_id": name, "thought": "on", "action": action}))
            await self._until(socket, lambda _, name=name: name in self.done[-1:])
            if self.killed_at is not None:
                self.acted.append(time.monotonic() - self.killed_at)
                self.killed_at = None

    async def _until(self, socket: ClientConnection, true: Any) -> None:
        end = time.monotonic() + SILENCE_TIMEOUT_SECONDS
        while True:
            try:
                async with asyncio.timeout(end - time.monotonic()):
                    event = json.loads(await socket.recv())
            except TimeoutError:
                acts = f"{len(self.done)} of {len(self.sent)} acts are done"
                raise TimeoutError(
                    f"pilot {self.number} heard nothing it waits for within {SILENCE_TIMEOUT_SECONDS:g} seconds; {acts}"
                ) from None
            self._handle_event(event)
            if true(event):
                return

    def _handle_event(self, event: dict[str, Any]) -> None:
        match event["type"]:
            case "snapshot":
                self.stored = event["state"]["steps"]
                self.has_control = event["control"] == "mine"
                self.status = event["state"]["status"]
                for step in self.stored[len(self.done) :]:
                    self._record_step(step)
            case "control.changed":
                self.has_control = event["control"] == "mine"
            case "episode.changed":
                self.status = event.get("status") or self.status
            case "step.started":
                self.acting = True
            case "step.added":
                self._record_step(event["step"])
            case "rejected":
                raise RuntimeError(f"pilot {self.number} is rejected: {event['code']} {event['message']}")

    def _record_step(self, step: dict[str, Any]) -> None:
        self.acting = False
        if step["command_id"] not in self.done:
            self.done.append(step["command_id"])

    def _name(self, place: int) -> str:
        return f"{self.episode}-{place}"
