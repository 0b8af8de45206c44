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
"""Who proposes in the episode of this machine."""


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of an attempt: its trajectory with its pictures by sha256, or why its machine or verifier failed."""

    trajectory: Trajectory | None
    error: str
    blobs: Mapping[str, bytes]
    code: str = "machine_failed"
    """Why there is no trajectory, as a stable word."""

    def blob(self, ref: BlobRef) -> bytes | None:
        """The bytes of a picture, where they were kept."""
        return self.blobs.get(ref.sha256)


AttemptRunner = Callable[[Task], Awaitable[AttemptResult]]
"""Attempts a task, here or elsewhere. Raises what `attempt` raises."""
LEASE_SECONDS, RENEWALS_PER_LEASE = 60.0, 3
"""How long a lease is without being renewed, and how often it is within that."""
MACHINE_WAIT_SECONDS = 120.0
"""How long an attempt waits for a free machine (seconds)."""
BRIDGE_USER = "rollout"
"""Whom the bridge's queue is fair to: all rollouts together count as one."""


@asynccontextmanager
async def leased_machine(
    bridge: BridgeClient,
    image: str,
    session: str,
    *,
    holder: str = BRIDGE_USER,
    wait: float = MACHINE_WAIT_SECONDS,
) -> AsyncIterator[Machine]:
    """A machine of our own while the block runs. Raises BridgeError when there is none after `wait` seconds."""
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
    """Renew a lease until it ends; the machine's own calls then say that it did. A bridge that does not answer is asked
    again before the lease is over."""
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
    """One episode from a fresh machine to its verdict. Raises BridgeError when no machine can be had, PolicyUnavailable
    when the policy's server stays away."""
    name = uuid.uuid4().hex
    async with leased_machine(bridge, image, name) as machine:
        return await run_episode(machine, task, policy_factory(machine), limits, name=name)


async def run_episode(
    machine: Machine, task: Task, policy: Policy, limits: RunnerLimits, *, name: str = ""
) -> AttemptResult:
    """One episode on a machine that is there. Raises PolicyUnavailable when the policy's server stays away."""
    start = EpisodeState(
        id=name or uuid.uuid4().hex,
        version=0,
        status="warming",
        task=task,
        pool="rollout",
        thought_required=False,  # a person is asked for one, a policy says what it says
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
        if verdict.error == VerifierFailed.code and HARBOR in task.parameters:  # what judges lay where the policy acted
            judged = await judge_again(machine, without_sealed_text(fill_task_secrets(task)), store.state.answer)
        if judged is None:
            return AttemptResult(None, verdict.reason, {}, verdict.error)
        outcome = "success" if judged.success else "failure"
        trajectory = trajectory.model_copy(update={"verdict": judged, "outcome": outcome})
    return AttemptResult(trajectory, "", store.blobs)


def build_trajectory(store: InMemoryEpisodeStore) -> Trajectory:
    """The finished attempt. It terminated when the policy itself said that it was done, when the page ended by itself,
    or when the policy said too often what is no action; every decision was the policy's own, its finish too, which the
    pilot had to accept."""
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
