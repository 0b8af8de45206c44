"""Attempts in this process: with a bridge and a policy, both closed in the end."""

import argparse
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agent_backend.limits import Limits
from agent_backend.rollout.attempt import Attempted, AttemptOn, attempt
from agent_backend.rollout.options import policy_of
from agent_backend.rollout.plan import Plan
from vm_bridge.api.client import BridgeClient
from vocabulary.tasks import Task


def bridge_of(given: argparse.Namespace) -> BridgeClient:
    """The bridge that the command line names."""
    return BridgeClient(given.bridge, os.environ.get("PILOTHOUSE_SECRET", ""))


@asynccontextmanager
async def attempting(plan: Plan, given: argparse.Namespace, bridge: BridgeClient) -> AsyncIterator[AttemptOn]:
    """Attempts by the policy that the command line names."""
    policy_on, policy = policy_of(given)

    async def attempt_on(task: Task) -> Attempted:
        return await attempt(bridge, plan.image_of(task), task, policy_on, Limits())

    try:
        yield attempt_on
    finally:
        if policy is not None:
            await policy.aclose()
