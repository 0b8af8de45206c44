"""A guest serves one host after another, and refuses the calls of a lease that ended."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from vm_bridge.guest.common import wire
from vm_bridge.guest.common.server import Server
from vm_bridge.guest.linux.headless import HeadlessDesktop
from vm_bridge.guest.linux.host_listener import SharedMemoryHostListener
from vm_bridge.guest.linux.machine_io import LinuxMachineIO

IDLE_SECONDS = 0.5


class Host:
    """The other end of a link."""

    def __init__(self, path: Path) -> None:
        self.link = socket.socket(socket.AF_UNIX)
        self.link.settimeout(10)
        self.link.connect(str(path))
        greeting, (self.memory,), _, _ = socket.recv_fds(self.link, 1, 1)
        assert greeting == wire.GREETING
        self.greeting = wire.receive(self.link)["result"]

    def call(self, op: str, **arguments: Any) -> dict[str, Any]:
        self.link.sendall(wire.encode({"id": 7, "op": op, **arguments}))
        answer = wire.receive(self.link)
        assert answer["id"] == 7
        return answer

    def close(self) -> None:
        self.link.close()
        os.close(self.memory)


class ViewedDesktop(HeadlessDesktop):
    """Shows a picture that never changes: a question for the next one waits."""

    def __init__(self) -> None:
        super().__init__(LinuxMachineIO())
        self._frame_wait_cancelled = threading.Event()

    def cancel_frame_wait(self) -> None:
        self._frame_wait_cancelled.set()

    def frame(self, serial: int, wait: float) -> dict[str, Any]:
        if serial:
            self._frame_wait_cancelled.wait(wait)
        return {"serial": 1}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[Path]:
    """Where a guest without a screen listens."""
    path = tmp_path / "guest.sock"
    memory = os.memfd_create("frames")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        host_listener = SharedMemoryHostListener(listener, memory, IDLE_SECONDS)
        server = Server(host_listener, lambda width, height: ViewedDesktop(), LinuxMachineIO(), home="digest", tools={})
        server_thread = threading.Thread(target=server.serve)
        server_thread.start()
        yield path
        server_thread.join(10)
        assert not server_thread.is_alive(), "a guest without a host ends"
    os.close(memory)


def test_the_next_host_finds_what_is_there(address: Path) -> None:
    first = Host(address)
    assert first.greeting == {"started": False, "fence": 0, "home": "digest", "width": 0, "height": 0}
    first.call("start", fence=5, width=0, height=0)
    first.close()
    second = Host(address)
    assert (second.greeting["started"], second.greeting["fence"]) == (True, 5)
    second.close()


def test_a_lower_token_is_refused_by_whichever_host(address: Path) -> None:
    first = Host(address)
    first.call("start", fence=5, width=0, height=0)
    first.close()
    second = Host(address)
    assert second.call("hurry", fence=4)["refused"]["code"] == "stale_lease"
    assert second.call("hurry", fence=5) == {"id": 7, "result": {}}
    second.close()


def test_before_a_start_nothing_can_be_done(address: Path) -> None:
    host = Host(address)
    assert host.call("perform", fence=1, action={"kind": "wait"}, settle=True)["refused"]["code"] == "machine_gone"
    assert host.call("ping") == {"id": 7, "result": {}}
    host.close()


def test_a_host_that_leaves_takes_its_question_for_a_frame_along(address: Path) -> None:
    """Else the next one would stand behind it, for longer than it waits for an answer."""
    first = Host(address)
    first.call("start", fence=5, width=0, height=0)
    first.link.sendall(wire.encode({"id": 8, "op": "frame", "serial": 1, "wait": 600}))
    first.close()
    second = Host(address)
    assert second.call("frame", serial=0, wait=0) == {"id": 7, "result": {"serial": 1}}
    second.close()
