"""Messages that make no sense end a call, and never the listener: drawn by a seed, on both sides of each wire."""

import asyncio
import json
import os
import random
import socket
import struct
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.servers import served_socket
from vm_bridge.browser.errors import BrowserFailed
from vm_bridge.browser.page import Page
from vm_bridge.browser.pipe import Pipe
from vm_bridge.drivers.computer.guest_link import EmptyReply, GuestLink
from vm_bridge.drivers.phone import adb
from vm_bridge.drivers.phone.adb import AdbRequestFailed, AdbServer, Device
from vm_bridge.errors import MachineGone
from vm_bridge.guest.common import wire
from vm_bridge.guest.common.server import Server
from vm_bridge.guest.linux.headless import HeadlessDesktop
from vm_bridge.guest.linux.host_listener import SharedMemoryHostListener
from vm_bridge.guest.linux.machine_io import LinuxMachineIO
from vm_bridge.hosts.qemu.qmp import QmpClient

SEED = 29
ROUNDS = 300
DEEP = b"[" * 100_000
VALUES: tuple[Any, ...] = (None, True, -1, 0, 2**70, 1e308, "", "x", "\ud83d", [], [[]], {}, {"id": 1}, "9" * 5000)
"""What stands where something else is expected."""


def nested(depth: int) -> dict[str, Any]:
    """An object that JSON can just carry."""
    made: dict[str, Any] = {}
    for _ in range(depth):
        made = {"a": made}
    return made


def random_message(chance: random.Random, names: tuple[str, ...]) -> dict[str, Any]:
    """A message of some of these fields, with values of any type."""
    picked = chance.sample(names, chance.randint(0, len(names)))
    return {name: chance.choice((*VALUES, nested(chance.randint(1, 300)))) for name in picked}


# --- the guest, spoken to by its host


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Path]:
    """Where a guest without a screen listens."""
    path, memory = tmp_path / "guest.sock", os.memfd_create("frames")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        server = Server(
            SharedMemoryHostListener(listener, memory, 1),
            lambda *_: HeadlessDesktop(LinuxMachineIO()),
            LinuxMachineIO(),
            home="",
            tools={},
        )
        serving = threading.Thread(target=server.serve)
        serving.start()
        yield path
        serving.join(20)
        assert not serving.is_alive()
    os.close(memory)


def connected(path: Path) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    link.settimeout(20)
    link.connect(str(path))
    _, (memory,), _, _ = socket.recv_fds(link, 1, 1)
    os.close(memory)
    wire.receive(link)
    return link


def answer_to(link: socket.socket, number: int) -> wire.Message:
    while (answer := wire.receive(link))["id"] != number:
        pass
    return answer


def test_a_guest_answers_after_any_call_that_makes_no_sense(served: Path) -> None:
    chance = random.Random(SEED)
    ops = ("perform", "observe", "start", "tool", "frame", "inside", "hurry", "ping")
    with connected(served) as link:
        for number in range(1, ROUNDS):
            call = random_message(
                chance, ("fence", "action", "settle", "width", "height", "tool", "serial", "wait", "call")
            )
            call |= {"op": chance.choice((*ops, *VALUES))}
            if chance.random() < 0.5:
                call["fence"] = 1
            link.sendall(wire.encode({"id": number, **call}))
            answer = answer_to(link, number)
            assert "result" in answer or answer["refused"]["code"] in ("machine_gone", "stale_lease"), (call, answer)
        link.sendall(wire.encode({"id": [], "op": "ping"}))
        link.sendall(wire.encode({"id": 1, "op": "inside", "fence": 2**80, "call": "files.list", "path": "/"}))
        assert answer_to(link, 1)["result"]["failed"] is None


def test_a_guest_hangs_up_on_what_is_nested_too_deeply_and_serves_the_next_host(served: Path) -> None:
    with connected(served) as link:
        link.sendall(wire.HEADER.pack(len(DEEP)) + DEEP)
        assert link.recv(1) == b""
    with connected(served) as link:
        link.sendall(wire.encode({"id": 3, "op": "ping"}))
        assert answer_to(link, 3) == {"id": 3, "result": {}}


# --- the bridge, spoken to by a guest


@pytest_asyncio.fixture
async def guest() -> AsyncIterator[tuple[GuestLink, socket.socket]]:
    """A link, and the guest's end of it."""
    ours, theirs = socket.socketpair()
    link = await GuestLink.open(ours)
    with theirs:
        yield link, theirs
    link.close()
    ours.close()


async def test_the_bridge_hears_an_answer_behind_messages_of_any_kind(guest: tuple[GuestLink, socket.socket]) -> None:
    link, theirs = guest
    chance = random.Random(SEED)
    call = asyncio.create_task(link.call("ping", EmptyReply, timeout=20))
    await asyncio.sleep(0)
    noise = [random_message(chance, ("id", "op", "result", "refused", "slot", "data")) for _ in range(ROUNDS)]
    messages: list[wire.Message] = [{"id": []}, {"id": {}}, {"id": [[]], "result": {}}, *noise, {"id": 1, "result": {}}]
    await asyncio.to_thread(theirs.sendall, b"".join(map(wire.encode, messages)))
    assert await call == EmptyReply()


