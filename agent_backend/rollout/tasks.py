"""Attempts as tasks of a Ray cluster: each on a node with room, its trajectory sent back here."""

import argparse
import asyncio

import ray
from ray.exceptions import RayError, RayTaskError

from agent_backend.errors import AgentError
from agent_backend.rollout.attempt import Attempted, AttemptOn
from agent_backend.rollout.local import attempting, bridge_of
from agent_backend.rollout.plan import Plan
from vm_bridge.errors import BridgeError
from vocabulary.tasks import Task


class NoCluster(AgentError):
    """There is no Ray cluster at that address."""

    code = "no_cluster"


def tasks_on(plan: Plan, given: argparse.Namespace) -> AttemptOn:
    """Attempts on the cluster that the command line names. Raises NoCluster."""
    try:
        ray.init(address=given.ray, log_to_driver=False, logging_level="warning")
    except (ConnectionError, RayError) as error:
        raise NoCluster(f"no Ray cluster at {given.ray}: {error}") from error
    # Ray repeats nothing: an attempt has a machine, and its tries are counted by who asks for it.
    far = ray.remote(attempt_far).options(num_cpus=given.ray_cpus, max_retries=0)

    async def attempt_on(task: Task) -> Attempted:
        try:
            done: Attempted = await far.remote(plan, given, task)
        except RayTaskError as error:
            if isinstance(error.cause, BridgeError | AgentError):
                raise error.cause from error
            raise
        except RayError as error:  # its process or its node died
            return Attempted(None, f"the task broke off: {str(error).splitlines()[0]}", {})
        return done

    return attempt_on


def attempt_far(plan: Plan, given: argparse.Namespace, task: Task) -> Attempted:
    """One attempt in a process of Ray's, with the secrets of its node."""

    async def alone() -> Attempted:
        async with bridge_of(given) as bridge, attempting(plan, given, bridge) as attempt_on:
            return await attempt_on(task)

    return asyncio.run(alone())
