"""Attempts in this process, with a bridge and a policy. Both are closed at the end."""

import argparse
import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_backend.episode.limits import RunnerLimits
from agent_backend.rollout.attempts import AttemptResult, AttemptRunner
from agent_backend.rollout.harness import described, harness_factory
from agent_backend.rollout.machine_reuse import MachineReuse
from agent_backend.rollout.options import policy_factory_of
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.telemetry.tracer import flush_spans
from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.host_keys import read_master_key


def bridge_client(arguments: argparse.Namespace) -> BridgeClient:
    """The bridge that the command line names."""
    return BridgeClient(arguments.bridge, read_master_key(os.environ))


@asynccontextmanager
async def in_process_attempts(
    plan: RolloutPlan, arguments: argparse.Namespace, bridge: BridgeClient
) -> AsyncIterator[AttemptRunner]:
    """Attempts by the policy that the command line names."""
    policy_factory, policy = policy_factory_of(arguments)
    if plan.harness is not None:
        policy_factory = harness_factory(policy_factory, plan.harness)

    async def attempt_runner(task: Task) -> AttemptResult:
        task = task if plan.harness is None else described(task)
        return await machines.run_attempt(plan.image_of(task), task, policy_factory, RunnerLimits())

    machines = MachineReuse(bridge)
    try:
        async with machines:
            yield attempt_runner
    finally:
        if policy is not None:
            await policy.aclose()
        await asyncio.to_thread(flush_spans)