@pytest.mark.parametrize("body", [DEEP, b'{"id":1,"result":' * 5000, b"\xff", b"9" * 5000, b'{"id":1e999}'])
async def test_what_is_no_message_leaves_no_call_waiting(guest: tuple[GuestLink, socket.socket], body: bytes) -> None:
    link, theirs = guest
    call = asyncio.create_task(link.call("ping", EmptyReply, timeout=600))
    await asyncio.sleep(0)
    theirs.sendall(wire.HEADER.pack(len(body)) + body)
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(MachineGone):
        await asyncio.wait_for(call, 20)
    assert link.gone


# --- the browser


def browser_pipe(said: list[tuple[str, Any]]) -> Pipe:
    """A pipe without a browser; what listeners hear is added to `said`."""
    pipe = Pipe()
    pipe.listen("s", lambda event, told: said.append((event, told["frame"]["id"])))
    return pipe


async def test_a_pipe_goes_on_after_any_message() -> None:
    chance = random.Random(SEED)
    said: list[tuple[str, Any]] = []
    pipe = browser_pipe(said)
    answers: tuple[dict[str, Any], ...] = ({"result": 7}, {"error": []}, {"error": "no"}, {})
    for answer in answers:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        pipe._waiting[5] = ("Page.enable", "s", future)
        pipe.data_received(json.dumps({"id": 5, **answer}).encode() + b"\0")
        with pytest.raises(BrowserFailed):
            await future
    for noise in (DEEP, b"", b"\xff", b"[]", b"7", b'{"id":[]}', b'{"method":"Target.detachedFromTarget"}'):
        pipe.data_received(noise + b"\0")
    for _ in range(ROUNDS):
        message = random_message(chance, ("id", "method", "params", "sessionId", "result", "error"))
        pipe.data_received(json.dumps(message).encode() + b"\0")
    event = {"method": "Page.frameNavigated", "sessionId": "s", "params": {"frame": {"id": "f"}}}
    pipe.data_received(json.dumps(event).encode() + b"\0")
    assert said[-1] == ("Page.frameNavigated", "f")
    assert not pipe.ended.is_set()


@pytest.mark.parametrize("text", ["[" * 100_000, "nothing", "", 7, None, {}])
async def test_what_a_page_calls_json_is_read_with_care(monkeypatch: pytest.MonkeyPatch, text: object) -> None:
    page = Page(Pipe(), "t", "s", "")

    async def answered(method: str, **asked: Any) -> dict[str, Any]:
        return {"result": {"value": text}}

    monkeypatch.setattr(page, "call", answered)
    monkeypatch.setattr(page, "send", lambda method, **asked: None)
    with pytest.raises(BrowserFailed):
        await page._read("thing")


# --- phones and QEMU


@pytest.mark.parametrize(
    ("said", "what"),
    [
        (struct.pack("<BI", 1, 2**32 - 1), "shell"),
        (struct.pack("<4sI", b"DATA", 2**31), "read"),
        (struct.pack("<4sI", b"FAIL", 2**31), "write"),
        (b"x", "shell"),
    ],
)
async def test_a_phone_that_announces_gigabytes_is_refused(tmp_path: Path, said: bytes, what: str) -> None:
    async def phone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            await reader.readexactly(int(await reader.readexactly(4), 16))
            writer.write(b"OKAY")
        writer.write(said)
        await writer.drain()
        writer.close()

    server = AdbServer(tmp_path)
    device = Device(server, "phone")
    asked = {"shell": ("ls",), "read": ("/a",), "write": ("/a", b"x")}[what]
    async with served_socket(phone, tmp_path / "adb.sock"):
        with pytest.raises(AdbRequestFailed):
            await getattr(device, what)(*asked)


async def test_an_exit_without_a_status_is_no_crash(tmp_path: Path) -> None:
    async def phone(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(2):
            await reader.readexactly(int(await reader.readexactly(4), 16))
            writer.write(b"OKAY")
        writer.write(adb.SHELL_HEADER.pack(adb.EXIT, 0))
        await writer.drain()
        writer.close()

    async with served_socket(phone, tmp_path / "adb.sock"):
        assert (await Device(AdbServer(tmp_path), "phone").shell("ls")).code is None


async def test_qemu_is_heard_behind_messages_of_any_kind(tmp_path: Path) -> None:
    chance = random.Random(SEED)

    async def qemu(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            for _ in range(ROUNDS):
                message: object = random_message(chance, ("id", "event", "data", "return", "error"))
                if chance.random() < 0.2:
                    message = chance.choice(VALUES)
                writer.write(json.dumps(message).encode() + b"\n")
            writer.write(json.dumps({"id": json.loads(line)["id"], "return": {}}).encode() + b"\n")
        writer.close()

    async with served_socket(qemu, tmp_path / "qmp.sock"):
        qmp = await QmpClient.connect(tmp_path / "qmp.sock")
        assert await qmp.ask("query-status") == {}
        qmp.close()
