"""Answers the host's calls over the inherited socket, refusing those of a lease that ended."""

import queue
import select
import socket
import threading
from collections.abc import Callable
from typing import Any

from vm_bridge.guest import wire
from vm_bridge.guest.desk import Desk
from vm_bridge.guest.eyes import Picture
from vm_bridge.guest.tools import TOOLS

WAITING_CALLS = 64
"""Most calls of one kind that may wait; more are refused."""

Message = dict[str, Any]
Handler = Callable[[Message], Message]


class Refused(Exception):
    """A call that is not done; `code` is that of a `BridgeError`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Server:
    """Does the calls that touch the desktop one after another, and those for frames beside them.

    `fence` is the highest fencing token seen so far; a call with a lower one changes nothing.
    """

    def __init__(self, link: socket.socket, desk: Desk, stream: Picture, fence: int) -> None:
        self._link, self._desk, self._stream, self._fence = link, desk, stream, fence
        self._sending = threading.Lock()

    def serve(self) -> None:
        """Until the host hangs up, which raises WireError."""
        lanes = {"perform": self._lane(self._perform), "frame": self._lane(self._frame)}
        lanes["observe"] = lanes["tool"] = lanes["perform"]
        while True:
            message = wire.receive(self._link)
            lane = lanes.get(message["op"])
            if lane is None:
                self._do(self._at_once, message)
            elif not _put(lane, message):
                self._refuse(message, Refused("bridge_unavailable", "too many calls are waiting"))

    def _lane(self, handler: Handler) -> "queue.Queue[Message]":
        """A thread that handles messages in their order."""
        waiting: queue.Queue[Message] = queue.Queue(WAITING_CALLS)

        def work() -> None:
            while True:
                self._do(handler, waiting.get())

        threading.Thread(target=work, daemon=True).start()
        return waiting

    def _do(self, handler: Handler, message: Message) -> None:
        try:
            result = handler(message)
        except Refused as refused:
            self._refuse(message, refused)
        else:
            self._send({"id": message["id"], "result": result})

    def _at_once(self, message: Message) -> Message:
        if message["op"] == "hurry":
            self._admit(message)
            self._desk.hurry()
        return {}

    def _perform(self, message: Message) -> Message:
        self._admit(message)
        if message["op"] == "observe":
            return self._desk.observe(settle=message["settle"])
        if message["op"] == "tool":
            return TOOLS[message["tool"]](message)
        return self._desk.perform(message["action"], settle=message["settle"])

    def _frame(self, message: Message) -> Message:
        """The picture once it is newer than `serial`; the same one when nothing changed within `wait` seconds."""
        if self._stream.serial == message["serial"] and not self._stream.sync():
            select.select([self._stream], [], [], message["wait"])
        return self._stream.look()

    def _admit(self, message: Message) -> None:
        token = message["fence"]
        if token < self._fence:
            raise Refused("stale_lease", f"fencing token {token} is behind {self._fence}")
        self._fence = token

    def _refuse(self, message: Message, refused: Refused) -> None:
        self._send({"id": message["id"], "refused": {"code": refused.code, "message": str(refused)}})

    def _send(self, message: Message) -> None:
        data = wire.encode(message)
        with self._sending:
            self._link.sendall(data)


def _put(waiting: "queue.Queue[Message]", message: Message) -> bool:
    try:
        waiting.put_nowait(message)
    except queue.Full:
        return False
    return True
