"""The CDP pipe of Chromium: sends calls, and receives answers and events."""

import asyncio
import itertools
import json
import logging
import os
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from vm_bridge.browser.errors import BrowserEnded, BrowserFailed

logger = logging.getLogger(__name__)

CALL_SECONDS = 20.0
MAX_MESSAGE = 128 * 1024 * 1024
"""Buffer limit. A browser that sends more at once is broken, and is ended."""

CdpPayload = dict[str, Any]
T = TypeVar("T")
Listener = Callable[[str, CdpPayload], None]
"""Called with an event's name and parameters; must not block."""


class Pipe(asyncio.Protocol):
    """One browser's end of the pipe.

    Calls may be sent without waiting for earlier answers: the browser executes them in order.
    """

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, tuple[str, str, asyncio.Future[CdpPayload]]] = {}
        """The method, the session and the answer of each pending call."""
        self._listeners: dict[str, Listener] = {}
        self._buffer = bytearray()
        self._scanned = 0
        """Length of the unparsed rest that contains no message end."""
        self._out: asyncio.WriteTransport | None = None
        self._in: asyncio.ReadTransport | None = None

    @classmethod
    async def open(cls, read: int, write: int) -> "Pipe":
        """Create a pipe over two descriptors, which it then owns."""
        loop = asyncio.get_running_loop()
        pipe = cls()
        pipe._in, _ = await loop.connect_read_pipe(lambda: pipe, os.fdopen(read, "rb", 0))
        pipe._out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(write, "wb", 0))
        return pipe

    def listen(self, session: str, listener: Listener) -> None:
        """Set the listener for the events of a session. The browser's own events belong to the session ""."""
        self._listeners[session] = listener

    def forget(self, session: str) -> None:
        """Remove a session's listener."""
        self._listeners.pop(session, None)

    def send(self, method: str, session: str = "", **parameters: Any) -> asyncio.Future[CdpPayload]:
        """Send a call. The caller may await the answer, with its own timeout."""
        answer: asyncio.Future[CdpPayload] = asyncio.get_running_loop().create_future()
        if self._out is None or self._out.is_closing() or self.ended.is_set():
            self.connection_lost(None)  # if one direction is closed, the other is useless
            _fail(answer, BrowserEnded("the browser has ended"))
            return answer
        number = next(self._numbers)
        message: CdpPayload = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        self._waiting[number] = (method, session, answer)
        self._out.write(json.dumps(message, separators=(",", ":")).encode() + b"\0")
        return answer

    async def call(
        self, method: str, session: str = "", *, seconds: float = CALL_SECONDS, **parameters: Any
    ) -> CdpPayload:
        """Send a call and wait for its answer. Raises BrowserFailed."""
        return await within_timeout(self.send(method, session, **parameters), method, seconds)

    def close(self) -> None:
        """Close the pipe. Idempotent."""
        for transport in (self._in, self._out):
            if transport is not None:
                transport.close()
        self.connection_lost(None)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\0", self._scanned)) >= 0:
            message = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            self._scanned = 0
            self._read(message)
        self._scanned = len(self._buffer)
        if self._scanned > MAX_MESSAGE:
            self.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.ended.is_set():
            return
        self.ended.set()
        for method, _, answer in self._waiting.values():
            _fail(answer, BrowserEnded(f"{method}: the browser has ended"))
        self._waiting.clear()

    def _read(self, text: bytes) -> None:
        """Handle one message. Invalid messages are dropped: a page that takes over its browser must not block other
        sessions.
        """
        try:
            message = json.loads(text)
            if not isinstance(message, dict):
                raise TypeError("it is no object")
            if "id" in message:
                self._answered(message)
            else:
                self._happened(message)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            logger.warning("a message of the browser cannot be read: %s: %s", type(error).__name__, str(error)[:200])

    def _happened(self, message: CdpPayload) -> None:
        if message["method"] == "Target.detachedFromTarget":
            self._fail_calls_of(message["params"]["sessionId"])
        if listener := self._listeners.get(message.get("sessionId", "")):
            listener(message["method"], message.get("params", {}))

    def _answered(self, message: CdpPayload) -> None:
        method, _, answer = self._waiting.pop(message["id"], ("", "", None))
        if answer is None or answer.done():
            return
        error, result = message.get("error"), message.get("result")
        if error is None and isinstance(result, dict):
            answer.set_result(result)
        else:
            said = error.get("message") if isinstance(error, dict) else "the answer makes no sense"
            _fail(answer, BrowserFailed(f"{method}: {said}"))

    def _fail_calls_of(self, session: str) -> None:
        """Fail the pending calls of a closed page; the browser leaves them unanswered."""
        for number in [number for number, (_, owner, _) in self._waiting.items() if owner == session]:
            method, _, answer = self._waiting.pop(number)
            _fail(answer, BrowserFailed(f"{method}: the page has gone"))


def _fail(answer: asyncio.Future[CdpPayload], error: BrowserFailed) -> None:
    if not answer.done():
        answer.set_exception(error)
        answer.exception()  # it may be unobserved


async def within_timeout(answer: Awaitable[T], what: str, seconds: float) -> T:
    """Await an answer with a timeout. Raises BrowserFailed."""
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except TimeoutError:
        raise BrowserFailed(f"{what}: no answer within {seconds:.0f} s") from None
