"""Machines that go from one attempt to the next: which do, which do not, and that all are given back."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

import pytest

from agent_backend.episode.limits import RunnerLimits
from agent_backend.policy.expert import ExpertPolicy
from agent_backend.rollout import machine_reuse
from agent_backend.rollout.attempts import AttemptResult, PolicyFactory
from agent_backend.rollout.machine_reuse import MachineReuse
from protocol.actions.types import Finish
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import Task
from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient
from vm_bridge.machine import ExpertSuggestion, Machine
from vm_bridge.simulators.fake.machine import FakeMachine
from vm_bridge.simulators.fake.sandbox import FakeSandbox

TASK = Task(id="a", instruction="Do.")
REF = PolicyRef(name="p", revision="r", dialect="ui_tars_1_5", scripted=True)


async def end() -> ExpertSuggestion:
    return ExpertSuggestion(thought="Nothing to do.", action=Finish())


def ends_at_once(machine: Machine) -> ExpertPolicy:
    return ExpertPolicy(REF, end)


class Bridge:
    """Counts how many machines were leased, and holds those that were not given back."""

    def __init__(self) -> None:
        self.leased = Counter[str]()
        self.held = 0
        self.broken = False

    @asynccontextmanager
    async def lease(self, bridge: object, image: str, session: str) -> AsyncIterator[Machine]:
        self.leased[image] += 1
        self.held += 1
        sandbox = FakeSandbox("desktop")
        if self.broken:
            sandbox.crash()
        try:
            yield FakeMachine(sandbox, 1)
        finally:
            self.held -= 1


@pytest.fixture
def bridge(monkeypatch: pytest.MonkeyPatch) -> Bridge:
    made = Bridge()
    monkeypatch.setattr(machine_reuse, "leased_machine", made.lease)
    return made


async def attempt(machines: MachineReuse, image: str, policy: PolicyFactory = ends_at_once) -> AttemptResult:
    return await machines.run_attempt(image, TASK, policy, RunnerLimits())


async def test_a_browser_is_leased_once_and_other_machines_for_each_attempt(bridge: Bridge) -> None:
    async with MachineReuse(cast(BridgeClient, bridge)) as machines:
        for _ in range(3):
            assert (await attempt(machines, "browser")).trajectory is not None
            assert (await attempt(machines, "desktop")).trajectory is not None
    assert bridge.leased == {"browser": 1, "desktop": 3}
    assert bridge.held == 0


async def test_a_machine_on_which_an_attempt_failed_is_not_used_again(bridge: Bridge) -> None:
    def fails(machine: Machine) -> ExpertPolicy:
        raise RuntimeError("a policy that cannot be made")

    async with MachineReuse(cast(BridgeClient, bridge)) as machines:
        bridge.broken = True
        assert (await attempt(machines, "browser")).trajectory is None
        bridge.broken = False
        with pytest.raises(RuntimeError):
            await attempt(machines, "browser", fails)
        await attempt(machines, "browser")
        assert bridge.leased == {"browser": 3}
    assert bridge.held == 0


async def test_a_machine_that_nobody_takes_or_that_was_kept_for_long_is_given_back(
    bridge: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_reuse, "IDLE_SECONDS", 0.01)
    async with MachineReuse(cast(BridgeClient, bridge)) as machines:
        await attempt(machines, "browser")
        await eventually(lambda: bridge.held == 0)
        monkeypatch.setattr(machine_reuse, "KEPT_SECONDS", 0.0)
        await attempt(machines, "browser")
        await eventually(lambda: bridge.held == 0)
        await attempt(machines, "browser")
        assert bridge.leased == {"browser": 3}
