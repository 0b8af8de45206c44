"""Names of STUN and TURN servers, resolved before a stream is agreed on and never for long."""

import asyncio
import ipaddress
import re
import socket
import time
from collections.abc import Iterable

from aiortc import RTCIceServer

RESOLVE_SECONDS = 1.0
"""A stream waits so long for a name; aioice itself would wait five seconds."""
VALID_SECONDS = 300.0
"""So long a name is not looked up again; a failure is forgotten at once."""
_URL = re.compile(r"(?P<scheme>stuns?|turns?):(?P<host>\[[^\]]+\]|[^:?]+)(?P<rest>.*)", re.DOTALL)


class IceServerNames:
    """Resolves names of servers in one event loop; each is looked up once at a time, however many wait for it."""

    def __init__(self) -> None:
        self._look_ups: dict[str, asyncio.Task[str]] = {}
        self._addresses: dict[str, tuple[str, float]] = {}

    async def resolve(self, servers: Iterable[RTCIceServer]) -> list[RTCIceServer]:
        """The servers with addresses for names. One whose name has no address within `RESOLVE_SECONDS` is left out, so
        that streams open without it; the look-up goes on for the next. Over TLS the name stays, for the certificate."""
        found = await asyncio.gather(*(self._resolve_server(server) for server in servers))
        return [server for server in found if server is not None]

    async def _resolve_server(self, server: RTCIceServer) -> RTCIceServer | None:
        urls = [server.urls] if isinstance(server.urls, str) else server.urls
        resolved = [url for url in await asyncio.gather(*map(self._resolve_url, urls)) if url is not None]
        return RTCIceServer(resolved, server.username, server.credential) if resolved else None

    async def _resolve_url(self, url: str) -> str | None:
        parts = _URL.fullmatch(url)
        if parts is None or _is_address(parts["host"]):
            return url
        address = await self._address(parts["host"])
        if address is None:
            return None
        return url if parts["scheme"].endswith("s") else f"{parts['scheme']}:{address}{parts['rest']}"

    async def _address(self, host: str) -> str | None:
        address, until = self._addresses.get(host, ("", 0.0))
        if time.monotonic() < until:
            return address
        look_up = self._look_ups.get(host)
        if look_up is None:
            look_up = self._look_ups[host] = asyncio.create_task(self._look_up(host))
            look_up.add_done_callback(lambda task: self._look_ups.pop(host, None) and task.exception())
        done, _ = await asyncio.wait((look_up,), timeout=RESOLVE_SECONDS)
        return look_up.result() if done and look_up.exception() is None else None

    async def _look_up(self, host: str) -> str:
        """Raises OSError. aioice talks to such servers over IPv4."""
        found = await asyncio.get_running_loop().getaddrinfo(host, None, family=socket.AF_INET, type=socket.SOCK_DGRAM)
        address = str(found[0][4][0])
        self._addresses[host] = address, time.monotonic() + VALID_SECONDS
        return address


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
