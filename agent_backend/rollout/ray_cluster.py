"""Runs attempts as tasks of a Ray cluster, each on a node with capacity. Trajectories are sent back to this process."""

import argparse
import asyncio

import ray
from ray.exceptions import RayError, RayTaskError

from agent_backend.errors import AgentError
from agent_backend.rollout.attempts import AttemptResult, AttemptRunner
from agent_backend.rollout.in_process import bridge_client, in_process_attempts
from agent_backend.rollout.plan import RolloutPlan
from protocol.trajectory.tasks import Task
from vm_bridge.errors import BridgeError


class ClusterUnavailable(AgentError):
    """There is no Ray cluster at that address."""

    code = "no_cluster"


def ray_attempts(plan: RolloutPlan, arguments: argparse.Namespace) -> AttemptRunner:
    """Attempts on the cluster that the command line names. Raises ClusterUnavailable."""
    try:
        ray.init(address=arguments.ray, log_to_driver=False, logging_level="warning")
    except (ConnectionError, RayError) as error:
        raise ClusterUnavailable(f"no Ray cluster at {arguments.ray}: {error}") from error
    # Ray must not retry: an attempt holds a machine, and the caller counts its tries.
    remote_attempt = ray.remote(run_remote_attempt).options(num_cpus=arguments.ray_cpus, max_retries=0)

    async def attempt_runner(task: Task) -> AttemptResult:
        try:
            result: AttemptResult = await remote_attempt.remote(plan, arguments, task)
        except RayTaskError as error:
            if isinstance(error.cause, BridgeError | AgentError):
                raise error.cause from error
            raise
        except RayError as error:  # its process or its node died
            return AttemptResult(None, f"the task broke off: {str(error).splitlines()[0]}", {})
        return result

    return attempt_runner


def run_remote_attempt(plan: RolloutPlan, arguments: argparse.Namespace, task: Task) -> AttemptResult:
    """One attempt in a process of Ray's, with the secrets of its node."""

    async def run() -> AttemptResult:
        async with bridge_client(arguments) as bridge, in_process_attempts(plan, arguments, bridge) as attempt_runner:
            return await attempt_runner(task)

    return asyncio.run(run())
