"""One attempt of a policy at a task, without a person: its own machine, its episode, its trajectory."""

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from agent_backend.limits import Limits
from agent_backend.memory_store import MemoryStore
from agent_backend.pilot import LAPSES, fly
from agent_backend.ports import Policy
from agent_backend.refusals import lapses, page_of
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, BridgeUnavailable
from vm_bridge.machine import Lease, Machine
from vocabulary.actions import ENDS
from vocabulary.blobs import BlobRef
from vocabulary.messages import EpisodeState
from vocabulary.steps import policies_of
from vocabulary.tasks import Task
from vocabulary.trajectories import Trajectory

PolicyOn = Callable[[Machine], Policy]
"""Who proposes in the episode of this machine."""


@dataclass(frozen=True, slots=True)
class Attempted:
    """What came of an attempt: its trajectory with its pictures by sha256, or why its machine failed."""

    trajectory: Trajectory | None
    error: str
    blobs: Mapping[str, bytes]

    def blob(self, ref: BlobRef) -> bytes | None:
        """The bytes of a picture, where they were kept."""
        return self.blobs.get(ref.sha256)


AttemptOn = Callable[[Task], Awaitable[Attempted]]
"""Attempts a task, here or elsewhere. Raises what `attempt` raises."""
LEASE_SECONDS, RENEWALS = 60.0, 3
"""How long a lease is without being renewed, and how often it is within that."""
MACHINE_WAIT = 120.0
"""How long an attempt waits for a free machine (seconds)."""
USER = "rollout"
"""Whom the bridge's queue is fair to: all rollouts together count as one."""


@asynccontextmanager
async def leased(bridge: BridgeClient, image: str, session: str) -> AsyncIterator[Machine]:
    """A machine of our own while the block runs. Raises BridgeError when there is none."""
    lease = await bridge.allocate(
        image=image, holder=f"rollout:{session}", user=USER, session=session, ttl=LEASE_SECONDS, wait=MACHINE_WAIT
    )
    keeping = asyncio.create_task(keep(bridge, lease))
    try:
        yield bridge.machine(lease)
    finally:
        keeping.cancel()
        with contextlib.suppress(BridgeError):
            await bridge.release(lease)


async def keep(bridge: BridgeClient, lease: Lease) -> None:
    """Renew a lease until it ends; the machine's own calls then say that it did. A bridge that does not answer is asked
    again before the lease is over."""
    while True:
        await asyncio.sleep(LEASE_SECONDS / RENEWALS)
        try:
            lease = await bridge.renew(lease, ttl=LEASE_SECONDS)
        except BridgeUnavailable:
            continue
        except BridgeError:
            return


async def attempt(bridge: BridgeClient, image: str, task: Task, policy_on: PolicyOn, limits: Limits) -> Attempted:
    """One episode from a fresh machine to its verdict. Raises BridgeError when no machine can be had, PolicyUnavailable
    when the policy's server stays away."""
    name = uuid.uuid4().hex
    async with leased(bridge, image, name) as machine:
        return await flown(machine, task, policy_on(machine), limits, name=name)


async def flown(machine: Machine, task: Task, policy: Policy, limits: Limits, *, name: str = "") -> Attempted:
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
        return machine

    store = await fly(start, open_machine, lambda: policy, limits)
    if store.state.status != "finished":
        return Attempted(None, store.state.error, {})
    return Attempted(trajectory_of(store), "", store.blobs)


def trajectory_of(store: MemoryStore) -> Trajectory:
    """The finished attempt. It terminated when the policy itself said that it was done, when the page ended by itself,
    or when the policy said too often what is no action; every decision was the policy's own, its finish too, which the
    pilot had to accept."""
    state = store.state
    steps = tuple(step.model_copy(update={"actor": "policy", "decision": "auto"}) for step in state.steps)
    page = page_of(state)
    ended = (page is not None and page.done) or lapses(state) >= LAPSES
    terminated = bool(steps) and (isinstance(steps[-1].action, ENDS) or ended)
    return Trajectory(
        id=state.id,
        task=state.task,
        origin="rollout",
        capabilities=state.capabilities,
        tools=state.tools,
        steps=steps,
        policies=policies_of(steps),
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
