"""Reads large request bodies only from signed-in people, within a limit for each process.

Daphne writes a whole body to a temporary file before the application sees the request, also for strangers. This module
first checks the sign-in of a request with a large body, as the proxy does (`/api/me/signed-in`). Meanwhile it does not
read the connection. It answers a refused request at once and discards the rest of its body for a moment, so that the
client reads the answer before the connection closes.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

from daphne.http_protocol import WebRequest

logger = logging.getLogger(__name__)

SMALL_BODY_BYTES = 100_000
"""What anybody may send. Twisted keeps bodies below this in memory."""
MAX_BODY_BYTES = 33 * 1024**2
"""The largest that any route takes; the proxy has the same."""
SPOOL_BYTES = 128 * 1024**2
"""Of large bodies that a process has read or reads, together. Django copies each once while it is read."""
CHECK_TIMEOUT_SECONDS = 10.0
LINGER_SECONDS = 2.0
SIGNED_IN_PATH = "/api/me/signed-in"
DROPPED_HEADERS = {b"content-length", b"content-type", b"transfer-encoding", b"expect", b"daphne-root-path"}
"""Of the request, not asked for the sign-in with."""
REASONS = {401: "Unauthorized", 413: "Content Too Large", 503: "Service Unavailable"}
NOT_SIGNED_IN = ("not_signed_in", "Sign in first.")
TOO_LARGE = ("too_large", "The request is too large.")
BUSY = ("uploads_busy", "Too many files come in now. Try again soon.")


class Spool:
    """How much of large bodies this process holds."""

    def __init__(self) -> None:
        self.held_bytes = 0

    def reserve(self, size: int) -> bool:
        """Whether there is room for so many bytes more, which are then held."""
        if self.held_bytes + size > SPOOL_BYTES:
            return False
        self.held_bytes += size
        return True

    def release(self, size: int) -> None:
        """Give so many back."""
        self.held_bytes -= size


SPOOL = Spool()


class _State(Enum):
    SMALL = auto()
    ASKED = auto()
    ADMITTED = auto()
    REFUSED = auto()


class AdmittedRequest(WebRequest):  # type: ignore[misc]  # daphne has no types
    """Daphne's request, whose large body is read once its sender is known."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._state = _State.SMALL
        self._received = self._reserved = 0
        self._complete = False
        self._check: asyncio.Task[None] | None = None
        super().__init__(*arguments, **options)

    def gotLength(self, length: int | None) -> None:
        """The headers have come; `length` is None for a body in chunks."""
        super().gotLength(length)
        if length is not None and length > SMALL_BODY_BYTES:
            self._admit(length)

    def handleContentChunk(self, data: bytes) -> None:
        """A part of the body has come."""
        if self._refused:
            return
        self._received += len(data)
        if self._received > max(self._reserved, SMALL_BODY_BYTES):
            self._admit(self._received)
        if not self._refused:
            super().handleContentChunk(data)

    def process(self) -> None:
        """The whole request has come."""
        self._complete = True
        match self._state:
            case _State.SMALL | _State.ADMITTED:
                super().process()
            case _State.REFUSED:
                self.channel.loseConnection()

    def connectionLost(self, reason: Any) -> None:
        """The client has gone."""
        if self._check is not None:
            self._check.cancel()
        self._release()
        super().connectionLost(reason)

    def finish(self) -> None:
        """The answer has been given."""
        self._release()
        super().finish()

    @property
    def _refused(self) -> bool:
        return self._state is _State.REFUSED

    def _admit(self, size: int) -> None:
        """Hold room for so many bytes; ask who sends them where that is not known yet."""
        if size > MAX_BODY_BYTES:
            self._refuse(413, TOO_LARGE)
        elif not SPOOL.reserve(size - self._reserved):
            self._refuse(503, BUSY)
        else:
            self._reserved = size
            if self._state is _State.SMALL:
                self._state = _State.ASKED
                self.channel.pauseProducing()
                self._check = asyncio.ensure_future(self._ask())

    async def _ask(self) -> None:
        try:
            status = await asyncio.wait_for(self._sign_in_status(), CHECK_TIMEOUT_SECONDS)
        except TimeoutError:
            status = 503
        except Exception:  # the connection must not stay unread
            logger.exception("the sender of a large body could not be identified")
            status = 503
        if self._state is not _State.ASKED:
            return
        if status != 204:
            self._refuse(401, NOT_SIGNED_IN) if status < 500 else self._refuse(503, BUSY)
            return
        self._state = _State.ADMITTED
        self.channel.resumeProducing()
        if self._complete:
            super().process()

    async def _sign_in_status(self) -> int:
        """What the application says of the sender."""
        statuses: list[int] = []
        received: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()
        received.put_nowait({"type": "http.request", "body": b"", "more_body": False})

        async def send(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        await self.server.application(scope=self._sign_in_scope(), receive=received.get, send=send)
        return statuses[0] if statuses else 500

    def _sign_in_scope(self) -> dict[str, Any]:
        headers = [
            (name.lower(), value)
            for name, values in self.requestHeaders.getAllRawHeaders()
            for value in values
            if name.lower() not in DROPPED_HEADERS and b"_" not in name
        ]
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "path": SIGNED_IN_PATH,
            "raw_path": SIGNED_IN_PATH.encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": b"",
            "headers": headers,
            "client": [str(getattr(self.client, "host", "")), int(getattr(self.client, "port", 0))],
            "server": None,
        }

    def _refuse(self, status: int, error: tuple[str, str]) -> None:
        """Answer now, and drop what else comes until the connection closes."""
        self._state = _State.REFUSED
        self._release()
        code, message = error
        body = json.dumps({"code": code, "message": message, "extra": {}}).encode()
        head = f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Type: application/json\r\n"
        end = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        self.channel.transport.write((head + end).encode() + body)
        self.content.truncate(0)
        if self._complete:
            self.channel.loseConnection()
            return
        self.channel.resumeProducing()
        asyncio.get_running_loop().call_later(LINGER_SECONDS, self._close)

    def _close(self) -> None:
        if getattr(self, "channel", None) is not None:  # Twisted drops it with the connection
            self.channel.loseConnection()

    def _release(self) -> None:
        SPOOL.release(self._reserved)
        self._reserved = 0
