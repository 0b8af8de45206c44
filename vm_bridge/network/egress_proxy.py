"""The only way out of a sandbox: a proxy on the host that lets through what the task's list allows.

It listens on a unix socket that is mounted into the sandbox, speaks HTTP (absolute form) and CONNECT, and
connects to the very address it has checked, so that a name cannot come to mean another one in between.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import h11

from vm_bridge.guest.common.relay import CHUNK, StreamPair, relay
from vm_bridge.network.addresses import is_public, resolve
from vm_bridge.network.allowlist import AllowList, normalize_host
from vm_bridge.network.headers import HOP_BY_HOP_HEADERS
from vm_bridge.network.proxy_errors import ProxyError, error_page

logger = logging.getLogger(__name__)

PROXY_SOCKET = "proxy.sock"
DROPPED_HEADERS = HOP_BY_HOP_HEADERS | {b"host"}
"""What is not passed on; the host's name is written again."""
MAX_HEAD_BYTES = 64 * 1024
MAX_LOGGED_ERRORS = 200
"""Most different refusals that are logged."""


@dataclass(frozen=True, slots=True)
class EgressLimits:
    """What one sandbox may use between two resets; seconds and bytes."""

    connections: int = 32
    max_bytes: int = 2 * 1024**3
    head: float = 15.0
    connect: float = 10.0
    idle: float = 120.0


Header = tuple[bytes, bytes]
Resolver = Callable[[str, int], Awaitable[Sequence[str]]]


