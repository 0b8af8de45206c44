"""Answers the calls of one host after another, refusing those of a lease that ended."""

import queue
import socket
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from vm_bridge.guest import wire
from vm_bridge.guest.act import ActFailed
from vm_bridge.guest.holdings import Holdings

WAITING_CALLS = 64
"""Most calls of one kind that may wait; more are refused."""
BESIDE = 32
"""Most calls to the inside that are done at the same time; some of them wait for something to happen."""

SENSELESS = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""What comes of a call whose fields are missing or of another type."""

Message = dict[str, Any]


class Door(Protocol):
    """Where hosts come in."""

    def open(self) -> socket.socket | None:
        """The next host; None when none will come any more."""
        ...


class Desk(Protocol):
    """What is driven; acts and looks come from one thread, frames from another, `hurry` from any."""

    def observe(self, *, settle: bool) -> Message: ...

    def perform(self, action: Message, *, settle: bool) -> Message: ...

    def frame(self, serial: int, wait: float) -> Message: ...

    def hurry(self) -> None: ...

    def leave(self) -> None: ...


class Refused(Exception):
    """A call that is not done; `code` is that of a `BridgeError`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Call:
    """A message, and the host that waits for its answer."""

    link: socket.socket
    message: Message

    @property
    def number(self) -> int | None:
        """Its name in the answer."""
        number = self.message.get("id")
        return number if type(number) is int else None


Handler = Callable[[Message], Message]
Tools = Mapping[str, Handler]
Lane = queue.Queue[Call]


class Server:
    """Does the calls that touch the desktop one after another, those for frames and to the inside beside them.

    `start` makes the desktop of a size, once; `home` is the digest of the home folder before it; `tools` are those of
    suites.
    A call with a lower fencing token than one seen before changes nothing.
    """

    def __init__(
        self, door: Door, start: Callable[[int, int], Desk], inside: Holdings, home: str, tools: Tools
    ) -> None:
        self._door, self._start, self._inside, self._home, self._tools = door, start, inside, home, tools
        self.link: socket.socket | None = None
        """The host that is there."""
        self._fence, self._size = 0, (0, 0)
        self._desk: Desk | None = None
        self._sending = threading.Lock()
        self._beside = threading.BoundedSemaphore(BESIDE)

    def serve(self) -> None:
        """Until no host comes any more."""
        lanes = {"perform": self._lane(self._perform), "frame": self._lane(self._frame)}
        lanes["start"] = lanes["observe"] = lanes["tool"] = lanes["perform"]
        while (link := self._door.open()) is not None:
            self.link = link
            with link, suppress(wire.WireError, OSError):
                self._greet(link)
                while True:
                    call = Call(link, wire.receive(link))
                    if not isinstance(call.message.get("op"), str):
                        self._refuse(call, Refused("machine_gone", "this is no call"))
                        continue
                    lane = lanes.get(call.message["op"])
                    if call.message["op"] == "inside":
                        self._do_beside(call)
                    elif lane is None:
                        self._do(self._at_once, call)
                    elif not _put(lane, call):
                        self._refuse(call, Refused("bridge_unavailable", "too many calls are waiting"))
            if self._desk is not None:
                self._desk.leave()  # the next host's first frame does not stand behind the question of this one

    def begin(self, width: int, height: int) -> None:
        """Make the desktop; a system that has one from the beginning does not wait for a host to ask."""
        if type(width) is not int or type(height) is not int:
            raise TypeError("width and height are numbers")
        self._size = width, height
        self._desk = self._start(width, height)

    def _greet(self, link: socket.socket) -> None:
        """Whoever comes learns what there is already."""
        width, height = self._size
        state = {"started": self._desk is not None, "fence": self._fence, "home": self._home}
        self.send(link, {"id": wire.READY, "result": {**state, "width": width, "height": height}})

    def _lane(self, handler: Handler) -> Lane:
        """A thread that handles calls in their order."""
        waiting: Lane = queue.Queue(WAITING_CALLS)

        def work() -> None:
            while True:
                self._do(handler, waiting.get())

        threading.Thread(target=work, daemon=True).start()
        return waiting

    def _do(self, handler: Handler, call: Call) -> None:
        try:
            self.send(call.link, {"id": call.number, "result": handler(call.message)})
        except Refused as refused:
            self._refuse(call, refused)
        except (*SENSELESS, wire.WireError) as error:
            # It ends this call alone; how far it got is not known, which is what `machine_gone` says.
            traceback.print_exception(error)
            self._refuse(call, Refused("machine_gone", f"the call makes no sense: {type(error).__name__}"))

    def _do_beside(self, call: Call) -> None:
        """A call to the inside, in a thread of its own."""
        if not self._beside.acquire(blocking=False):
            return self._refuse(call, Refused("bridge_unavailable", "too many calls are waiting"))

        def work() -> None:
            try:
                self._do(self._call_inside, call)
            finally:
                self._beside.release()

        threading.Thread(target=work, daemon=True).start()

    def _call_inside(self, message: Message) -> Message:
        self._admit(message)
        try:
            return {"failed": None, "answer": self._inside.calls[message["call"]](message)}
        except ActFailed as failure:
            return {"failed": {"code": failure.code, "message": str(failure)}, "answer": {}}

    def _at_once(self, message: Message) -> Message:
        if message["op"] == "hurry":
            self._admit(message)
            self._running().hurry()
        return {}

    def _perform(self, message: Message) -> Message:
        self._admit(message)
        match message["op"]:
            case "start":
                self.begin(message["width"], message["height"])
                return {}
            case "observe":
                return self._running().observe(settle=message["settle"])
            case "tool":
                return self._tools[message["tool"]](message)
        return self._running().perform(message["action"], settle=message["settle"])

    def _frame(self, message: Message) -> Message:
        return self._running().frame(message["serial"], message["wait"])

    def _running(self) -> Desk:
        if self._desk is None:
            raise Refused("machine_gone", "the desktop has not started")
        return self._desk

    def _admit(self, message: Message) -> None:
        token = message["fence"]
        if type(token) is not int:
            raise TypeError("a fencing token is a number")
        if token < self._fence:
            raise Refused("stale_lease", f"fencing token {token} is behind {self._fence}")
        self._fence = token

    def _refuse(self, call: Call, refused: Refused) -> None:
        self.send(call.link, {"id": call.number, "refused": {"code": refused.code, "message": str(refused)}})

    def send(self, link: socket.socket, message: Message) -> None:
        """An answer to a host that has gone meanwhile is nobody's."""
        data = wire.encode(message)
        with self._sending, suppress(OSError):
            link.sendall(data)


def _put(waiting: Lane, call: Call) -> bool:
    try:
        waiting.put_nowait(call)
    except queue.Full:
        return False
    return True
