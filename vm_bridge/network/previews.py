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

from vm_bridge.errors import MachineGone, TicketRefused
from vm_bridge.guest.doors import EGRESS_PORT
from vm_bridge.network.httpthrough import BROKEN, http_through
from vm_bridge.network.mount import MAX_COOKIES, Header, Mount
from vm_bridge.network.passes import Passes
from vm_bridge.network.refusal import Refusal, page
from vm_bridge.network.socketthrough import NotAccepted, socket_through
from vm_bridge.sandbox import Sandbox
from vm_bridge.tickets import PREVIEW_PARAMETER, TicketClaim, preview_path

PATH = re.compile(rb"/sandboxes/([a-z0-9][a-z0-9_.-]{0,63})/(proxy|enter)/([0-9]{1,5})(/.*)?")
CLEAR_SITE_DATA = b'"cache", "storage"'
"""What a browser deletes of an origin before it shows the programs of a new lease; its service workers are in it."""
FORBIDDEN_PORTS = frozenset({EGRESS_PORT})
"""Ports of the guest's own."""
SAFE = ("GET", "HEAD", "OPTIONS")
MAX_OPEN = 64
"""Most connections to one machine."""
MAX_PROGRAMS = 1024
"""Programs whose cookies' names are remembered."""
CHECK_EVERY = 1.0
"""How often an open WebSocket makes sure that its lease stands (seconds)."""
Program = tuple[str, int, int]
"""A machine, the fencing token of a lease of it, and a port."""


@dataclass(frozen=True, slots=True)
class _Visit:
    """A request that may pass."""

    sandbox: Sandbox
    mount: Mount
    claim: TicketClaim
    target: bytes

    @property
    def program(self) -> Program:
        return self.claim.machine_id, self.claim.fencing_token, self.mount.port


