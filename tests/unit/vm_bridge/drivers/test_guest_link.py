"""A guest is not trusted: whatever it answers, its caller gets a checked answer or a clear error."""

import asyncio
import fcntl
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from protocol.actions.types import MoveTo, TypeText
from vm_bridge.drivers.computer.driver import ComputerDriver
from vm_bridge.drivers.computer.frames import MEMORY_BYTES, GuestScreen, SharedFrameMemory
from vm_bridge.drivers.computer.guest_link import GuestLink
from vm_bridge.drivers.computer.suite_environment import GuestEnvironment
from vm_bridge.errors import InvalidAction, MachineGone, OutcomeUnknown, StaleLease
from vm_bridge.guest.common import wire

Answer = Callable[[wire.Message], dict[str, Any] | bytes | None]
LOOK = {"serial": 1, "slot": 0, "at": 1e9}
GREETING = {"started": False, "fence": 0, "home": "x", "width": 0, "height": 0}
DONE = {
    "before": LOOK,
    "after": LOOK,
    "rest": "rested",
    "settle_ms": 1.5,
    "text": None,
    "error": None,
    "attachment": None,
}


class Guest:
    """The other end of a link; `answer` gives a result, raw bytes, or None to hang up."""

    def __init__(self) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.calls: list[wire.Message] = []
        self.answer: Answer = lambda call: {"result": {}}

    async def serve(self) -> None:
        self.theirs.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=self.theirs)
        try:
            while True:
                length = wire.body_length(await reader.readexactly(wire.HEADER.size))
                call = wire.decode(await reader.readexactly(length))
                self.calls.append(call)
                answer = self.answer(call)
                if answer is None:
                    return
                writer.write(answer if isinstance(answer, bytes) else wire.encode({"id": call["id"], **answer}))
        except asyncio.IncompleteReadError:
            return
        finally:
            writer.close()
            await writer.wait_closed()


@pytest_asyncio.fixture
async def guest() -> AsyncIterator[Guest]:
    guest = Guest()
    serving = asyncio.create_task(guest.serve())
    yield guest
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    guest.ours.close()
    guest.theirs.close()


@pytest_asyncio.fixture
async def link(guest: Guest) -> AsyncIterator[GuestLink]:
    link = await GuestLink.open(guest.ours)
    yield link
    link.close()


@pytest_asyncio.fixture
async def computer(link: GuestLink) -> AsyncIterator[ComputerDriver]:
    computer = ComputerDriver({})
    computer.attach(link, GuestScreen(SharedFrameMemory(SharedFrameMemory.make()), 64, 48), 1)
    yield computer


def perform(computer: ComputerDriver, command: str, text: str = "x") -> Awaitable[Any]:
    return computer.perform(1, command, TypeText(text=text), settle=True)


@pytest.mark.parametrize("state", [{}, GREETING | {"width": -1}, GREETING | {"fence": "one"}, GREETING | {"more": 1}])
async def test_a_senseless_greeting_ends_the_machine(guest: Guest, link: GuestLink, state: dict[str, Any]) -> None:
    guest.theirs.send(wire.encode({"id": wire.READY, "result": state}))
    with pytest.raises(MachineGone, match="senseless"):
        await link.ready(5)


@pytest.mark.parametrize(("size", "seals"), [(4096, 0), (MEMORY_BYTES, 0), (MEMORY_BYTES, fcntl.F_SEAL_SHRINK)])
def test_memory_that_may_shrink_is_refused(size: int, seals: int) -> None:
    descriptor = os.memfd_create("frames", os.MFD_ALLOW_SEALING)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    with pytest.raises(MachineGone):
        SharedFrameMemory(descriptor)


async def test_whoever_does_not_greet_is_no_guest(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "guest.sock"))
        listener.listen()
        connecting = asyncio.create_task(GuestLink.connect(tmp_path / "guest.sock", timeout=5))
        other, _ = await asyncio.to_thread(listener.accept)
        with other:
            other.send(b"?")
            with pytest.raises(MachineGone):
                await connecting


async def test_an_act_reaches_the_guest_once(guest: Guest, computer: ComputerDriver) -> None:
    guest.answer = lambda call: {"result": DONE}
    first = await perform(computer, "command-1")
    assert await perform(computer, "command-1") == first
    assert [call["op"] for call in guest.calls] == ["perform"]
    assert guest.calls[0]["action"] == {"kind": "type_text", "text": "x"}


