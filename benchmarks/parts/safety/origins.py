"""Pages of other origins try to use the cookies and tickets of somebody who is signed in."""

import base64
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from benchmarks.parts.figures import print_progress
from benchmarks.parts.safety.requests import Session, http_connection

SWITCHING = 101
CHANGES = (("PATCH", "/api/me"), ("POST", "/api/me/sign-ins/end-others"), ("DELETE", "/api/session"))
"""Requests that a page of another origin must not make."""


@dataclass(frozen=True, slots=True)
class SocketDoor:
    """A WebSocket: where it is, what a browser brings by itself, and the origin of our own page."""

    name: str
    address: str
    host: str
    """What the request calls the server."""
    target: Callable[[], str]
    """A fresh ticket may be in it."""
    origin: str | None
    """None: pages may not open it, whatever their origin; programs send none."""
    headers: Mapping[str, str] = field(default_factory=dict)


def foreign_origins(own: str, bridge: str) -> Iterator[str | None]:
    """Origins that are not `own`, but like it. None: no such header.

    Args:
        own: The web app's, such as `http://localhost:8000`.
        bridge: The address of the bridge, below which programs of machines are shown.
    """
    scheme, _, host = own.partition("://")
    name, _, port = host.partition(":")
    other = "https" if scheme == "http" else "http"
    yield None
    yield from ("", "null", "*", "file://", "about:blank", "chrome-extension://abcdefghijklmnop", f"{scheme}://")
    yield from (f"{scheme}://{name}", f"{scheme}://{name}:{int(port) + 1}", f"{scheme}://{bridge}", f"{other}://{host}")
    yield from (f"{scheme}://evil.example", f"{scheme}://evil.example:{port}", f"{scheme}://{host}.evil.example")
    yield from (
        f"{scheme}://{name}.evil.example:{port}",
        f"{scheme}://evil.{name}:{port}",
        f"{scheme}://{name}.:{port}",
    )
    yield from (f"{scheme}://evil{name}:{port}", f"{scheme}://{host}@evil.example", f"{scheme}://evil.example@{host}")
    yield from (f"{own}/", f"{own}#", f"{own} {scheme}://evil.example", f"{scheme}://evil.example {own}", f"{own}0")
    yield from (f"{scheme}://[::1]:{port}", f"{scheme}://127.0.0.2:{port}", f"{scheme}://2130706433:{port}")
    yield from (f"ws://{host}", f"{scheme}:{host}", f"//{host}", host, f"{scheme}://{name}:0{port}", own[:-1])


def try_origins(doors: list[SocketDoor], web: str, session: Session, own: str, bridge: str) -> dict[str, int]:
    """Open every WebSocket and make changes from every foreign origin.

    Args:
        doors: The WebSockets; each must open for its own origin.
        web: `host:port` of the web process.
        session: Of somebody whose cookies the browser sends along.
        own: The web app's origin.
        bridge: `host:port` of the bridge.
    """
    tries = accepted = 0
    for door in doors:
        if not _opens(door, door.origin):
            raise RuntimeError(f"{door.name} does not open for its own page; nothing was tried")
        for origin in foreign_origins(own, bridge):
            tries += 1
            if origin != door.origin and _opens(door, origin):
                accepted += 1
                print_progress(f"open: {door.name} for the origin {origin!r}")
    with http_connection(web) as connection:
        for origin in foreign_origins(own, bridge):
            if origin in (None, ""):
                continue  # a form of an old browser; Django asks for the token then
            for method, path in CHANGES:
                tries += 1
                headers = {**Session(cookie=session.cookie).headers(), "Origin": origin or ""}
                answer = connection.send(method, path, headers, b"{}")
                if answer.status not in (400, 401, 403):
                    accepted += 1
                    print_progress(f"open: {method} {path} for the origin {origin!r}: {answer.status}")
            tries += 1
            allowed = _shares(bridge, origin or "") or _shares(web, origin or "")
            if allowed:
                accepted += 1
                print_progress(f"answers are shared with the origin {origin!r}")
    return {"origin_tries": tries, "foreign_origin_accepted": accepted}


def _opens(door: SocketDoor, origin: str | None) -> bool:
    """Whether a handshake ends with an open socket."""
    headers = {
        "Host": door.host,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": base64.b64encode(secrets.token_bytes(16)).decode(),
        **({} if origin is None else {"Origin": origin}),
        **door.headers,
    }
    with http_connection(door.address) as connection:
        return connection.send("GET", door.target(), headers).status == SWITCHING


def _shares(address: str, origin: str) -> bool:
    """Whether the server lets pages of an origin read its answers."""
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-csrftoken"}
    with http_connection(address) as connection:
        answers = [connection.send("OPTIONS", "/api/queue", asked), connection.send("GET", "/healthz", asked)]
    return any(answer.headers.get("access-control-allow-origin", "") in ("*", origin) for answer in answers)
