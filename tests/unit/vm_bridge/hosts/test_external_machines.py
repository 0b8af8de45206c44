"""Machines that somebody supplies: none is lent to two, and none is put back for two at once."""

import asyncio
import errno
import os
import secrets
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

import pytest

from protocol.trajectory.tasks import Task
from tests.waiting import eventually
from vm_bridge.errors import MachineGone, NoMachine
from vm_bridge.guest.common import handshake, wire
from vm_bridge.hosts.osworld.evaluator import FOLDER_PREFIX
from vm_bridge.hosts.osworld.host import LINUX, GuestHost, GuestSandbox
from vm_bridge.hosts.runtime_folder import RuntimeFolder
from vm_bridge.hosts.windows import IMAGE, WindowsHost, WindowsSandbox
from vm_bridge.sandbox import Host

DEAD, OTHER = "127.0.0.1:8", "127.0.0.1:9"
SECRET = "what both know"
Kind = tuple[type[GuestSandbox] | type[WindowsSandbox], str]


@pytest.fixture(params=["osworld", "windows"])
def kind(request: pytest.FixtureRequest) -> Kind:
    """Both, whose machines are lent and put back alike."""
    return (GuestSandbox, LINUX.image) if request.param == "osworld" else (WindowsSandbox, IMAGE)


def host_of(kind: Kind, data: Path, *addresses: str, revert: tuple[str, ...] = ()) -> Host:
    if kind[0] is GuestSandbox:
        return GuestHost(data, addresses, revert)
    return WindowsHost(data, addresses, SECRET, revert)


class Script:
    """A command that never ends by itself. It writes the number of each of its runs into a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir()
        self.argv = ("sh", "-c", f"touch {folder}/$$; exec sleep 600")

    def runs(self) -> tuple[int, ...]:
        return tuple(int(each.name) for each in self._folder.iterdir())

    def ran_since(self, before: tuple[int, ...]) -> bool:
        return set(self.runs()) != set(before)

    def run_ends(self, pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    def end(self) -> None:
        for pid in self.runs():
            if not self.run_ends(pid):
                os.kill(pid, signal.SIGKILL)


class Agent:
    """What an agent inside Windows says to who knows the secret; it does nothing of what it is asked."""

    def __init__(self) -> None:
        self.visitors = 0

    async def attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.visitors += 1
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            await self._answer(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        self.visitors -= 1

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        theirs = secrets.token_bytes(handshake.NONCE)
        writer.write(handshake.GREETING + theirs)
        ours = (await reader.readexactly(handshake.NONCE + handshake.PROOF))[: handshake.NONCE]
        writer.write(handshake.compute_proof(SECRET, handshake.GUEST, theirs, ours))
        greeting = {"started": True, "fence": 0, "home": "", "width": 1280, "height": 800}
        writer.write(wire.encode({"id": wire.READY, "result": greeting}))
        while True:
            length = wire.body_length(await reader.readexactly(wire.HEADER.size))
            asked = wire.decode(await reader.readexactly(length))
            writer.write(wire.encode({"id": asked["id"], "result": {}}))


@pytest.fixture
async def script(tmp_path: Path) -> AsyncIterator[Script]:
    script = Script(tmp_path / "runs")
    yield script
    script.end()


async def test_who_waited_for_a_dead_machine_takes_none_that_was_lent_meanwhile(
    kind: Kind, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_up, asked = asyncio.Event(), asyncio.Event()

    async def start(sandbox: GuestSandbox | WindowsSandbox) -> None:
        if sandbox.address == DEAD:
            asked.set()
            await given_up.wait()
            raise MachineGone("it does not answer")

    monkeypatch.setattr(kind[0], "start", start)
    host = host_of(kind, tmp_path, DEAD, OTHER)
    waiting = asyncio.create_task(host.create(kind[1]))
    await asked.wait()
    lent = await host.create(kind[1])
    given_up.set()
    with pytest.raises(NoMachine, match="it does not answer"):
        await waiting
    await lent.destroy()
    again = await host.create(kind[1])  # the dead one is tried again, and the one given back is lent
    assert again.id == lent.id
    assert again is not lent
    await host.close()


async def test_a_machine_is_free_when_the_command_that_puts_it_back_has_ended(
    kind: Kind, tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lease had begun to put it back when it was given up."""
    host = host_of(kind, tmp_path, OTHER, revert=script.argv)
    held: list[GuestSandbox | WindowsSandbox] = []

    async def start(sandbox: GuestSandbox | WindowsSandbox) -> None:
        assert all(map(script.run_ends, script.runs()))
        held.append(sandbox)

    async def skip_settle(*_: object) -> None:
        """As if it had a guest."""

    monkeypatch.setattr(kind[0], "start", start)
    await host.create(kind[1])
    (sandbox,) = held
    if isinstance(sandbox, WindowsSandbox):
        monkeypatch.setattr(sandbox._computer, "skip_settle", skip_settle)
        preparing = asyncio.create_task(sandbox.prepare(1, Task(id="one", instruction="Do.")))
    else:
        preparing = asyncio.create_task(sandbox.reset(1, Task(id="one", instruction="Do.")))
    await eventually(script.runs)
    destroying = asyncio.create_task(sandbox.destroy())
    async with asyncio.timeout(60):
        while len(held) < 2:
            with suppress(NoMachine):
                await host.create(kind[1])
            await asyncio.sleep(0)
        await destroying
    with pytest.raises(MachineGone, match="taken away"):
        await preparing
    assert len(script.runs()) == 1
    await host.close()


