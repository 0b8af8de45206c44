"""A bridge over real desktops that is killed, or told to leave: the next one goes on with the same leases."""

import signal
from pathlib import Path

import pytest

from protocol.actions.types import RunCommand
from tests.integration.bridge.bridge_process import bridge, settings
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import MachineGone
from vm_bridge.machine import Lease

BRIDGES_SECONDS = 300
"""A test starts two, and the first makes its image."""


@pytest.fixture
def environment(bridge_redis: str, tmp_path: Path) -> dict[str, str]:
    return settings(bridge_redis, tmp_path)


async def command_output(client: BridgeClient, lease: Lease, command_id: str, command: str) -> str:
    """What a command in the machine prints."""
    done = await client.machine(lease).perform(command_id, RunCommand(command=command))
    assert done.error is None
    return done.after.text or ""


@pytest.mark.slow
@pytest.mark.timeout(BRIDGES_SECONDS)
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGHUP])
async def test_machines_and_leases_outlive_the_bridge(environment: dict[str, str], end: signal.Signals) -> None:
    async with bridge(environment, end) as client:
        lease = await client.allocate(image="desktop", holder="tests", session="episode-1", wait=60)
        await command_output(client, lease, "command-1", "sleep 1000 & echo $! > pid")
    async with bridge(environment, signal.SIGTERM) as client:
        assert (await client.renew(lease)).fencing_token == lease.fencing_token
        assert [machine.id for machine in await client.fleet.machines() if machine.session == "episode-1"] == [
            lease.machine_id
        ]
        assert "alive" in await command_output(client, lease, "command-2", "kill -0 $(cat pid) && echo alive")


@pytest.mark.slow
@pytest.mark.timeout(BRIDGES_SECONDS)
async def test_a_bridge_that_is_shut_down_takes_its_machines_along(environment: dict[str, str]) -> None:
    async with bridge(environment, signal.SIGTERM) as client:
        lease = await client.allocate(image="desktop", holder="tests", wait=60)
    async with bridge(environment, signal.SIGTERM) as client:
        with pytest.raises(MachineGone, match="shut down"):
            await client.renew(lease)
