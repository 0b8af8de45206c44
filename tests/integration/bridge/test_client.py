"""The client against a served bridge: the machine contract over HTTP, refusals, and connections that break."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import httpx
import pytest

from protocol.actions.types import Action, Click, Navigate, ReadFile, TypeText, Wait
from protocol.blobs import BlobRef
from protocol.trajectory.tasks import Task
from tests.integration.bridge.conftest import SECRET, RunningBridge
from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import (
    BridgeError,
    BridgeUnavailable,
    CommandConflict,
    InvalidAction,
    MachineGone,
    NoMachine,
    OutcomeUnknown,
    StaleLease,
    UnknownBlob,
    UnknownTask,
    UnsupportedAction,
)
from vm_bridge.machine import Lease, action_timeout
from vm_bridge.settle import MAX_SETTLE_SECONDS
from vm_bridge.simulators.fake.sandbox import FakeHost

CLICK = Click(x=100, y=100)


@pytest.fixture
async def lease(client: BridgeClient) -> Lease:
    return await client.allocate(image="desktop", holder="tests")


async def test_an_answer_carries_its_pictures(client: BridgeClient, lease: Lease, bridge: RunningBridge) -> None:
    machine = client.machine(lease)
    transition = await machine.perform("command-1", CLICK)
    before, after = transition.before.screenshot, transition.after.screenshot
    assert before
    assert after
    assert before != after
    bridge.host.made[0].crash()
    for ref in (before, after):
        assert BlobRef.of(await machine.blob(ref), ref.media_type) == ref


async def test_an_earlier_driver_of_a_lease_changes_nothing_more(client: BridgeClient, lease: Lease) -> None:
    """A process that was frozen while it prepared a machine wakes, and another has worked on it meanwhile."""
    task = Task(id="t", instruction="Type hi", suite="fake", name="type", parameters={"text": "hi"})
    frozen, present = client.machine(lease, driver=7), client.machine(lease, driver=8)
    await frozen.observe()
    await present.prepare(task)
    await present.perform("command-1", TypeText(text="hi"))
    for call in (frozen.prepare(task), frozen.perform("command-2", CLICK), frozen.snapshot(), frozen.files.list()):
        with pytest.raises(StaleLease, match="another process"):
            await call
    assert (await present.evaluate()).success is True
    assert (await client.machine(lease).evaluate()).success is True, "a caller that names no driver is none"


async def test_drivers_of_the_next_lease_begin_again(client: BridgeClient, lease: Lease) -> None:
    await client.machine(lease, driver=8).observe()
    await client.release(lease)
    again = await client.allocate(image="desktop", holder="tests")
    await client.machine(again, driver=1).observe()


async def test_a_prepared_task_is_judged(client: BridgeClient, lease: Lease) -> None:
    machine = client.machine(lease)
    task = Task(id="t", instruction="Type hi", suite="fake", name="type", parameters={"text": "hi"})
    await machine.prepare(task)
    assert (await machine.evaluate()).success is False
    await machine.perform("command-1", TypeText(text="hi"))
    assert (await machine.evaluate()).success is True


async def test_a_resend_is_answered_from_the_record(client: BridgeClient, lease: Lease, fake_host: FakeHost) -> None:
    machine = client.machine(lease)
    first = await machine.perform("command-1", CLICK)
    assert await machine.perform("command-1", CLICK) == first
    assert fake_host.made[0].acts == [CLICK]
    with pytest.raises(CommandConflict):
        await machine.perform("command-1", TypeText(text="x"))


async def test_a_settle_can_be_hurried(client: BridgeClient, lease: Lease, fake_host: FakeHost) -> None:
    machine, sandbox = client.machine(lease), fake_host.made[0]
    sandbox.settle_seconds = 60
    acting = asyncio.create_task(machine.perform("command-1", CLICK))
    await eventually(lambda: sandbox.acts)
    await machine.skip_settle()
    assert (await acting).after.rest == "hurried"


async def test_a_failed_act_is_no_exception(client: BridgeClient, lease: Lease) -> None:
    transition = await client.machine(lease).perform("command-1", ReadFile(path="nothing.txt"))
    assert transition.error
    assert transition.error.code == "cannot_read"


async def test_errors_arrive_as_they_were_raised(client: BridgeClient, lease: Lease, fake_host: FakeHost) -> None:
    machine, sandbox = client.machine(lease), fake_host.made[0]
    with pytest.raises(UnsupportedAction):
        await machine.perform("command-1", Navigate(url="https://example.org"))
    with pytest.raises(InvalidAction, match=r"\(1280, 0\)"):
        await machine.perform("command-2", Click(x=1280, y=0))
    with pytest.raises(UnknownTask):
        await machine.prepare(Task(id="t", instruction="?", suite="fake", name="unheard-of"))
    with pytest.raises(UnknownBlob):
        await machine.blob(BlobRef.of(b"never seen", "image/jpeg"))
    sandbox.lose_next_result = True
    for _ in range(2):
        with pytest.raises(OutcomeUnknown):
            await machine.perform("command-3", CLICK)
    sandbox.crash()
    with pytest.raises(MachineGone):
        await machine.observe()
    with pytest.raises(NoMachine):
        await client.allocate(image="toaster", holder="tests")
    with pytest.raises(UnknownTask):
        await client.suite_tasks("unheard-of")


async def test_a_released_lease_drives_nothing(client: BridgeClient, lease: Lease) -> None:
    assert (await client.renew(lease)).machine_id == lease.machine_id
    await client.release(lease)
    await client.release(lease)
    with pytest.raises(StaleLease):
        await client.machine(lease).observe()
    with pytest.raises(StaleLease):
        await client.renew(lease)


async def test_bundled_tasks_are_listed(client: BridgeClient) -> None:
    assert {task.suite for task in await client.suite_tasks("desktop")} == {"desktop"}


async def test_warm_machines_are_made(client: BridgeClient, fake_host: FakeHost) -> None:
    await client.warm(image="desktop", count=2)
    await eventually(lambda: len(fake_host.made) == 2)


async def test_a_wrong_secret_is_refused(bridge: RunningBridge) -> None:
    async with BridgeClient(bridge.url, SECRET + "!") as stranger:
        with pytest.raises(BridgeError, match="authorization"):
            await stranger.allocate(image="desktop", holder="tests")


async def test_nobody_listening_is_said_in_time() -> None:
    async with BridgeClient("http://127.0.0.1:9", SECRET) as client:
        with pytest.raises(BridgeUnavailable):
            await client.suite_tasks("desktop")


class Wire:
    """A TCP relay that can cut a connection as soon as the answer begins to come."""

    def __init__(self, upstream: str) -> None:
        self._host, self._port = httpx.URL(upstream).host, httpx.URL(upstream).port
        self.cuts = 0
        self.cut_when: Callable[[bytes], bool] = lambda _: False

    @asynccontextmanager
    async def open(self) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        async with server:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _relay(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        far, onward = await asyncio.open_connection(self._host, self._port)
        asked = bytearray()
        asking = asyncio.create_task(self._ask(near, onward, asked))
        while answer := await far.read(65_536):
            if self.cut_when(bytes(asked)):
                self.cuts += 1
                break
            asked.clear()
            back.write(answer)
        asking.cancel()
        onward.close()
        back.transport.abort()

    async def _ask(self, near: asyncio.StreamReader, onward: asyncio.StreamWriter, asked: bytearray) -> None:
        while part := await near.read(65_536):
            asked += part
            onward.write(part)
        onward.close()


@pytest.mark.parametrize("action", [TypeText(text="long " * 4_000), Wait(seconds=0.1)])
async def test_an_act_is_awaited_longer_than_it_may_take(client: BridgeClient, lease: Lease, action: Action) -> None:
    timeout_seconds: list[float] = []

    async def note(request: httpx.Request) -> None:
        timeout_seconds.append(request.extensions["timeout"]["read"])

    client._http.event_hooks = {"request": [note]}
    await client.machine(lease).perform("command-1", action)
    assert timeout_seconds[0] > action_timeout(action) + MAX_SETTLE_SECONDS


async def test_an_act_whose_answer_was_lost_is_done_once(
    bridge: RunningBridge, lease: Lease, fake_host: FakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = Wire(bridge.url)
    async with wire.open() as url, BridgeClient(bridge.url, SECRET) as client:
        at_host = client.host_headers(lease.host, bridge.url)
        monkeypatch.setattr(client, "host_headers", lambda *_: at_host)  # the host is known by its own address
        machine = client.machine(lease.model_copy(update={"host_url": url}))
        wire.cut_when = lambda asked: b"command-1" in asked and wire.cuts < 2
        transition = await machine.perform("command-1", CLICK)
    assert wire.cuts == 2
    assert transition.error is None
    assert fake_host.made[0].acts == [CLICK]


async def test_a_claim_whose_answer_was_lost_gives_one_lease(bridge: RunningBridge, fake_host: FakeHost) -> None:
    wire = Wire(bridge.url)
    wire.cut_when = lambda _: wire.cuts < 2
    async with wire.open() as url, BridgeClient(url, SECRET) as client:
        lease = await client.allocate(image="desktop", holder="tests")
        (leased,) = [machine for machine in await client.fleet.machines() if machine.state == "leased"]
    assert wire.cuts == 2
    assert (leased.id, leased.fencing_token) == (lease.machine_id, lease.fencing_token)


async def test_who_went_away_while_waiting_keeps_no_machine(client: BridgeClient, bridge: RunningBridge) -> None:
    held = [await client.allocate(image="desktop", holder="tests") for _ in range(bridge.config.max_machines)]
    async with BridgeClient(bridge.url, SECRET) as impatient:
        waiting = asyncio.create_task(impatient.allocate(image="desktop", holder="impatient"))
        await in_queue(client, 1)
        patient = asyncio.create_task(client.allocate(image="desktop", holder="patient"))
        await in_queue(client, 2)
        waiting.cancel()
        await asyncio.wait([waiting])
    await client.release(held[0])
    assert (await patient).machine_id == held[0].machine_id


async def in_queue(client: BridgeClient, count: int) -> None:
    """Until so many wait."""
    for _ in range(500):
        if len(await client.fleet.queue()) == count:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"there are never {count} who wait")
