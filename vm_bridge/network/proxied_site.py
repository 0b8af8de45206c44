"""The network, for tasks that may reach some of it, through the same filtering proxy as that of desktops."""

import asyncio
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import h11

from vm_bridge.browser.site import Request, Response, Site
from vm_bridge.network.allowlist import AllowList
from vm_bridge.network.egress_proxy import PROXY_SOCKET, EgressProxy

FETCH_TIMEOUT_SECONDS = 20.0
MAX_BODY_BYTES = 16 * 1024 * 1024
CHUNK = 64 * 1024
RESERVED = ".test"
"""How names of our own sites end; no host outside has such a name (RFC 6761)."""
DROPPED_HEADERS = frozenset({"host", "connection", "accept-encoding", "content-length", "transfer-encoding"})
"""Headers that are of one connection; what comes is not packed, as the page is given it whole."""


class ProxiedSite:
    """A site, and beyond it the hosts a task may reach. What they say is not the same in every run."""

    def __init__(self, site: Site, allowed: Sequence[str], folder: Path, egress: EgressProxy | None = None) -> None:
        """`folder` is its own; `egress` is for another choice of addresses than the public ones."""
        self._site, self._allowed, self._folder = site, AllowList.of(allowed), folder
        self._egress = egress or EgressProxy("browser", allowed)

    async def open(self) -> Self:
        await asyncio.to_thread(self._folder.mkdir, parents=True, exist_ok=True)
        await self._egress.open(self._folder)
        return self

    async def close(self) -> None:
        """Idempotent."""
        await self._egress.close()

    async def answer(self, request: Request) -> Response:
        """See `Site.answer`."""
        host = urlsplit(request.url).hostname or ""
        if host.endswith(RESERVED) or not self._allowed.matches_host(host):
            return await self._site.answer(request)
        try:
            async with asyncio.timeout(FETCH_TIMEOUT_SECONDS):
                return await self._fetch(request)
        except TimeoutError:
            return Response(failure="TimedOut")
        except (OSError, h11.ProtocolError, ValueError):
            return Response(failure="ConnectionFailed")

    async def _fetch(self, request: Request) -> Response:
        parts = urlsplit(request.url)
        secure = parts.scheme == "https"
        reader, writer = await asyncio.open_unix_connection(self._folder / PROXY_SOCKET, limit=CHUNK)
        try:
            target = request.url.partition("#")[0]
            if secure:
                host = parts.hostname or ""
                await _open_tunnel(reader, writer, f"{host}:{parts.port or 443}")
                await writer.start_tls(ssl.create_default_context(), server_hostname=host)
                target = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
            headers = [(name, text) for name, text in request.headers.items() if name.lower() not in DROPPED_HEADERS]
            headers += [("Host", parts.netloc.rpartition("@")[2]), ("Connection", "close")]
            if request.body:
                headers.append(("Content-Length", str(len(request.body))))
            return await _exchange(reader, writer, request, target, headers)
        finally:
            writer.close()


async def _open_tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, to: str) -> None:
    """Have the proxy connect on. Raises ConnectionError."""
    writer.write(f"CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n\r\n".encode("ascii"))
    head = await reader.readuntil(b"\r\n\r\n")
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise ConnectionRefusedError(to)


async def _exchange(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    request: Request,
    target: str,
    headers: list[tuple[str, str]],
) -> Response:
    talk = h11.Connection(h11.CLIENT)
    writer.write(talk.send(h11.Request(method=request.method, target=target, headers=headers)) or b"")
    if request.body:
        writer.write(talk.send(h11.Data(request.body)) or b"")
    writer.write(talk.send(h11.EndOfMessage()) or b"")
    status, response_headers, body = 502, {}, bytearray()
    while True:
        event = talk.next_event()
        if event is h11.NEED_DATA:
            talk.receive_data(await reader.read(CHUNK))
        elif isinstance(event, h11.Response):
            status = event.status_code
            response_headers = {name.decode("latin-1"): text.decode("latin-1") for name, text in event.headers}
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > MAX_BODY_BYTES:
                return Response(failure="InsufficientResources")
        elif isinstance(event, h11.EndOfMessage | h11.ConnectionClosed):
            kept = {name: text for name, text in response_headers.items() if name.lower() not in DROPPED_HEADERS}
            return Response(status, bytes(body), kept)
