"""The parts of Windows' agent that run anywhere: its door, the rows it sends, its scripts, and how it is packed."""

import asyncio
import socket
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import served_port
from vm_bridge.drivers.computer.guest_link import GuestLink
from vm_bridge.drivers.computer.remote_frames import FrameCanvas
from vm_bridge.errors import MachineGone
from vm_bridge.guest.common import wire
from vm_bridge.guest.windows.host_listener import MAX_HANDSHAKES, SecretHostListener
from vm_bridge.guest.windows.pack import PACKAGE, pack, sources
from vm_bridge.guest.windows.programs import SHELL_LANGUAGES
from vm_bridge.guest.windows.screen_capture import MAX_ROWS, RowSender, ScreenCapture

SECRET = "what both know"
WIDTH, HEIGHT = 40, 2 * MAX_ROWS + 10
SLOTS = (0, 1)


class Host:
    """Paints what it is sent, as the bridge does."""

    def __init__(self) -> None:
        self.link: socket.socket | None = socket.socket()
        self.canvas = FrameCanvas(WIDTH, HEIGHT)
        self.rows = 0

    def send(self, link: socket.socket, message: wire.Message) -> None:
        assert link is self.link
        self.canvas.paint(wire.decode(wire.encode(message)[wire.HEADER.size :]))
        self.rows += 1

    def changed(self) -> None:
        """Another one, who has nothing."""
        assert self.link is not None
        self.link.close()
        self.link, self.canvas = socket.socket(), FrameCanvas(WIDTH, HEIGHT)


class Screen:
    """What is on it."""

    def __init__(self) -> None:
        self.pixels = bytearray(WIDTH * HEIGHT * 4)

    def grab(self) -> bytes:
        return bytes(self.pixels)

    def draw(self, *rows: int) -> None:
        for row in rows:
            self.pixels[row * WIDTH * 4] += 1


@pytest.fixture
def host() -> Iterator[Host]:
    host = Host()
    yield host
    assert host.link is not None
    host.link.close()


@pytest.fixture
def screen() -> Screen:
    return Screen()


@pytest.fixture
def picture(host: Host, screen: Screen) -> ScreenCapture:
    return ScreenCapture(screen.grab, RowSender(host, WIDTH), (WIDTH, HEIGHT), SLOTS)


def pixels_of(host: Host, capture: dict[str, int]) -> bytes:
    return bytes(host.canvas.pixels(capture["slot"], WIDTH * HEIGHT * 4))


def test_the_host_sees_what_is_on_the_screen(host: Host, screen: Screen, picture: ScreenCapture) -> None:
    for rows in ((), (5,), (), (0, HEIGHT - 1), (MAX_ROWS,), (7,), (7, 8)):
        screen.draw(*rows)
        assert pixels_of(host, picture.capture()) == screen.grab()


def test_a_look_says_where_it_differs_from_the_one_before(screen: Screen, picture: ScreenCapture) -> None:
    assert "changed" not in picture.capture()
    screen.draw(3, 9)
    capture = picture.capture()
    assert (capture["serial"], capture["changed"]) == (2, [0, 3, WIDTH, 10])
    assert picture.capture() == {**capture, "at": pytest.approx(capture["at"], abs=1e6)}


def test_only_rows_that_differ_are_sent(host: Host, screen: Screen, picture: ScreenCapture) -> None:
    for _ in SLOTS:
        screen.draw(1)
        picture.capture()
    sent = host.rows
    picture.capture()
    assert host.rows == sent
    screen.draw(1)
    picture.capture()
    assert host.rows == sent + 1


def test_another_host_is_given_all_of_it(host: Host, screen: Screen, picture: ScreenCapture) -> None:
    picture.capture()
    screen.draw(1)
    picture.capture()
    host.changed()
    assert pixels_of(host, picture.capture()) == screen.grab()


@pytest.mark.parametrize("change", [{"slot": 5}, {"top": HEIGHT}, {"top": -1}, {"data": "eJw="}, {"data": 7}])
def test_rows_of_no_picture_are_refused(host: Host, picture: ScreenCapture, change: dict[str, object]) -> None:
    messages: list[wire.Message] = []
    host.send = lambda link, message: messages.append(message)  # type: ignore[method-assign]
    picture.capture()
    with pytest.raises(wire.WireError):
        FrameCanvas(WIDTH, HEIGHT).paint({**messages[-1], **change})


async def test_who_shows_the_secret_comes_in() -> None:
    host_listener = SecretHostListener("127.0.0.1", 0, SECRET)
    link = await GuestLink.dial(*host_listener.address, SECRET, timeout=10)
    guest = await asyncio.to_thread(host_listener.accept)
    assert guest is not None
    guest.sendall(wire.encode({"id": wire.READY, "result": {}}))
    with guest, pytest.raises(MachineGone, match="senseless"):  # it was heard
        await link.ready(10)


async def test_who_does_not_know_the_secret_does_not() -> None:
    host_listener = SecretHostListener("127.0.0.1", 0, SECRET)
    with pytest.raises(MachineGone):
        await GuestLink.dial(*host_listener.address, SECRET + "?", timeout=10)


async def test_a_guest_that_does_not_know_it_is_hung_up_on() -> None:
    """Who has taken the port learns nothing and is believed nothing."""

    async def pretend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\2" + bytes(32))
        await reader.readexactly(64)
        writer.write(bytes(32))
        writer.close()

    async with served_port(pretend) as port:
        with pytest.raises(MachineGone, match="does not know the secret"):
            await GuestLink.dial("127.0.0.1", port, SECRET, timeout=10)


async def test_who_says_nothing_keeps_nobody_waiting() -> None:
    host_listener = SecretHostListener("127.0.0.1", 0, SECRET)
    silent = [socket.create_connection(host_listener.address, 10) for _ in range(MAX_HANDSHAKES - 1)]
    link = await GuestLink.dial(*host_listener.address, SECRET, timeout=10)
    link.close()
    for each in silent:
        each.close()


async def test_the_latest_host_takes_the_place_of_the_one_before() -> None:
    host_listener = SecretHostListener("127.0.0.1", 0, SECRET)
    first, second = [await GuestLink.dial(*host_listener.address, SECRET, timeout=10) for _ in range(2)]
    await asyncio.wait_for(first.ended(), 10)
    assert not second.gone
    second.close()


def test_a_command_is_a_script_as_powershell_reads_it() -> None:
    path = SHELL_LANGUAGES["powershell"].script_of("Write-Output 'żółw {0}'\r\nexit 3")
    try:
        assert path.suffix == ".ps1"
        text = path.read_bytes()
    finally:
        path.unlink()
    assert text.startswith(b"\xef\xbb\xbf")
    assert "\r\nWrite-Output 'żółw {0}'\r\nexit 3\r\n$ok = $?; if ($LASTEXITCODE) { exit" in text.decode("utf-8-sig")


def test_the_packed_program_is_whole_and_its_owners(tmp_path: Path) -> None:
    path = tmp_path / "pilothouse.pyz"
    pack(path, SECRET)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with zipfile.ZipFile(path) as program:
        names = set(program.namelist())
        assert SECRET in program.read("__main__.py").decode()
    assert names == {"__main__.py", *(str(source.relative_to(PACKAGE.parent)) for source in sources())}
    assert {"vm_bridge/settle.py", "vm_bridge/guest/common/files.py", "vm_bridge/guest/windows/win32.py"} < names
    assert not {f"vm_bridge/guest/{name}.py" for name in ("xhands", "eyes", "shell", "census", "watch")} & names
