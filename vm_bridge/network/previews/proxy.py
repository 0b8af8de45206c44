"""The web programs of machines in a browser, for who has a pass: `/sandboxes/{machine}/proxy/{port}/…`.

A ticket is exchanged for a pass at `/sandboxes/{machine}/enter/{port}/…`.
"""

import asyncio
import re
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from redis.exceptions import RedisError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vm_bridge.api.tickets import PREVIEW_PARAMETER, TicketClaim, preview_path
from vm_bridge.errors import MachineGone, TicketRefused
from vm_bridge.guest.common.tunnel import EGRESS_PORT
from vm_bridge.network.previews.forwarding import CONNECTION_ERRORS, WebSocketRejected, forward_http, forward_websocket
from vm_bridge.network.previews.mount import MAX_COOKIES, Header, PreviewMount
from vm_bridge.network.previews.sessions import PreviewSessions
from vm_bridge.network.proxy_errors import ProxyError, error_page
from vm_bridge.sandbox import Sandbox

PREVIEW_PATH = re.compile(rb"/sandboxes/([a-z0-9][a-z0-9_.-]{0,63})/(proxy|enter)/([0-9]{1,5})(/.*)?")
CLEAR_SITE_DATA = b'"cache", "storage"'
"""What a browser deletes of an origin before it shows the programs of a new lease; its service workers are in it."""
FORBIDDEN_PORTS = frozenset({EGRESS_PORT})
"""Ports of the guest's own."""
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
MAX_CONNECTIONS = 64
"""Most connections to one machine."""
MAX_REMEMBERED_PROGRAMS = 1024
"""Programs whose cookies' names are remembered."""
LEASE_CHECK_SECONDS = 1.0
"""Interval of checks that the lease of an open WebSocket is valid (seconds)."""
ProgramKey = tuple[str, int, int]
"""A machine, the fencing token of a lease of it, and a port."""


@dataclass(frozen=True, slots=True)
class _PreviewRequest:
    """A request that may pass."""

    sandbox: Sandbox
    mount: PreviewMount
    claim: TicketClaim
    target: bytes

    @property
    def program(self) -> ProgramKey:
        return self.claim.machine_id, self.claim.fencing_token, self.mount.port