class EgressProxy:
    """One sandbox's proxy. `public` says which addresses it connects to; `resolver` is an argument for tests only,
    which have no public network."""

    def __init__(
        self,
        machine_id: str,
        allowed: Sequence[str],
        *,
        bounds: EgressLimits = EgressLimits(),
        resolver: Resolver = resolve,
        public: Callable[[str], bool] = is_public,
    ) -> None:
        self._machine_id = machine_id
        self._allowed = AllowList.of(allowed)
        self._bounds, self._resolver, self._public = bounds, resolver, public
        self._bytes_transferred = 0
        self._serving: set[asyncio.Task[None]] = set()
        self._logged_errors: set[tuple[str, int, str]] = set()
        self._server: asyncio.Server | None = None

    async def open(self, folder: Path) -> Self:
        """Listen in a folder that the sandbox sees."""
        path = folder / PROXY_SOCKET
        path.unlink(missing_ok=True)
        self._server = await asyncio.start_unix_server(self._accept, path, limit=MAX_HEAD_BYTES)
        path.chmod(0o666)  # the sandbox is another user; nobody else finds the folder
        return self

    async def close(self) -> None:
        """End every connection. Idempotent."""
        if self._server is not None:
            self._server.close()
        serving = tuple(self._serving)
        for task in serving:
            task.cancel()
        if serving:
            await asyncio.wait(serving)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._serving) >= 2 * self._bounds.connections:
            return writer.close()  # beyond those who are told that they are too many
        task = asyncio.create_task(self._handle_connection(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (OSError, h11.ProtocolError):
            pass  # one of the two sides went away or talked nonsense; the other sees it
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = _HttpPeer(h11.Connection(h11.SERVER, MAX_HEAD_BYTES), reader, writer)
        host, port = "", 0
        try:
            async with asyncio.timeout(self._bounds.head):
                request = await client.request()
            if len(self._serving) > self._bounds.connections:
                raise ProxyError("too_many_connections", "This machine has too many connections open.")
            host, port, path = _parse_target(request)
            self._admit(host, port)
            upstream = await self._dial(host, port)
        except ProxyError as error:
            self._log_error(host, port, error.code)
            await client.send_error(error)
            return
        if request.method == b"CONNECT":
            early, _ = client.state.trailing_data
            upstream[1].write(early)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await relay((reader, writer), upstream, idle=self._bounds.idle, count=self._count)
            return
        try:
            async with asyncio.timeout(self._bounds.idle) as limit:
                await self._exchange(client, request, path, upstream, limit)
        finally:
            upstream[1].close()

    def _admit(self, host: str, port: int) -> None:
        """Raises Refusal unless the list allows it."""
        if not self._allowed.rules:
            raise ProxyError("network_off", "This machine has no network.")
        if not self._allowed.matches_host(host):
            raise ProxyError("host_not_allowed", f"This machine may not reach {host}.")
        if not self._allowed.allows(host, port):
            raise ProxyError("port_not_allowed", f"This machine may not reach port {port} of {host}.")

    async def _dial(self, host: str, port: int) -> StreamPair:
        """A connection to an address that was found public. Raises Refusal."""
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._bounds.connect
        try:
            async with asyncio.timeout_at(ends):
                addresses = await self._resolver(host, port)
        except (OSError, UnicodeError) as error:
            raise ProxyError("unresolved", f"{host} is not known.") from error
        if not addresses or not all(map(self._public, addresses)):
            raise ProxyError("address_not_public", f"{host} is not a host of the public network.")
        for address in addresses:
            with suppress(OSError):
                async with asyncio.timeout_at(ends):
                    return await asyncio.open_connection(address, port, limit=MAX_HEAD_BYTES)
        raise ProxyError("unreachable", f"{host} does not answer on port {port}.")

    async def _exchange(
        self, client: "_HttpPeer", request: h11.Request, path: bytes, upstream: StreamPair, limit: asyncio.Timeout
    ) -> None:
        """One request and its response, framed again on both sides. Connections are not reused."""
        loop = asyncio.get_running_loop()

        def on_bytes(size: int) -> None:
            self._count(size)
            limit.reschedule(loop.time() + self._bounds.idle)

        server = _HttpPeer(h11.Connection(h11.CLIENT, MAX_HEAD_BYTES), *upstream)
        host = [(b"Host", urlsplit(request.target).netloc.rpartition(b"@")[2])]
        headers = [
            *host,
            *_forwarded_headers(request.headers),
            *_chunked_headers(request.headers),
            (b"Connection", b"close"),
        ]
        await server.send(h11.Request(method=request.method, target=path, headers=headers))
        request_body_task = asyncio.create_task(client.forward_body(server, on_bytes))
        try:
            response = await server.response()
            kept = [*_forwarded_headers(response.headers), (b"Connection", b"close")]
            await client.send(h11.Response(status_code=response.status_code, reason=response.reason, headers=kept))
            await server.forward_body(client, on_bytes)
        finally:
            request_body_task.cancel()
            await asyncio.gather(
                request_body_task, return_exceptions=True
            )  # what it failed of, the response's side tells

    def _count(self, size: int) -> None:
        self._bytes_transferred += size
        if self._bytes_transferred > self._bounds.max_bytes:
            raise ConnectionAbortedError("this machine has carried all it may")

    def _log_error(self, host: str, port: int, code: str) -> None:
        """Log a refusal, each kind once."""
        logged_error = (host[:260], port, code)
        if logged_error not in self._logged_errors and len(self._logged_errors) < MAX_LOGGED_ERRORS:
            self._logged_errors.add(logged_error)
            logger.info("%s was refused %s port %d: %s", self._machine_id, ascii(logged_error[0]), port, code)


class _HttpPeer:
    """One side of an exchange: its protocol state, and its connection."""

    def __init__(self, state: h11.Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.state, self._reader, self._writer = state, reader, writer

    async def event(self) -> object:
        """The next thing the peer says. Raises h11.RemoteProtocolError."""
        while True:
            event = self.state.next_event()
            if event is not h11.NEED_DATA:
                return event
            if self.state.they_are_waiting_for_100_continue:
                await self.send(h11.InformationalResponse(status_code=100, headers=[]))
            self.state.receive_data(await self._reader.read(CHUNK))

    async def request(self) -> h11.Request:
        """Raises Refusal when it is none."""
        try:
            event = await self.event()
        except h11.RemoteProtocolError as error:
            raise ProxyError("bad_request", "This is not a request.") from error
        if not isinstance(event, h11.Request):
            raise ConnectionResetError("the client went away")
        return event

    async def response(self) -> h11.Response:
        """The final one."""
        while not isinstance(event := await self.event(), h11.Response):
            if not isinstance(event, h11.InformationalResponse):
                raise ConnectionResetError("the server went away")
        return event

    async def forward_body(self, other: "_HttpPeer", on_bytes: Callable[[int], None]) -> None:
        """Send a message's body to the other side as it comes."""
        while isinstance(event := await self.event(), h11.Data):
            on_bytes(len(event.data))
            await other.send(event)
        if isinstance(event, h11.EndOfMessage):
            await other.send(h11.EndOfMessage())

    async def send(self, event: h11.Event) -> None:
        data = self.state.send(event)
        if data:
            self._writer.write(data)
            await self._writer.drain()

    async def send_error(self, error: ProxyError) -> None:
        """Say no in words."""
        if self.state.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        body, headers = error_page(error)
        await self.send(h11.Response(status_code=error.status, headers=headers))
        await self.send(h11.Data(body))
        await self.send(h11.EndOfMessage())


def _parse_target(request: h11.Request) -> tuple[str, int, bytes]:
    """The host, port and path a request is for. Raises Refusal."""
    connect = request.method == b"CONNECT"
    try:
        url = urlsplit(request.target.decode("ascii") if not connect else f"//{request.target.decode('ascii')}")
        host, port = url.hostname or "", url.port or (0 if connect else 80)
    except ValueError as error:
        raise ProxyError("bad_request", "This address cannot be read.") from error
    if not host or not port or (url.scheme != "http" and not connect):
        raise ProxyError("bad_request", "A request to a proxy needs a whole URL, or CONNECT with a host and a port.")
    path = f"{url.path or '/'}{f'?{url.query}' if url.query else ''}"
    return normalize_host(host), port, path.encode("ascii")


def _forwarded_headers(headers: Iterable[Header]) -> list[Header]:
    """What goes on; a length gives way to chunks, as in what was read."""
    headers = list(headers)
    dropped = DROPPED_HEADERS | ({b"content-length"} if _chunked_headers(headers) else set())
    dropped |= {name.strip().lower() for key, value in headers if key == b"connection" for name in value.split(b",")}
    return [(name, value) for name, value in headers if name not in dropped]


def _chunked_headers(headers: Iterable[Header]) -> list[Header]:
    """A chunked request body is forwarded in chunks."""
    return [header for header in headers if header[0] == b"transfer-encoding"]
