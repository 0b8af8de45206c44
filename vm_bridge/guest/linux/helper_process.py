"""A helper process of the guest, started on first use. It keeps heavy libraries and busy programs out of the guest.

They communicate over a socket pair, as host and guest do. The helper ends when the guest's end closes.
"""

import itertools
import os
import queue
import socket
import subprocess
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from vm_bridge.guest.common import wire
from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.wire import Message

MAX_PARALLEL_CALLS = 24
"""Maximum concurrent calls of a helper."""
CLOSING_SECONDS = 5.0

ReplyQueue = queue.SimpleQueue[Message]
"""Receives the one reply to a call."""


class HelperProcess:
    """The guest's end. Any thread may call. The next call restarts a dead helper."""

    def __init__(self, name: str, command: tuple[str, ...], environment: Mapping[str, str] | None = None) -> None:
        self._name, self._command, self._environment = name, command, environment
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._send_lock = threading.Lock()
        self._link: socket.socket | None = None
        self._reader: threading.Thread | None = None
        self._pending: dict[int, ReplyQueue] = {}

    @property
    def running(self) -> bool:
        """Whether it has been started and has not ended."""
        return self._link is not None

    def call(self, op: str, *, timeout: float, **arguments: object) -> Message:
        """The result of one call. Raises ActionFailed with the helper's error, or if it ended or timed out."""
        number, reply = next(self._numbers), ReplyQueue()
        self._send(number, reply, {"id": number, "op": op, **arguments})
        try:
            answer = reply.get(timeout=timeout)
        except queue.Empty:
            raise ActionFailed("timed_out", f"{self._name} did not answer within {timeout:g} s") from None
        finally:
            self._pending.pop(number, None)
        failed = answer.get("failed")
        if failed is not None:
            raise ActionFailed(failed["code"], failed["message"], failed["text"])
        result: Message = answer["result"]
        return result

    def end(self) -> None:
        """Stop the helper and wait for its end."""
        link, listening = self._link, self._reader
        if link is not None and listening is not None:
            self._end(link)
            listening.join()

    def notify(self, op: str) -> None:
        """Send a call without a reply to a running helper."""
        link = self._link
        if link is not None:
            with self._send_lock, suppress(OSError):
                link.sendall(wire.encode({"id": 0, "op": op}))

    def _send(self, number: int, reply: ReplyQueue, message: Message) -> None:
        with self._lock:
            link = self._link = self._link or self._start()
            self._pending[number] = reply
        try:
            with self._send_lock:
                link.sendall(wire.encode(message))
        except OSError:
            self._end(link)

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                process = subprocess.Popen(
                    (*self._command, str(theirs.fileno())),
                    pass_fds=(theirs.fileno(),),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd=Path.home(),
                    env=None if self._environment is None else {**os.environ, **self._environment},
                    start_new_session=True,
                )
            except OSError as error:
                ours.close()
                raise ActionFailed("not_installed", f"{self._command[0]}: {error.strerror}") from error
        self._reader = threading.Thread(target=self._listen, args=(ours, process), daemon=True)
        self._reader.start()
        return ours

    def _listen(self, link: socket.socket, process: "subprocess.Popen[bytes]") -> None:
        with link:
            with suppress(wire.WireError, OSError):
                while True:
                    answer = wire.receive(link)
                    reply = self._pending.get(answer["id"])
                    if reply is not None:
                        reply.put(answer)
            self._end(link)
        try:
            process.wait(CLOSING_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _end(self, link: socket.socket) -> None:
        """Fail all calls that wait for this helper."""
        with self._lock:
            if self._link is not link:
                return
            self._link = None
            pending, self._pending = self._pending, {}
        with suppress(OSError):
            link.shutdown(socket.SHUT_RDWR)
        for number, reply in pending.items():
            message = f"{self._name} ended unexpectedly; what it held is lost, the next call starts it again"
            reply.put({"id": number, "failed": {"code": "ended", "message": message, "text": None}})


Calls = Mapping[str, Callable[[Message], Message]]


def serve_calls(descriptor: int, calls: Calls) -> None:
    """The helper's end: executes calls concurrently until the guest's end closes."""
    from concurrent.futures import ThreadPoolExecutor  # keeps the guest small, which never gets here

    send_lock = threading.Lock()
    with socket.socket(fileno=descriptor) as link, suppress(wire.WireError, OSError):
        link.set_inheritable(False)

        def do(message: Message) -> None:
            data = wire.encode({"id": message["id"], **call_result(calls[message["op"]], message)})
            with send_lock, suppress(OSError):
                link.sendall(data)

        workers = ThreadPoolExecutor(MAX_PARALLEL_CALLS)
        while True:
            workers.submit(do, wire.receive(link))


def call_result(call: Callable[[Message], Message], message: Message) -> Message:
    """A call's result, or why it failed."""
    try:
        return {"result": call(message)}
    except ActionFailed as failure:
        return failure_message(failure)


def failure_message(failure: ActionFailed) -> Message:
    """A failure as a message."""
    return {"failed": {"code": failure.code, "message": str(failure), "text": failure.text}}