class PreviewProxy:
    """Answers what lies below `/sandboxes/`, and hands everything else on to the application.

    `origin` is the one by which alone browsers come here, `{machine}` in it the machine's name; empty, any will do.
    `framed_by` are the origins of pages that may show a program in a frame. `sandbox_of` raises MachineGone.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        sessions: PreviewSessions,
        sandbox_of: Callable[[str], Sandbox],
        frame_ancestors: Sequence[str],
        origin: str = "",
    ) -> None:
        self._app, self._sessions, self._sandbox_of = app, sessions, sandbox_of
        self._framed_by = frame_ancestors
        self._host, self._secure = urlsplit(origin).netloc, origin.startswith("https://")
        self._open: Counter[str] = Counter()
        self._cookies: OrderedDict[ProgramKey, set[str]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = PREVIEW_PATH.fullmatch(scope.get("raw_path", b"")) if scope["type"] in ("http", "websocket") else None
        if match is None:
            return await self._app(scope, receive, send)
        machine_id, entering, port, rest = match[1].decode(), match[2] == b"enter", int(match[3]), match[4] or b""
        try:
            if entering and scope["type"] == "http":
                await self._enter(scope, machine_id, port, rest, send)
            elif scope["type"] == "websocket":
                await self._socket(await self._admit(scope, machine_id, port, rest), scope, receive, send)
            elif not rest:
                await _send_redirect(scope["raw_path"] + b"/", scope["query_string"], [], send)
            else:
                await self._http(await self._admit(scope, machine_id, port, rest), scope, receive, send)
        except TicketRefused as refused:
            await _send_error(ProxyError(refused.code, f"This page cannot be shown: {refused}."), scope, send)
        except ProxyError as error:
            await _send_error(error, scope, send)
        except RedisError:
            await _send_error(ProxyError("bridge_unavailable", "It cannot be checked now who you are."), scope, send)

    async def _enter(self, scope: Scope, machine_id: str, port: int, rest: bytes, send: Send) -> None:
        """Exchange the ticket and send the browser on to the page. Raises TicketRefused."""
        ticket, query = _split_ticket(scope)
        if ticket is None:
            raise TicketRefused("open this page from the desk")
        self._check_host(scope, machine_id)
        secure = self._secure or scope["scheme"] == "https"
        cookies = Headers(scope=scope).get("cookie", "")
        entry = await self._sessions.exchange(ticket, machine_id, cookies, secure=secure)
        headers: list[Header] = [(b"set-cookie", cookie.encode()) for cookie in entry.cookies]
        if entry.new_lease:
            headers.append((b"clear-site-data", CLEAR_SITE_DATA))
        await _send_redirect(f"{preview_path(machine_id)}/{port}".encode() + (rest or b"/"), query, headers, send)

    async def _admit(self, scope: Scope, machine_id: str, port: int, rest: bytes) -> _PreviewRequest:
        """Raises TicketRefused, Refusal."""
        headers = Headers(scope=scope)
        host = self._check_host(scope, machine_id)
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE_METHODS
        if changes and urlsplit(headers.get("origin", f"//{host}")).netloc != host:
            raise TicketRefused("the request comes from a page of another origin")
        claim = await self._sessions.claim(headers.get("cookie", ""), machine_id)
        if port in FORBIDDEN_PORTS or not 0 < port < 65_536:
            raise ProxyError("port_forbidden", f"Port {port} cannot be shown.")
        try:
            sandbox = self._sandbox_of(machine_id)
        except MachineGone as gone:
            raise TicketRefused(str(gone)) from gone
        whole = any(service.whole and service.port == port for service in sandbox.capabilities.services)
        mount = PreviewMount(machine_id, port, host, whole)
        query = scope["query_string"]
        target = (scope["raw_path"] if whole else rest or b"/") + (b"?" + query if query else b"")
        return _PreviewRequest(sandbox, mount, claim, target)

    def _check_host(self, scope: Scope, machine_id: str) -> str:
        """The host a request came by. Raises TicketRefused when machines are shown by another one."""
        host = Headers(scope=scope).get("host", "")
        if self._host and host != self._host.replace("{machine}", machine_id):
            raise TicketRefused("machines are shown under another name")
        return host

    async def _http(self, preview_request: _PreviewRequest, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        def answer(headers: Iterable[Header]) -> list[Header]:
            kept = preview_request.mount.to_browser(headers, self._framed_by)
            self._remember(preview_request, kept)
            return kept

        headers = preview_request.mount.to_program(scope["headers"], self._cookies.get(preview_request.program, ()))
        with self._count_connection(preview_request):
            try:
                connection = await preview_request.sandbox.dial(preview_request.mount.port)
                await forward_http(connection, scope["method"], preview_request.target, headers, receive, sent, answer)
            except ConnectionRefusedError as error:
                message = f"Nothing listens on port {preview_request.mount.port} of this machine."
                raise ProxyError("nothing_listens", message) from error
            except CONNECTION_ERRORS as error:
                if not started:
                    raise ProxyError("broken_off", "The program of this machine did not answer.") from error
                raise ConnectionAbortedError("the program broke off in the middle of its answer") from error

    async def _socket(self, preview_request: _PreviewRequest, scope: Scope, receive: Receive, send: Send) -> None:
        headers = preview_request.mount.to_program(scope["headers"], self._cookies.get(preview_request.program, ()))
        address = f"ws://127.0.0.1:{preview_request.mount.port}{preview_request.target.decode('latin-1')}"
        with self._count_connection(preview_request):
            try:
                connection = await preview_request.sandbox.dial(preview_request.mount.port)
                await forward_websocket(
                    connection,
                    address,
                    headers,
                    scope["subprotocols"],
                    receive,
                    send,
                    lambda: self._wait_lease_end(preview_request),
                )
            except (OSError, WebSocketRejected) as error:
                raise ProxyError("nothing_listens", "The program of this machine takes no such connection.") from error

    async def _wait_lease_end(self, preview_request: _PreviewRequest) -> None:
        """Returns when the lease has ended."""
        while True:
            await asyncio.sleep(LEASE_CHECK_SECONDS)
            try:
                await self._sessions.check(preview_request.claim, preview_request.mount.machine_id)
            except TicketRefused:
                return

    @contextmanager
    def _count_connection(self, preview_request: _PreviewRequest) -> Iterator[None]:
        """Raises Refusal when too many connections are open to one machine."""
        machine_id = preview_request.mount.machine_id
        if self._open[machine_id] >= MAX_CONNECTIONS:
            raise ProxyError("too_many_connections", "Too many connections to this machine are open.")
        self._open[machine_id] += 1
        try:
            yield
        finally:
            self._open[machine_id] -= 1
            if not self._open[machine_id]:
                del self._open[machine_id]

    def _remember(self, preview_request: _PreviewRequest, headers: Iterable[Header]) -> None:
        """Which cookies are this program's: a browser sends those of the whole host along."""
        names = self._cookies.setdefault(preview_request.program, set())
        names |= set(list(preview_request.mount.cookie_names(headers) - names)[: MAX_COOKIES - len(names)])
        self._cookies.move_to_end(preview_request.program)
        while len(self._cookies) > MAX_REMEMBERED_PROGRAMS:
            self._cookies.popitem(last=False)


def _split_ticket(scope: Scope) -> tuple[str | None, bytes]:
    """The ticket in an address, and its query without it."""
    mark = f"{PREVIEW_PARAMETER}=".encode()
    parts = scope["query_string"].split(b"&")
    ticket = next((part.removeprefix(mark).decode("latin-1") for part in parts if part.startswith(mark)), None)
    return ticket, b"&".join(part for part in parts if not part.startswith(mark))


async def _send_redirect(path: bytes, query: bytes, headers: Sequence[Header], send: Send) -> None:
    """Send a browser to another page of a program."""
    location = path + (b"?" + query if query else b"")
    response_headers = [*headers, (b"location", location), (b"cache-control", b"no-store")]
    response_headers += [(b"referrer-policy", b"no-referrer"), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 303, "headers": response_headers})
    await send({"type": "http.response.body", "body": b""})


async def _send_error(error: ProxyError, scope: Scope, send: Send) -> None:
    """Reject a request: with a page for page requests, with a refused handshake for WebSockets."""
    if scope["type"] == "websocket":
        return await send({"type": "websocket.close", "code": 1008, "reason": error.code})
    body, headers = error_page(error)
    kept = [(name.lower(), value) for name, value in headers if name != b"Connection"]
    await send({"type": "http.response.start", "status": error.status, "headers": kept})
    await send({"type": "http.response.body", "body": body})
