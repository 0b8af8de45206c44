"""The parts of Windows' agent that run anywhere: its door, the rows it sends, its scripts, and how it is packed."""

import asyncio
import socket
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from vm_bridge.drivers.computer_canvas import Canvas
from vm_bridge.drivers.computer_link import GuestLink
from vm_bridge.errors import MachineGone
from vm_bridge.guest import wire
from vm_bridge.guest.win32.door import PROVING_AT_ONCE, Door
from vm_bridge.guest.win32.eyes import MOST_ROWS, Carrier, Picture
from vm_bridge.guest.win32.language import LANGUAGES
from vm_bridge.guest.win32.pack import PACKAGE, pack, sources

SECRET = "what both know"
WIDTH, HEIGHT = 40, 2 * MOST_ROWS + 10
SLOTS = (0, 1)


class Host:
    """Paints what it is sent, as the bridge does."""

    def __init__(self) -> None:
        self.link: socket.socket | None = socket.socket()
        self.canvas = Canvas(WIDTH, HEIGHT)
        self.rows = 0

    def send(self, link: socket.socket, message: wire.Message) -> None:
        assert link is self.link
        self.canvas.paint(wire.decode(wire.encode(message)[wire.HEADER.size :]))
        self.rows += 1

    def changed(self) -> None:
        """Another one, who has nothing."""
        assert self.link is not None
        self.link.close()
        self.link, self.canvas = socket.socket(), Canvas(WIDTH, HEIGHT)


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
def picture(host: Host, screen: Screen) -> Picture:
    return Picture(screen.grab, Carrier(host, WIDTH), (WIDTH, HEIGHT), SLOTS)


def shown(host: Host, look: dict[str, int]) -> bytes:
    return bytes(host.canvas.pixels(look["slot"], WIDTH * HEIGHT * 4))


def test_the_host_sees_what_is_on_the_screen(host: Host, screen: Screen, picture: Picture) -> None:
    for rows in ((), (5,), (), (0, HEIGHT - 1), (MOST_ROWS,), (7,), (7, 8)):
        screen.draw(*rows)
        assert shown(host, picture.look()) == screen.grab()


def test_a_look_says_where_it_differs_from_the_one_before(screen: Screen, picture: Picture) -> None:
    assert "changed" not in picture.look()
    screen.draw(3, 9)
    look = picture.look()
    assert (look["serial"], look["changed"]) == (2, [0, 3, WIDTH, 10])
    assert picture.look() == {**look, "at": pytest.approx(look["at"], abs=1e6)}


def test_only_rows_that_differ_are_sent(host: Host, screen: Screen, picture: Picture) -> None:
    for _ in SLOTS:
        screen.draw(1)
        picture.look()
    sent = host.rows
    picture.look()
    assert host.rows == sent
    screen.draw(1)
    picture.look()
    assert host.rows == sent + 1


def test_another_host_is_given_all_of_it(host: Host, screen: Screen, picture: Picture) -> None:
    picture.look()
    screen.draw(1)
    picture.look()
    host.changed()
    assert shown(host, picture.look()) == screen.grab()


@pytest.mark.parametrize("change", [{"slot": 5}, {"top": HEIGHT}, {"top": -1}, {"data": "eJw="}, {"data": 7}])
def test_rows_of_no_picture_are_refused(host: Host, picture: Picture, change: dict[str, object]) -> None:
    messages: list[wire.Message] = []
    host.send = lambda link, message: messages.append(message)  # type: ignore[method-assign]
    picture.look()
    with pytest.raises(wire.WireError):
        Canvas(WIDTH, HEIGHT).paint({**messages[-1], **change})


async def test_who_shows_the_secret_comes_in() -> None:
    door = Door("127.0.0.1", 0, SECRET)
    link = await GuestLink.dial(*door.address, SECRET, timeout=10)
    guest = await asyncio.to_thread(door.open)
    assert guest is not None
    guest.sendall(wire.encode({"id": wire.READY, "result": {}}))
    with guest, pytest.raises(MachineGone, match="senseless"):  # it was heard
        await link.ready(10)


async def test_who_does_not_know_the_secret_does_not() -> None:
    door = Door("127.0.0.1", 0, SECRET)
    with pytest.raises(MachineGone):
        await GuestLink.dial(*door.address, SECRET + "?", timeout=10)


async def test_a_guest_that_does_not_know_it_is_hung_up_on() -> None:
    """Who has taken the port learns nothing and is believed nothing."""

    async def pretend(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\2" + bytes(32))
        await reader.readexactly(64)
        writer.write(bytes(32))
        writer.close()

    async with await asyncio.start_server(pretend, "127.0.0.1", 0) as server:
        port: int = server.sockets[0].getsockname()[1]
        with pytest.raises(MachineGone, match="does not know the secret"):
            await GuestLink.dial("127.0.0.1", port, SECRET, timeout=10)


async def test_who_says_nothing_keeps_nobody_waiting() -> None:
    door = Door("127.0.0.1", 0, SECRET)
    silent = [socket.create_connection(door.address, 10) for _ in range(PROVING_AT_ONCE - 1)]
    link = await GuestLink.dial(*door.address, SECRET, timeout=10)
    link.close()
    for each in silent:
        each.close()


async def test_the_latest_host_takes_the_place_of_the_one_before() -> None:
    door = Door("127.0.0.1", 0, SECRET)
    first, second = [await GuestLink.dial(*door.address, SECRET, timeout=10) for _ in range(2)]
    await asyncio.wait_for(first.ended(), 10)
    assert not second.gone
    second.close()


def test_a_command_is_a_script_as_powershell_reads_it() -> None:
    path = LANGUAGES["powershell"].script_of("Write-Output 'żółw {0}'\r\nexit 3")
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
    assert {"vm_bridge/settle.py", "vm_bridge/guest/files.py", "vm_bridge/guest/win32/job.py"} < names
    assert not {f"vm_bridge/guest/{name}.py" for name in ("xhands", "eyes", "shell", "census", "watch")} & names