async def test_a_crash_during_an_act_leaves_its_outcome_open(guest: Guest, computer: ComputerDriver) -> None:
    guest.answer = lambda call: None
    for _ in range(2):
        with pytest.raises(OutcomeUnknown):
            await perform(computer, "command-1")
    with pytest.raises(MachineGone):
        await perform(computer, "command-2")
    assert len(guest.calls) == 1


@pytest.mark.parametrize(
    "result",
    [
        {},
        DONE | {"rest": "asleep"},
        DONE | {"after": LOOK | {"slot": 5}},
        DONE | {"after": LOOK | {"slot": -1}},
        DONE | {"after": LOOK | {"at": 1e300}},
        DONE | {"settle_ms": float("nan")},
        DONE | {"text": "x" * 300_000},
        DONE | {"surprise": 1},
    ],
)
async def test_senseless_results_end_the_machine(
    guest: Guest, computer: ComputerDriver, result: dict[str, Any]
) -> None:
    guest.answer = lambda call: {"result": result}
    with pytest.raises(OutcomeUnknown, match="senseless"):
        await perform(computer, "command-1")
    with pytest.raises(MachineGone):
        await computer.observe(1, settle=False)


@pytest.mark.parametrize(
    "answer",
    [{}, {"result": [1]}, {"refused": "no"}, {"refused": {"code": "no_such_code", "message": "x"}}],
)
async def test_senseless_answers_are_told(guest: Guest, computer: ComputerDriver, answer: dict[str, Any]) -> None:
    guest.answer = lambda call: answer
    with pytest.raises(MachineGone):
        await computer.observe(1, settle=False)


@pytest.mark.parametrize("noise", [wire.HEADER.pack(2**31), wire.HEADER.pack(2) + b"[]", wire.HEADER.pack(1) + b"\xff"])
async def test_noise_on_the_line_ends_the_machine(guest: Guest, link: GuestLink, noise: bytes) -> None:
    guest.answer = lambda call: noise
    with pytest.raises(MachineGone):
        await GuestEnvironment(link, 1).run(["true"])
    assert link.gone


async def test_silence_ends_the_machine(guest: Guest, link: GuestLink) -> None:
    guest.answer = lambda call: b""
    with pytest.raises(MachineGone, match="did not start"):
        await link.ready(0.05)


async def test_answers_to_nobody_are_dropped(guest: Guest, computer: ComputerDriver) -> None:
    stray = wire.encode({"id": 999, "result": {}}) + wire.encode({"id": "x", "result": {}}) + wire.encode({})
    guest.answer = lambda call: stray + wire.encode({"id": call["id"], "result": DONE})
    assert (await perform(computer, "command-1")).error is None


async def test_a_refusal_is_raised_as_what_it_is(guest: Guest, computer: ComputerDriver) -> None:
    guest.answer = lambda call: {"refused": {"code": "stale_lease", "message": "behind 9"}}
    with pytest.raises(StaleLease, match="behind 9"):
        await computer.perform(1, "command-1", MoveTo(x=1, y=1), settle=True)


async def test_what_was_refused_may_be_asked_for_again(guest: Guest, computer: ComputerDriver) -> None:
    guest.answer = lambda call: {"refused": {"code": "stale_lease", "message": "behind 9"}}
    with pytest.raises(StaleLease):
        await perform(computer, "command-1")
    guest.answer = lambda call: {"result": DONE}
    assert (await perform(computer, "command-1")).error is None


async def test_a_resend_of_an_ended_lease_is_refused(guest: Guest, computer: ComputerDriver) -> None:
    guest.answer = lambda call: {"result": DONE}
    await perform(computer, "command-1")
    await computer.perform(2, "command-2", MoveTo(x=1, y=1), settle=True)
    with pytest.raises(StaleLease):
        await perform(computer, "command-1")


@pytest.mark.parametrize("text", ["nul \0", "half \ud83d"])
async def test_text_that_is_none_never_leaves(guest: Guest, computer: ComputerDriver, text: str) -> None:
    with pytest.raises(InvalidAction):
        computer._check(TypeText.model_construct(text=text))
    assert guest.calls == []
