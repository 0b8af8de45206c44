"""Serves calls of one host after another, and rejects calls of ended leases."""

import queue
import socket
import threading
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from vm_bridge.guest.common import wire
from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.machine_io import MachineIO, home_digest

MAX_QUEUED_CALLS = 64
"""Maximum waiting calls of one kind; more are rejected."""
MAX_PARALLEL_CALLS = 32
"""Maximum concurrent file, terminal and tool calls; some of them wait for events."""

SENSELESS = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
"""Errors of a call with missing or mistyped fields."""

Message = dict[str, Any]


class HostListener(Protocol):
    """Accepts hosts."""

    def accept(self) -> socket.socket | None:
        """The next host, or None if no more will come."""
        ...


class Desktop(Protocol):
    """The driven desktop. Actions and observations come from one thread, frames from another, `interrupt` from any."""

    def observe(self, *, settle: bool) -> Message: ...

    def perform(self, action: Message, *, settle: bool, wait_for_timers: bool) -> Message: ...

    def frame(self, serial: int, wait: float) -> Message: ...

    def interrupt(self) -> None: ...

    def cancel_frame_wait(self) -> None: ...


class CallRejected(Exception):
    """A rejected call; `code` is that of a `BridgeError`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Call:
    """A message, and the host that waits for its reply."""

    link: socket.socket
    message: Message

    @property
    def number(self) -> int | None:
        """Its id in the reply."""
        number = self.message.get("id")
        return number if type(number) is int else None


Handler = Callable[[Message], Message]
Tools = Mapping[str, Handler]
CallQueue = queue.Queue[Call]


class Server:
    """Executes desktop calls one after another. Frame calls and file, terminal and tool calls run concurrently.

    `start` creates the desktop with a size, once; `home` is the digest of the home folder before it; `tools` are those
    of suites. A call with a lower fencing token than one seen before changes nothing.
    """

    def __init__(
        self,
        host_listener: HostListener,
        start: Callable[[int, int], Desktop],
        machine_io: MachineIO,
        home: str,
        tools: Tools,
    ) -> None:
        self._host_listener, self._start, self._machine_io, self._home, self._tools = (
            host_listener,
            start,
            machine_io,
            home,
            tools,
        )
        self.link: socket.socket | None = None
        """The connected host."""
        self._fence, self._size = 0, (0, 0)
        self._desktop: Desktop | None = None
        self._send_lock = threading.Lock()
        self._parallel_slots = threading.BoundedSemaphore(MAX_PARALLEL_CALLS)

    def serve(self) -> None:
        """Serve until no more hosts come."""
        call_queues = {"perform": self._start_queue(self._perform), "frame": self._start_queue(self._frame)}
        call_queues["start"] = call_queues["observe"] = call_queues["tool"] = call_queues["perform"]
        while (link := self._host_listener.accept()) is not None:
            self.link = link
            with link, suppress(wire.WireError, OSError):
                self._send_state(link)
                while True:
                    call = Call(link, wire.receive(link))
                    if not isinstance(call.message.get("op"), str):
                        self._reject(call, CallRejected("machine_gone", "this is no call"))
                        continue
                    call_queue = call_queues.get(call.message["op"])
                    if call.message["op"] == "inside":
                        self._do_in_thread(call)
                    elif call_queue is None:
                        self._do(self._at_once, call)
                    elif not _put(call_queue, call):
                        self._reject(call, CallRejected("bridge_unavailable", "too many calls are waiting"))
            if self._desktop is not None:
                # The next host's first frame must not wait behind this request.
                self._desktop.cancel_frame_wait()

    def begin(self, width: int, height: int) -> None:
        """Create the desktop. A system that already has one does not wait for a host's request."""
        if type(width) is not int or type(height) is not int:
            raise TypeError("width and height are numbers")
        self._size = width, height
        self._desktop = self._start(width, height)

    def _send_state(self, link: socket.socket) -> None:
        """Send a new host the current state."""
        width, height = self._size
        state = {"started": self._desktop is not None, "fence": self._fence, "home": self._home}
        self.send(link, {"id": wire.READY, "result": {**state, "width": width, "height": height}})

    def _start_queue(self, handler: Handler) -> CallQueue:
        """Start a thread that handles calls in order."""
        waiting: CallQueue = queue.Queue(MAX_QUEUED_CALLS)

        def work() -> None:
            while True:
                self._do(handler, waiting.get())

        threading.Thread(target=work, daemon=True).start()
        return waiting

    def _do(self, handler: Handler, call: Call) -> None:
        try:
            self.send(call.link, {"id": call.number, "result": handler(call.message)})
        except CallRejected as refused:
            self._reject(call, refused)
        except (*SENSELESS, wire.WireError) as error:
            # It ends this call alone. How far it got is unknown, which `machine_gone` means.
            traceback.print_exception(error)
            self._reject(call, CallRejected("machine_gone", f"the call makes no sense: {type(error).__name__}"))

    def _do_in_thread(self, call: Call) -> None:
        """Run a file, terminal or tool call in its own thread."""
        if not self._parallel_slots.acquire(blocking=False):
            return self._reject(call, CallRejected("bridge_unavailable", "too many calls are waiting"))

        def work() -> None:
            try:
                self._do(self._call_machine_io, call)
            finally:
                self._parallel_slots.release()

        threading.Thread(target=work, daemon=True).start()

    def _call_machine_io(self, message: Message) -> Message:
        self._admit(message)
        try:
            return {"failed": None, "answer": self._machine_io.call_handlers[message["call"]](message)}
        except ActionFailed as failure:
            return {"failed": {"code": failure.code, "message": str(failure)}, "answer": {}}

    def _at_once(self, message: Message) -> Message:
        if message["op"] == "hurry":
            self._admit(message)
            self._started_desktop().interrupt()
        return {}

    def _perform(self, message: Message) -> Message:
        self._admit(message)
        match message["op"]:
            case "start":
                self.begin(message["width"], message["height"])
                return {}
            case "observe":
                return self._started_desktop().observe(settle=message["settle"])
            case "tool":
                return self._tools[message["tool"]](message)
        digest = home_digest() if message.get("digest") else None
        options = {"settle": message["settle"], "wait_for_timers": message.get("wait_for_timers", True)}
        return {**self._started_desktop().perform(message["action"], **options), "digest": digest}

    def _frame(self, message: Message) -> Message:
        return self._started_desktop().frame(message["serial"], message["wait"])

    def _started_desktop(self) -> Desktop:
        if self._desktop is None:
            raise CallRejected("machine_gone", "the desktop has not started")
        return self._desktop

    def _admit(self, message: Message) -> None:
        token = message["fence"]
        if type(token) is not int:
            raise TypeError("a fencing token is a number")
        if token < self._fence:
            raise CallRejected("stale_lease", f"fencing token {token} is behind {self._fence}")
        self._fence = token

    def _reject(self, call: Call, refused: CallRejected) -> None:
        self.send(call.link, {"id": call.number, "refused": {"code": refused.code, "message": str(refused)}})

    def send(self, link: socket.socket, message: Message) -> None:
        """Send a reply. Drops it if the host is gone."""
        data = wire.encode(message)
        with self._send_lock, suppress(OSError):
            link.sendall(data)


def _put(waiting: CallQueue, call: Call) -> bool:
    try:
        waiting.put_nowait(call)
    except queue.Full:
        return False
    return True