async def test_a_guest_is_free_whatever_could_not_be_tidied_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def start(_: GuestSandbox) -> None:
        """As if it had a guest."""

    async def refused() -> NoReturn:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(GuestSandbox, "start", start)
    host = GuestHost(tmp_path, [OTHER])
    sandbox = await host.create(LINUX.image)
    assert isinstance(sandbox, GuestSandbox)
    for part, way in (("evaluator", "forget"), ("guest", "close")):
        with monkeypatch.context() as patched:
            patched.setattr(getattr(sandbox, part), way, refused)
            with pytest.raises(OSError, match="Too many open files"):
                await sandbox.destroy()
        again = await host.create(LINUX.image)
        assert again is not sandbox
        sandbox = again
        assert isinstance(sandbox, GuestSandbox)
    await host.close()


async def test_a_closed_host_lends_nothing(kind: Kind, tmp_path: Path, script: Script) -> None:
    host = host_of(kind, tmp_path, DEAD, OTHER, revert=script.argv)
    creating = asyncio.create_task(host.create(kind[1]))
    await eventually(script.runs)
    await host.close()
    with pytest.raises(NoMachine, match="taken away"):
        await creating
    assert all(map(script.run_ends, script.runs()))
    assert len(script.runs()) == 1


async def test_who_no_longer_waits_for_a_machine_gives_it_back(kind: Kind, tmp_path: Path, script: Script) -> None:
    host = host_of(kind, tmp_path, OTHER, revert=script.argv)
    for _ in range(2):
        before = script.runs()
        creating = asyncio.create_task(host.create(kind[1]))
        await eventually(partial(script.ran_since, before))
        creating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await creating
        assert all(map(script.run_ends, script.runs()))
    await host.close()


async def test_an_agent_that_comes_up_after_the_command_is_waited_for(tmp_path: Path) -> None:
    """And each reset runs the command again."""
    runs = tmp_path / "runs"
    runs.mkdir()
    with socket.socket() as port:
        port.bind(("127.0.0.1", 0))  # nobody listens there yet, and nobody else can
        address = f"127.0.0.1:{port.getsockname()[1]}"
        host = WindowsHost(tmp_path, [address], SECRET, ("sh", "-c", f"touch {runs}/$$-$0"))
        creating = asyncio.create_task(host.create(IMAGE))
        await eventually(lambda: list(runs.iterdir()))
        agent = Agent()
        async with await asyncio.start_server(agent.attend, sock=port):
            sandbox = await creating
            assert await sandbox.healthy()
            await sandbox.reset()
            assert await sandbox.healthy()
            await host.close()
            await eventually(lambda: not agent.visitors)
    assert [run.name.partition("-")[2] for run in runs.iterdir()] == [address, address]


async def test_what_an_earlier_bridge_kept_of_its_tasks_is_removed(tmp_path: Path) -> None:
    earlier = RuntimeFolder(tmp_path / "osworld" / LINUX.image)
    left = earlier.path / f"{FOLDER_PREFIX}abc" / "settings"
    left.mkdir(parents=True)
    (left / "account.json").write_text("{}")
    os.close(earlier._lock)  # as when that process is killed
    host = GuestHost(tmp_path, [OTHER])
    await host.adopt(())
    assert earlier.path.is_dir(), "it is the same folder"
    assert not left.parent.exists()
    await host.close()
