"""A caller waits for OSWorld's task files as long as these may take, and for other tasks no longer."""

from datetime import UTC, datetime
from typing import Any

import pytest

from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.machine_client import PREPARE_TIMEOUT_SECONDS, RemoteMachine
from vm_bridge.errors import MachineGone
from vm_bridge.hosts.external_machines import BOOT_SECONDS, REVERT_SECONDS
from vm_bridge.hosts.osworld.evaluator import RUN_TIMEOUT_SECONDS
from vm_bridge.hosts.osworld.host import GuestSandbox
from vm_bridge.hosts.windows import WindowsSandbox
from vm_bridge.machine import Capabilities, Lease


@pytest.mark.parametrize("parameters", [{}, {"osworld": {}}])
async def test_setting_up_and_judging_have_their_time(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def call(self: BridgeClient, *given: Any, timeout_seconds: float, **more: Any) -> bytes:
        waited.append(timeout_seconds)
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
    assert prepared > BOOT_SECONDS + RUN_TIMEOUT_SECONDS if parameters else prepared == PREPARE_TIMEOUT_SECONDS


def test_a_reset_may_take_as_long_as_one_that_a_lease_had_begun_and_its_own() -> None:
    for sandbox in (GuestSandbox, WindowsSandbox):
        assert sandbox.reset_seconds > 2 * (REVERT_SECONDS + BOOT_SECONDS)
