"""The VNC gateway before a real Xtigervnc: pictures come through, hands do not."""

import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol
from Xlib.display import Display

from tests.integration.bridge.conftest import SECRET, FakeInventory, fake_inventory, leases, redis
from tests.integration.streams.conftest import Proxy
from tests.waiting import wait_until
from vm_bridge.api.tickets import StreamKind, TicketClaim, mint_ticket
from vm_bridge.leases.store import ClaimRequest, LeaseStore
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.sandbox import FakeSandbox

__all__ = ["fake_inventory", "leases", "redis"]

ORIGIN = "http://desk.example"
Ticket = Callable[[StreamKind], str]


@dataclass(frozen=True, slots=True)
class Desktop:
    """A real X server with an RFB socket."""

    rfb_socket: Path
    display: str
    process: "subprocess.Popen[bytes]"

    def pointer(self) -> tuple[int, int]:
        display = Display(self.display)
        try:
            where = display.screen().root.query_pointer()
            return where.root_x, where.root_y
        finally:
            display.close()


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desktop]:
    if shutil.which("Xtigervnc") is None:
        pytest.skip("Xtigervnc is not installed")
    authority = tmp_path / "authority"
    authority.touch()
    monkeypatch.setenv("XAUTHORITY", str(authority))
    rfb_socket = tmp_path / "rfb"
    read, write = os.pipe()
    command = ["Xtigervnc", "-displayfd", str(write), "-geometry", "640x480", "-depth", "24", "-rfbport=-1"]
    command += [f"-rfbunixpath={rfb_socket}", "-SecurityTypes", "None", "-AlwaysShared", "-nolisten", "tcp"]
    with (tmp_path / "x.log").open("w") as log:
        server = subprocess.Popen(command, pass_fds=(write,), stderr=log)
    os.close(write)
    try:
        with os.fdopen(read) as numbers:
            display = f":{numbers.readline().strip()}"
        wait_until(rfb_socket.exists)
        yield Desktop(rfb_socket, display, server)
    finally:
        server.terminate()
        server.wait(10)


@dataclass(frozen=True, slots=True)
class RunningGateway:
    """A gateway process, and where it logs."""

    port: int
    log: Path
    pid: int = 0

    def children(self) -> list[str]:
        """The processes it has made for viewers."""
        return Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()