class Previews:
    """Answers what lies below `/sandboxes/`, and hands everything else on to the application.

    `origin` is the one by which alone browsers come here, `{machine}` in it the machine's name; empty, any will do.
    `framed_by` are the origins of pages that may show a program in a frame. `sandbox_of` raises MachineGone.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        passes: Passes,
        sandbox_of: Callable[[str], Sandbox],
        framed_by: Sequence[str],
        origin: str = "",
    ) -> None:
        self._app, self._passes, self._sandbox_of = app, passes, sandbox_of
        self._framed_by = framed_by
        self._host, self._secure = urlsplit(origin).netloc, origin.startswith("https://")
        self._open: Counter[str] = Counter()
        self._cookies: OrderedDict[Program, set[str]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = PATH.fullmatch(scope.get("raw_path", b"")) if scope["type"] in ("http", "websocket") else None
        if match is None:
            return await self._app(scope, receive, send)
        machine_id, entering, port, rest = match[1].decode(), match[2] == b"enter", int(match[3]), match[4] or b""
        try:
            if entering and scope["type"] == "http":
                await self._enter(scope, machine_id, port, rest, send)
            elif scope["type"] == "websocket":
                await self._socket(await self._admit(scope, machine_id, port, rest), scope, receive, send)
            elif not rest:
                await _redirect(scope["raw_path"] + b"/", scope["query_string"], [], send)
            else:
                await self._http(await self._admit(scope, machine_id, port, rest), scope, receive, send)
        except TicketRefused as refused:
            await _refuse(Refusal(refused.code, f"This page cannot be shown: {refused}."), scope, send)
        except Refusal as refusal:
            await _refuse(refusal, scope, send)
        except RedisError:
            await _refuse(Refusal("bridge_unavailable", "It cannot be checked now who you are."), scope, send)

    async def _enter(self, scope: Scope, machine_id: str, port: int, rest: bytes, send: Send) -> None:
        """Exchange the ticket and send the browser on to the page. Raises TicketRefused."""
        ticket, query = _ticket_and_rest(scope)
        if ticket is None:
            raise TicketRefused("open this page from the desk")
        self._at_home(scope, machine_id)
        secure = self._secure or scope["scheme"] == "https"
        cookies = Headers(scope=scope).get("cookie", "")
        entry = await self._passes.exchange(ticket, machine_id, cookies, secure=secure)
        headers: list[Header] = [(b"set-cookie", cookie.encode()) for cookie in entry.cookies]
        if entry.new_lease:
            headers.append((b"clear-site-data", CLEAR_SITE_DATA))
        await _redirect(f"{preview_path(machine_id)}/{port}".encode() + (rest or b"/"), query, headers, send)

    async def _admit(self, scope: Scope, machine_id: str, port: int, rest: bytes) -> _Visit:
        """Raises TicketRefused, Refusal."""
        headers = Headers(scope=scope)
        host = self._at_home(scope, machine_id)
        changes = scope["type"] == "websocket" or scope["method"] not in SAFE
        if changes and urlsplit(headers.get("origin", f"//{host}")).netloc != host:
            raise TicketRefused("a page of another origin asked for it")
        claim = await self._passes.claim(headers.get("cookie", ""), machine_id)
        if port in FORBIDDEN_PORTS or not 0 < port < 65_536:
            raise Refusal("port_forbidden", f"Port {port} cannot be shown.")
        try:
            sandbox = self._sandbox_of(machine_id)
        except MachineGone as gone:
            raise TicketRefused(str(gone)) from gone
        whole = any(service.whole and service.port == port for service in sandbox.capabilities.services)
        mount = Mount(machine_id, port, host, whole)
        query = scope["query_string"]
        target = (scope["raw_path"] if whole else rest or b"/") + (b"?" + query if query else b"")
        return _Visit(sandbox, mount, claim, target)

    def _at_home(self, scope: Scope, machine_id: str) -> str:
        """The host a request came by. Raises TicketRefused when machines are shown by another one."""
        host = Headers(scope=scope).get("host", "")
        if self._host and host != self._host.replace("{machine}", machine_id):
            raise TicketRefused("machines are shown under another name")
        return host

    async def _http(self, visit: _Visit, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def sent(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        def answer(headers: Iterable[Header]) -> list[Header]:
            kept = visit.mount.to_browser(headers, self._framed_by)
            self._remember(visit, kept)
            return kept

        headers = visit.mount.to_program(scope["headers"], self._cookies.get(visit.program, ()))
        with self._counted(visit):
            try:
                connection = await visit.sandbox.dial(visit.mount.port)
                await http_through(connection, scope["method"], visit.target, headers, receive, sent, answer)
            except ConnectionRefusedError as error:
                message = f"Nothing listens on port {visit.mount.port} of this machine."
                raise Refusal("nothing_listens", message) from error
            except BROKEN as error:
                if not started:
                    raise Refusal("broken_off", "The program of this machine did not answer.") from error
                raise ConnectionAbortedError("the program broke off in the middle of its answer") from error

    async def _socket(self, visit: _Visit, scope: Scope, receive: Receive, send: Send) -> None:
        headers = visit.mount.to_program(scope["headers"], self._cookies.get(visit.program, ()))
        address = f"ws://127.0.0.1:{visit.mount.port}{visit.target.decode('latin-1')}"
        with self._counted(visit):
            try:
                connection = await visit.sandbox.dial(visit.mount.port)
                await socket_through(
                    connection, address, headers, scope["subprotocols"], receive, send, lambda: self._lapse(visit)
                )
            except (OSError, NotAccepted) as error:
                raise Refusal("nothing_listens", "The program of this machine takes no such connection.") from error

    async def _lapse(self, visit: _Visit) -> None:
        """Returns when the lease has ended."""
        while True:
            await asyncio.sleep(CHECK_EVERY)
            try:
                await self._passes.check(visit.claim, visit.mount.machine_id)
            except TicketRefused:
                return

    @contextmanager
    def _counted(self, visit: _Visit) -> Iterator[None]:
        """Raises Refusal when too many connections are open to one machine."""
        machine_id = visit.mount.machine_id
        if self._open[machine_id] >= MAX_OPEN:
            raise Refusal("too_many_connections", "Too many connections to this machine are open.")
        self._open[machine_id] += 1
        try:
            yield
        finally:
            self._open[machine_id] -= 1
            if not self._open[machine_id]:
                del self._open[machine_id]

    def _remember(self, visit: _Visit, headers: Iterable[Header]) -> None:
        """Which cookies are this program's: a browser sends those of the whole host along."""
        names = self._cookies.setdefault(visit.program, set())
        names |= set(list(visit.mount.cookie_names(headers) - names)[: MAX_COOKIES - len(names)])
        self._cookies.move_to_end(visit.program)
        while len(self._cookies) > MAX_PROGRAMS:
            self._cookies.popitem(last=False)


def _ticket_and_rest(scope: Scope) -> tuple[str | None, bytes]:
    """The ticket in an address, and its query without it."""
    mark = f"{PREVIEW_PARAMETER}=".encode()
    parts = scope["query_string"].split(b"&")
    ticket = next((part.removeprefix(mark).decode("latin-1") for part in parts if part.startswith(mark)), None)
    return ticket, b"&".join(part for part in parts if not part.startswith(mark))


async def _redirect(path: bytes, query: bytes, headers: Sequence[Header], send: Send) -> None:
    """Send a browser to another page of a program."""
    location = path + (b"?" + query if query else b"")
    told = [*headers, (b"location", location), (b"cache-control", b"no-store")]
    told += [(b"referrer-policy", b"no-referrer"), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 303, "headers": told})
    await send({"type": "http.response.body", "body": b""})


async def _refuse(refusal: Refusal, scope: Scope, send: Send) -> None:
    """Say no: a page to who asked for one, a refused handshake otherwise."""
    if scope["type"] == "websocket":
        return await send({"type": "websocket.close", "code": 1008, "reason": refusal.code})
    body, headers = page(refusal)
    kept = [(name.lower(), value) for name, value in headers if name != b"Connection"]
    await send({"type": "http.response.start", "status": refusal.status, "headers": kept})
    await send({"type": "http.response.body", "body": body})
