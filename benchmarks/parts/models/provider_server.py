"""A provider's API on loopback: it answers each request with the next of the answers it was given, and records what it
was asked.

An answer is an object: `status` with `json` or `text` (and `headers`), or `events` of a stream in its provider's wire
format, or `raw` parts of one. With `cut` the connection ends within the stream, with `hang` it goes silent, with
`done` false a stream of completion chunks lacks its last line.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from protocol.providers import Provider

Answer = dict[str, Any]
MAX_REQUEST_BYTES = 64 * 2**20
READ_SECONDS = 10.0


@dataclass
class RecordedRequest:
    """One request, as it came."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class ProviderServer:
    """What it answers, and what it was asked."""

    provider: Provider
    answers: Sequence[Answer]
    requests: list[RecordedRequest] = field(default_factory=list)
    origin: str = ""
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the first request has come."""
    hung_up: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client ends a request that the server had not answered to its end."""
    _connections: set[asyncio.Task[Any]] = field(default_factory=set)

    @property
    def base_url(self) -> str:
        """The address that a client of this provider is given."""
        return f"{self.origin}/v1" if self.provider in ("openai", "openai_compatible") else self.origin

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            async with asyncio.timeout(READ_SECONDS):
                request = await _read_request(reader)
            if request is None:
                return
            if not request.path.endswith(_MODEL_PATHS):
                writer.write(_head(404, {}) + b"0\r\n\r\n")
                return
            self.requests.append(request)
            self.asked.set()
            answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
            await self._answer(answer, reader, writer)
        except (TimeoutError, ConnectionError, asyncio.IncompleteReadError):
            self.hung_up.set()
        finally:
            self._connections.discard(task)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

    async def close(self) -> None:
        """End every connection."""
        for task in tuple(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _answer(self, answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        headers = dict(answer.get("headers", {}))
        streamed = "events" in answer or "raw" in answer
        headers.setdefault("content-type", "text/event-stream" if streamed else "application/json")
        writer.write(_head(answer["status"], headers))
        for part in self._parts(answer):
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
        await writer.drain()
        if answer.get("hang"):
            await reader.read(1)  # until the client ends the request
            self.hung_up.set()
        elif not answer.get("cut"):
            writer.write(b"0\r\n\r\n")
            await writer.drain()

    def _parts(self, answer: Answer) -> Iterator[bytes]:
        if "json" in answer:
            yield json.dumps(answer["json"]).encode()
        elif answer.get("text"):
            yield answer["text"].encode()
        yield from (part.encode() for part in answer.get("raw", ()))
        named = self.provider in ("anthropic", "openai")
        for event in answer.get("events", ()):
            name = f"event: {event['type']}\n" if named else ""
            yield f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
        ended = answer.get("done", True) and not answer.get("cut") and not answer.get("hang")
        if self.provider == "openai_compatible" and "events" in answer and ended:
            yield b"data: [DONE]\n\n"


_MODEL_PATHS = ("/chat/completions", "/messages", "/responses", ":streamGenerateContent")


@asynccontextmanager
async def provider_server(provider: Provider, answers: Sequence[Answer]) -> AsyncIterator[ProviderServer]:
    """A server at a free port of loopback, while the block runs."""
    served = ProviderServer(provider, answers)
    server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
    served.origin = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield served
    finally:
        server.close()
        await served.close()
        await server.wait_closed()


async def _read_request(reader: asyncio.StreamReader) -> RecordedRequest | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    length = int(headers.get("content-length", "0"))
    if length > MAX_REQUEST_BYTES:
        return None
    body = await reader.readexactly(length) if length else b""
    path = first.split(" ")[1].partition("?")[0]
    return RecordedRequest(path, headers, json.loads(body) if body else {})


def _head(status: int, headers: dict[str, str]) -> bytes:
    fields = {**headers, "transfer-encoding": "chunked", "connection": "close"}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} Status\r\n{lines}\r\n".encode()
