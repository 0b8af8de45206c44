"""A caller waits for OSWorld's task files as long as these may take, and for other tasks no longer."""

from datetime import UTC, datetime
from typing import Any

import pytest

from vm_bridge.client import BridgeClient
from vm_bridge.errors import MachineGone
from vm_bridge.hosts.command import REVERT_SECONDS
from vm_bridge.hosts.osworld import GuestSandbox
from vm_bridge.hosts.osworld_referee import SECONDS
from vm_bridge.hosts.supplied import BOOT_SECONDS
from vm_bridge.hosts.windows import WindowsSandbox
from vm_bridge.machine import Capabilities, Lease
from vm_bridge.machine_client import PREPARE_TIMEOUT, RemoteMachine
from vocabulary.tasks import Task


@pytest.mark.parametrize("parameters", [{}, {"osworld": {}}])
async def test_setting_up_and_judging_have_their_time(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def call(self: BridgeClient, *given: Any, patience: float, **more: Any) -> bytes:
        waited.append(patience)
        raise MachineGone("for this test")

    monkeypatch.setattr(BridgeClient, "call", call)
    lease = Lease(
        machine_id="one",
        fencing_token=1,
        holder="me",
        image="any",
        host_url="http://bridge",
        expires_at=datetime.now(UTC),
        capabilities=Capabilities(kinds=(), width=8, height=8, streams=()),
    )
    async with BridgeClient("http://bridge", "secret") as bridge:
        machine = RemoteMachine(bridge, lease)
        with pytest.raises(MachineGone):
            await machine.prepare(Task(id="one", instruction="Do.", parameters=parameters))
        with pytest.raises(MachineGone):
            await machine.evaluate()
    prepared, evaluated = waited
    assert prepared == evaluated
    assert prepared > BOOT_SECONDS + SECONDS if parameters else prepared == PREPARE_TIMEOUT


def test_a_reset_may_take_as_long_as_one_that_a_lease_had_begun_and_its_own() -> None:
    for sandbox in (GuestSandbox, WindowsSandbox):
        assert sandbox.reset_seconds > 2 * (REVERT_SECONDS + BOOT_SECONDS)
