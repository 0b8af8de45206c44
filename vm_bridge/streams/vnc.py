"""The VNC gateway process: `python -m vm_bridge.streams.vnc`. One ticket opens one view-only connection."""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import asyncio
import os
import re
import select
import socket
import stat
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from redis.asyncio import Redis
from redis.exceptions import RedisError
from websockify.websocketproxy import ProxyRequestHandler, WebSocketProxy

from protocol.log_lines import log_to_stderr
from vm_bridge.api.tickets import Ticket, verify_ticket
from vm_bridge.config import Config, ConfigError, read_config
from vm_bridge.errors import BridgeError, MachineGone, TicketRefused
from vm_bridge.leases import LeaseGuard
from vm_bridge.streams.rfb import ViewOnlyFilter, ViewOnlyViolation
from vm_bridge.streams.vnc_admission import Admission, admitted

LEASE_CHECK_SECONDS = 1.0
"""Interval of checks that a connection's lease is valid (seconds)."""
HEARTBEAT_SECONDS = 15.0
STALL_TIMEOUT_SECONDS = 5.0
"""A machine that takes nothing for so long is given up (seconds)."""
CHUNK = 65_536
POLICY_VIOLATION = 1008
NO_SERVER_MESSAGE = "this machine has no VNC server"


class VncGateway(WebSocketProxy):  # type: ignore[misc]
    """Listens, and forks a handler for each connection that is admitted."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self._admission: Admission | None = None
        super().__init__(
            ViewOnlyHandler,
            listen_host=config.vnc_bind.host,
            listen_port=config.vnc_bind.port,
            heartbeat=HEARTBEAT_SECONDS,
        )
        self._listener = os.getpid()
        self._ending = False

    def terminate(self) -> None:
        """Called by a signal. Who listens ends at its next `poll`: raised in the middle of a log line it would be lost.
        A handler's process ends at once."""
        if os.getpid() == self._listener:
            self._ending = True
        else:
            super().terminate()

    def poll(self) -> None:
        """Called every second while listening."""
        if self._ending:
            raise self.Terminate
        if self._admission is not None:
            self._admission.sweep()

    def socket(
        self, host: str | None, port: int | None = None, connect: bool = False, *more: Any, **options: Any
    ) -> Any:
        """What is listened on, which lets nobody in without a ticket; or a connection to a machine."""
        made = super().socket(host, port, connect, *more, **options)
        if connect or options.get("unix_socket"):
            return made
        self._admission = Admission(made, partial(admitted, self.config))
        return self._admission

    def top_new_client(self, startsock: Any, address: tuple[str, int]) -> None:
        """Called in the new process."""
        if self._admission is not None:
            self._admission.forget()
        super().top_new_client(startsock, address)


class ViewOnlyHandler(ProxyRequestHandler):  # type: ignore[misc]
    """One viewer: admitted by its ticket, connected to its machine's RFB socket, read through `ViewOnlyFilter`."""

    server: VncGateway
    ticket: Ticket
    lease_guard: LeaseGuard
    runner: asyncio.Runner

    def validate_connection(self) -> None:
        """Admit the viewer, or answer 403 before the upgrade."""
        config = self.server.config
        if self.headers.get("Origin") not in config.web_origins:
            self._refuse("a page of another origin")
        self.runner = asyncio.Runner()
        redis = Redis.from_url(
            config.redis_url, decode_responses=True, socket_timeout=5, socket_connect_timeout=2, driver_info=None
        )
        self.lease_guard = LeaseGuard(redis)
        match = re.search(r"[?&]token=([^&]*)", self.path)
        try:
            self.ticket = verify_ticket(config.ticket_keys, match[1] if match else "", "vnc")
            held = open_rfb_socket(self.runner.run(self._socket_path()))
        except (BridgeError, RedisError) as error:
            self._refuse(str(error))
        self.server.unix_target = f"/proc/self/fd/{held}"  # open until this viewer's process ends

    async def _socket_path(self) -> Path:
        await self.lease_guard.redeem(self.ticket)
        path = await self.lease_guard.vnc_socket(self.ticket.claim.machine_id)
        if path is None:
            raise MachineGone(NO_SERVER_MESSAGE)
        return Path(path)

    def _refuse(self, reason: str) -> NoReturn:
        self.send_error(403, TicketRefused.code, reason)
        raise self.server.EClose(f"refused: {reason}")

    def do_proxy(self, target: socket.socket) -> None:
        """Carry pictures out and what a viewer may say in, each side read only when the other has taken all."""
        target.settimeout(STALL_TIMEOUT_SECONDS)
        view_only = ViewOnlyFilter()
        to_client: list[bytes] = []
        to_target = b""
        client_busy = False
        check_at = heartbeat_at = time.monotonic()
        while True:
            now = time.monotonic()
            if now >= check_at:
                check_at = now + LEASE_CHECK_SECONDS
                self._check_lease()
            if now >= heartbeat_at:
                heartbeat_at = now + HEARTBEAT_SECONDS
                self.send_ping()
            reads = ([] if to_target else [self.request]) + ([] if client_busy else [target])
            writes = ([target] if to_target else []) + ([self.request] if client_busy else [])
            readable, writable, _ = select.select(reads, writes, [], LEASE_CHECK_SECONDS)
            if self.request in readable:
                to_target = self._read_client(view_only)
            if target in writable or to_target:
                to_target = to_target[target.send(to_target) :]
            if target in readable:
                data = target.recv(CHUNK)
                if not data:
                    raise self.CClose(1000, "the machine ended")
                to_client = [data]
            if to_client or self.request in writable:
                client_busy = self.send_frames(to_client)
                to_client = []

    def _read_client(self, view_only: ViewOnlyFilter) -> bytes:
        parts, closed = self.recv_frames()
        try:
            allowed = b"".join(map(view_only.feed, parts))
        except ViewOnlyViolation as error:
            raise self.CClose(POLICY_VIOLATION, str(error)) from None
        if closed:
            raise self.CClose(closed["code"], closed["reason"])
        return allowed

    def _check_lease(self) -> None:
        claim = self.ticket.claim
        try:
            self.runner.run(self.lease_guard.check(claim.machine_id, claim.fencing_token))
        except (BridgeError, RedisError) as error:
            raise self.CClose(POLICY_VIOLATION, str(error)) from None

    def log_message(self, format: str, *args: Any) -> None:
        """The request line holds the ticket, which is no business of a log's."""
        super().log_message("%s", re.sub(r"token=[^&\s'\"]*", "token=(hidden)", format % args))


def open_rfb_socket(path: Path) -> int:
    """A descriptor of the RFB socket that a host names, itself or by one link of its own. Raises MachineGone.

    Where the bridge is not root, programs in a machine can put something else in its place: a link of theirs, which
    could lead to another's machine, is not followed, and what they put there from now on is not what is connected to.
    """
    try:
        held = os.open(path.readlink() if path.is_symlink() else path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise MachineGone(NO_SERVER_MESSAGE) from error
    if not stat.S_ISSOCK(os.fstat(held).st_mode):
        os.close(held)
        raise MachineGone("this machine has put something else in the place of its VNC server")
    return held


def main() -> None:
    """Serve until SIGTERM or SIGINT."""
    log_to_stderr(os.environ)
    try:
        config = read_config(os.environ)
    except ConfigError as error:
        sys.exit(f"vm_bridge.streams.vnc: {error}")
    VncGateway(config).start_server()


if __name__ == "__main__":
    main()