@pytest.fixture
def gateway(bridge_redis: str, tmp_path: Path) -> Iterator[RunningGateway]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "PILOTHOUSE_SECRET": SECRET,
        "PILOTHOUSE_REDIS_URL": bridge_redis,
        "PILOTHOUSE_VNC_BIND": f"127.0.0.1:{port}",
        "PILOTHOUSE_WEB_ORIGINS": ORIGIN,
    }
    path = tmp_path / "gateway.log"
    with path.open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "vm_bridge.streams.vnc"], env=environment, stdout=log, stderr=log
        )
    try:
        wait_until(lambda: _listens(port), limit=30)
        yield RunningGateway(port, path, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(10)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture
async def lease(fake_inventory: FakeInventory, leases: LeaseStore, desktop: Desktop) -> Lease:
    """A lease on that desktop."""
    sandbox = FakeSandbox("desktop", name="m-1")
    sandbox.vnc_socket = desktop.rfb_socket
    await fake_inventory.inventory.add_free_machine(sandbox, above=0)
    lease = await leases.claim(ClaimRequest("request-1", "desktop", "h"))
    assert isinstance(lease, Lease)
    return lease


@pytest.fixture
def ticket(lease: Lease) -> Ticket:
    def fresh(kind: StreamKind) -> str:
        bound = TicketClaim(kind=kind, user="1", episode="e", machine_id="m-1", fencing_token=lease.fencing_token)
        return mint_ticket(SECRET, bound)

    return fresh


class Closed(Exception):
    """The gateway did not let us in, or no longer wants us."""


class Viewer:
    """A raw RFB client over a WebSocket, which says whatever it likes."""

    def __init__(self, web: ClientConnection) -> None:
        self._web = web
        self._held = b""

    def greet(self) -> tuple[int, int]:
        """The handshake; the size of the screen."""
        assert self.read(12) == b"RFB 003.008\n"
        self.say(b"RFB 003.008\n")
        types = self.read(self.read(1)[0])
        assert 1 in types
        self.say(b"\1")
        assert self.read(4) == bytes(4)
        self.say(b"\1")
        width, height, _, name = struct.unpack(">HH16sI", self.read(24))
        self.read(name)
        return width, height

    def say(self, data: bytes) -> None:
        self._web.send(data)

    def read(self, count: int) -> bytes:
        while len(self._held) < count:
            try:
                part = self._web.recv(timeout=10)
            except ConnectionClosed as error:
                raise Closed(error.rcvd.reason if error.rcvd else "") from error
            assert isinstance(part, bytes)
            self._held += part
        part, self._held = self._held[:count], self._held[count:]
        return part

    def one_pixel(self) -> bytes:
        """Ask for the top left pixel, raw: also proof that everything said before has been taken."""
        self.say(struct.pack(">BxHi", 2, 1, 0))
        self.say(struct.pack(">BBHHHH", 3, 0, 0, 0, 1, 1))
        kind, rectangles = struct.unpack(">BxH", self.read(4))
        assert (kind, rectangles) == (0, 1)
        assert struct.unpack(">HHHHi", self.read(12)) == (0, 0, 1, 1, 0)
        return self.read(4)


@contextmanager
def watching(gateway: RunningGateway, token: str, origin: str = ORIGIN, *, path: str = "/") -> Iterator[Viewer]:
    """A viewer whom the gateway let in. Raises Closed."""
    url = f"ws://127.0.0.1:{gateway.port}{path}?token={token}"
    try:
        with connect(url, origin=Origin(origin), subprotocols=[Subprotocol("binary")], proxy=None) as web:
            yield Viewer(web)
    except InvalidStatus as error:
        raise Closed(str(error.response.status_code)) from error


@pytest.fixture
def viewer(gateway: RunningGateway, ticket: Ticket) -> Iterator[Viewer]:
    with watching(gateway, ticket("vnc")) as viewer:
        yield viewer


POINTER = struct.pack(">BBHH", 5, 0, 321, 123)


async def test_pictures_come_through(viewer: Viewer) -> None:
    assert viewer.greet() == (640, 480)
    assert len(viewer.one_pixel()) == 4


async def test_it_passes_through_a_reverse_proxy(gateway: RunningGateway, proxy: Proxy, ticket: Ticket) -> None:
    proxy.start(f"http://127.0.0.1:{gateway.port}")
    with watching(RunningGateway(proxy.port, gateway.log), ticket("vnc"), path="/vnc/") as viewer:
        assert viewer.greet() == (640, 480)
        assert len(viewer.one_pixel()) == 4


async def test_a_pointer_event_does_nothing(viewer: Viewer, desktop: Desktop) -> None:
    viewer.greet()
    before = desktop.pointer()
    for piece in (POINTER, POINTER[:3], POINTER[3:], struct.pack(">BBHH", 5, 1, 1, 1)):
        viewer.say(piece)
    viewer.one_pixel()
    assert desktop.pointer() == before


async def test_the_same_pointer_event_moves_it_without_the_gateway(desktop: Desktop) -> None:
    """So the test above would notice a gateway that lets it through."""
    with socket.socket(socket.AF_UNIX) as direct:
        direct.settimeout(10)
        direct.connect(str(desktop.rfb_socket))
        direct.sendall(b"RFB 003.008\n\1\1" + POINTER)
        wait_until(lambda: desktop.pointer() == (321, 123))


async def test_what_no_viewer_says_ends_the_connection(viewer: Viewer) -> None:
    viewer.greet()
    viewer.say(b"\x7f")
    with pytest.raises(Closed, match="not for viewers"):
        viewer.read(1)


async def test_a_ticket_opens_one_connection(gateway: RunningGateway, ticket: Ticket) -> None:
    once = ticket("vnc")
    with watching(gateway, once) as viewer:
        viewer.greet()
    with pytest.raises(Closed, match="403"), watching(gateway, once):
        pass


async def test_a_forged_or_foreign_ticket_opens_none(gateway: RunningGateway, ticket: Ticket) -> None:
    for token in ("", "forged", ticket("webrtc"), ticket("vnc")[:-2]):
        with pytest.raises(Closed, match="403"), watching(gateway, token):
            pass


async def test_a_socket_of_another_s_is_not_led_to(
    gateway: RunningGateway,
    ticket: Ticket,
    desktop: Desktop,
    fake_inventory: FakeInventory,
    lease: Lease,
    tmp_path: Path,
) -> None:
    """A host's own link is followed; one that programs in the machine put where it leads is not."""
    sandbox = FakeSandbox("desktop", name=lease.machine_id)
    sandbox.vnc_socket = tmp_path / "machine"
    sandbox.vnc_socket.symlink_to(desktop.rfb_socket)
    await fake_inventory.inventory.adopt(sandbox)
    with watching(gateway, ticket("vnc")) as viewer:
        assert viewer.greet() == (640, 480)
    sandbox.vnc_socket.unlink()
    sandbox.vnc_socket.symlink_to(tmp_path / "display")
    (tmp_path / "display").symlink_to(desktop.rfb_socket)
    with pytest.raises(Closed, match="403"), watching(gateway, ticket("vnc")):
        pass
    wait_until(lambda: "in the place of its VNC server" in gateway.log.read_text())  # it is told before it is logged


async def test_a_page_of_another_origin_is_refused(gateway: RunningGateway, ticket: Ticket) -> None:
    with pytest.raises(Closed, match="403"), watching(gateway, ticket("vnc"), "http://elsewhere.example"):
        pass


async def test_the_end_of_the_lease_ends_the_connection(viewer: Viewer, leases: LeaseStore, lease: Lease) -> None:
    viewer.greet()
    await leases.release("m-1", lease.fencing_token)
    with pytest.raises(Closed, match="ended"):
        viewer.read(1)


async def test_the_end_of_the_machine_ends_the_connection(viewer: Viewer, desktop: Desktop) -> None:
    viewer.greet()
    desktop.process.kill()
    with pytest.raises(Closed, match="ended"):
        viewer.read(1)


async def test_no_ticket_is_ever_logged(gateway: RunningGateway, ticket: Ticket) -> None:
    good = ticket("vnc")
    with watching(gateway, good) as viewer:
        viewer.greet()
    with pytest.raises(Closed), watching(gateway, good):
        pass
    wait_until(lambda: "refused" in gateway.log.read_text())
    assert good not in gateway.log.read_text()
    assert good.split(".")[0] not in gateway.log.read_text()


async def test_who_has_no_ticket_costs_no_process(gateway: RunningGateway, ticket: Ticket) -> None:
    """Nor who says nothing: both wait in the process that listens, and who has a ticket goes past them."""
    silent = [socket.create_connection(("127.0.0.1", gateway.port)) for _ in range(200)]
    for link in silent[::2]:
        link.sendall(b"GET /?token=forged HTTP/1.1\r\nOrigin: " + ORIGIN.encode())
    with pytest.raises(Closed, match="403"), watching(gateway, "forged"):
        pass
    assert gateway.children() == []
    with watching(gateway, ticket("vnc")) as viewer:
        assert viewer.greet() == (640, 480)
        assert len(gateway.children()) == 1
    for link in silent:
        link.close()
