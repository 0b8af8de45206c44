"""One attempt of a policy at a task, without a person: its own machine, its episode, its trajectory."""

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from agent_backend.episode.commands import count_invalid_replies, current_page
from agent_backend.episode.in_memory_store import InMemoryEpisodeStore
from agent_backend.episode.limits import RunnerLimits
from agent_backend.episode.unattended import MAX_INVALID_REPLIES, run_unattended
from agent_backend.episode.unattended_secrets import fill_task_secrets, without_secrets
from agent_backend.interfaces import Policy
from agent_backend.rollout.verifier_checks import judge_again
from protocol.actions.types import FINAL_ACTIONS
from protocol.blobs import BlobRef
from protocol.harbor.task_folders import HARBOR
from protocol.messages.events import EpisodeState
from protocol.trajectory.sealing import without_sealed_text
from protocol.trajectory.steps import step_policies
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, BridgeUnavailable, VerifierFailed
from vm_bridge.machine import Lease, Machine

PolicyFactory = Callable[[Machine], Policy]
"""Makes the policy for an episode on this machine."""


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of an attempt: its trajectory with its pictures by sha256, or why its machine or verifier failed."""

    trajectory: Trajectory | None
    error: str
    blobs: Mapping[str, bytes]
    code: str = "machine_failed"
    """Stable error code if there is no trajectory."""

    def blob(self, ref: BlobRef) -> bytes | None:
        """The bytes of a picture; None if they were not kept."""
        return self.blobs.get(ref.sha256)


AttemptRunner = Callable[[Task], Awaitable[AttemptResult]]
"""Attempts a task, in this process or on another node. Raises what `run_attempt` raises."""
LEASE_SECONDS, RENEWALS_PER_LEASE = 60.0, 3
"""Lease duration without a renewal (seconds), and the number of renewals in that time."""
MACHINE_WAIT_SECONDS = 120.0
"""How long an attempt waits for a free machine (seconds)."""
BRIDGE_USER = "rollout"
"""User name for the bridge's fair queue: all rollouts together count as one user."""


@asynccontextmanager
async def leased_machine(
    bridge: BridgeClient,
    image: str,
    session: str,
    *,
    holder: str = BRIDGE_USER,
    wait: float = MACHINE_WAIT_SECONDS,
) -> AsyncIterator[Machine]:
    """Lease a machine while the block runs. Raises BridgeError if none is free after `wait` seconds."""
    lease = await bridge.allocate(
        image=image,
        holder=f"{holder}:{session}",
        user=holder,
        session=session,
        ttl=LEASE_SECONDS,
        wait=wait,
    )
    renewal = asyncio.create_task(renew_lease(bridge, lease))
    try:
        yield bridge.machine(lease)
    finally:
        renewal.cancel()
        with contextlib.suppress(BridgeError):
            await bridge.release(lease)


async def renew_lease(bridge: BridgeClient, lease: Lease) -> None:
    """Renew a lease until the bridge refuses; the machine's own calls then report that the lease ended. If the bridge
    does not answer, the renewal is retried before the lease expires."""
    while True:
        await asyncio.sleep(LEASE_SECONDS / RENEWALS_PER_LEASE)
        try:
            lease = await bridge.renew(lease, ttl=LEASE_SECONDS)
        except BridgeUnavailable:
            continue
        except BridgeError:
            return


async def run_attempt(
    bridge: BridgeClient, image: str, task: Task, policy_factory: PolicyFactory, limits: RunnerLimits
) -> AttemptResult:
    """Run one episode from a fresh machine to its verdict. Raises BridgeError if no machine is available,
    PolicyUnavailable if the policy's server does not recover."""
    name = uuid.uuid4().hex
    async with leased_machine(bridge, image, name) as machine:
        return await run_episode(machine, task, policy_factory(machine), limits, name=name)


async def run_episode(
    machine: Machine, task: Task, policy: Policy, limits: RunnerLimits, *, name: str = ""
) -> AttemptResult:
    """Run one episode on a leased machine. Raises PolicyUnavailable if the policy's server does not recover."""
    start = EpisodeState(
        id=name or uuid.uuid4().hex,
        version=0,
        status="warming",
        task=task,
        pool="rollout",
        thought_required=False,  # only people must write thoughts
        created_at=datetime.now(UTC),
    )

    async def open_machine(state: EpisodeState) -> Machine:
        return without_secrets(machine)

    store = await run_unattended(start, open_machine, lambda: policy, limits)
    if store.state.status != "finished":
        page = current_page(store.state)
        if page is not None and page.verifier_error is not None:
            return AttemptResult(None, page.verifier_error, {}, VerifierFailed.code)
        return AttemptResult(None, store.state.error, {})
    verdict, trajectory = store.state.verdict, build_trajectory(store)
    if verdict is not None and verdict.error:
        judged = None
        if verdict.error == VerifierFailed.code and HARBOR in task.parameters:  # writable by the policy
            judged = await judge_again(machine, without_sealed_text(fill_task_secrets(task)), store.state.answer)
        if judged is None:
            return AttemptResult(None, verdict.reason, {}, verdict.error)
        outcome = "success" if judged.success else "failure"
        trajectory = trajectory.model_copy(update={"verdict": judged, "outcome": outcome})
    return AttemptResult(trajectory, "", store.blobs)


def build_trajectory(store: InMemoryEpisodeStore) -> Trajectory:
    """The trajectory of a finished attempt.

    It is terminated if the policy finished it, if the page ended by itself, or after too many replies without a valid
    action. Every step counts as the policy's own decision, also a finish that the unattended runner had to accept.
    """
    state = store.state
    steps = tuple(step.model_copy(update={"actor": "policy", "decision": "auto"}) for step in state.steps)
    page = current_page(state)
    ended = (page is not None and page.done) or count_invalid_replies(state) >= MAX_INVALID_REPLIES
    terminated = bool(steps) and (isinstance(steps[-1].action, FINAL_ACTIONS) or ended)
    return Trajectory(
        id=state.id,
        task=state.task,
        origin="rollout",
        capabilities=state.capabilities,
        tools=state.tools,
        steps=steps,
        policies=step_policies(steps),
        memories=state.memories,
        proposals=tuple(store.offered.get(step.index, ()) for step in steps),
        outcome=state.outcome,
        answer=state.answer,
        verdict=state.verdict,
        terminated=terminated,
        truncated=not terminated,
        created_at=state.created_at,
        finished_at=state.finished_at,
    )
