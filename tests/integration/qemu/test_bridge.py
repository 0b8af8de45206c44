"""Virtual machines of a bridge process: what its holder does over HTTP, and what becomes of them without the bridge."""

import itertools
import signal
from pathlib import Path

import pytest

from protocol.actions.types import OpenApp, RunCommand, TypeText
from protocol.trajectory.tasks import Task
from tests.integration.bridge.bridge_process import bridge, settings
from tests.integration.qemu.machines import MEMORY, VIRTUAL, need_virtual
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import CannotRestore
from vm_bridge.hosts.qemu.host import IMAGE
from vm_bridge.machine import Lease
from vm_bridge.virtual.base_image import DEFAULT_DISKS_FOLDER

pytestmark = list(VIRTUAL)
START_SECONDS = 300.0
"""Longest until a bridge answers, where one before left a machine to it."""
CLAIM_SECONDS = 300
"""Longest that one claim waits; where the states are still to be made by booting, run another test first."""
commands = (f"command-{number:04}" for number in itertools.count())


@pytest.fixture
def environment(bridge_redis: str, tmp_path: Path) -> dict[str, str]:
    need_virtual()
    qemu = {"PILOTHOUSE_QEMU": "true", "PILOTHOUSE_QEMU_MEMORY": str(MEMORY), "PILOTHOUSE_MAX_MACHINES": "1"}
    return settings(bridge_redis, tmp_path) | qemu


async def claimed(client: BridgeClient) -> Lease:
    return await client.allocate(image=IMAGE, holder="tests", session="episode-1", ttl=600, wait=CLAIM_SECONDS)


async def command_output(client: BridgeClient, lease: Lease, command: str) -> str:
    """What a command in the machine prints."""
    done = await client.machine(lease).perform(next(commands), RunCommand(command=command))
    assert done.error is None
    return done.after.text or ""


async def test_an_act_is_undone_over_the_bridge(environment: dict[str, str]) -> None:
    """As the desk does it: a snapshot before each act, the way back, and the next act from there."""
    async with bridge(environment, signal.SIGTERM, seconds=START_SECONDS) as client:
        lease = await claimed(client)
        machine = client.machine(lease)
        await machine.prepare(Task(id="t", instruction="Do."))
        await machine.perform(next(commands), OpenApp(name="terminal"))
        before = await machine.perform(next(commands), TypeText(text="echo first > note.txt; clear; echo seen\n"))
        kept = await machine.snapshot()
        await machine.perform(next(commands), TypeText(text="echo second > note.txt; exit\n"))
        seen = await machine.restore(kept)
        assert seen.screenshot == before.after.screenshot
        again = await machine.perform(next(commands), TypeText(text="cat note.txt > copy.txt; clear\n"))
        assert again.error is None
        assert await command_output(client, lease, "cat copy.txt") == "first\n"


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGHUP])
async def test_machines_and_leases_outlive_the_bridge(environment: dict[str, str], end: signal.Signals) -> None:
    async with bridge(environment, end, seconds=START_SECONDS) as client:
        lease = await claimed(client)
        await command_output(client, lease, "sleep 1000 & echo $! > pid")
        old = await client.machine(lease).snapshot()
    # As after an upgrade: the next one has to boot a first machine before it makes any, but adopts without.
    memory = str(MEMORY + 64)
    async with bridge(
        environment | {"PILOTHOUSE_QEMU_MEMORY": memory}, signal.SIGTERM, seconds=START_SECONDS
    ) as client:
        assert list(DEFAULT_DISKS_FOLDER.glob(f"states-*-{memory}-*")) == []
        assert (await client.renew(lease)).fencing_token == lease.fencing_token
        assert [machine.id for machine in await client.fleet.machines() if machine.session == "episode-1"] == [
            lease.machine_id
        ]
        assert "alive" in await command_output(client, lease, "kill -0 $(cat pid) && echo alive")
        machine = client.machine(lease)
        with pytest.raises(CannotRestore):
            await machine.restore(old)
        kept = await machine.snapshot()
        await command_output(client, lease, "kill $(cat pid); rm pid")
        await machine.restore(kept)
        assert "alive" in await command_output(client, lease, "kill -0 $(cat pid) && echo alive")
