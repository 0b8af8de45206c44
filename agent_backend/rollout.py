"""Attempts of a policy at bundled tasks without a person: the same runner, its trajectories in a folder.

    python -m agent_backend.rollout --bridge http://127.0.0.1:8010 --suite desktop \\
        --model-url http://127.0.0.1:8091/v1 --model scripted --scripted \\
        --dialect ui_tars_1_5 --revision s1 --out rollouts/s1

The bridge's shared secret is read from PILOTHOUSE_SECRET, the model's key from PILOTHOUSE_POLICY_API_KEY.
"""

import argparse
import asyncio
import contextlib
import hashlib
import os
import shutil
import sys
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pydantic import SecretStr

from agent_backend.memory_store import MemoryStore
from agent_backend.pilot import fly
from agent_backend.policy.openai import Endpoint, OpenAIPolicy, Sampling
from agent_backend.ports import Policy
from agent_backend.refusals import page_of
from agent_backend.runner import Limits
from vm_bridge.client import BridgeClient
from vm_bridge.errors import BridgeError
from vm_bridge.machine import Lease, Machine
from vocabulary.actions import Finish
from vocabulary.exports import (
    IMAGES,
    MANIFEST,
    TRAJECTORIES,
    UNFINISHED,
    Counts,
    ExportedFile,
    Manifest,
    files_of,
    image_path,
    images_in,
    pictures_of,
    prompts_of,
)
from vocabulary.messages import EpisodeState
from vocabulary.steps import policies_of
from vocabulary.tasks import Task
from vocabulary.trajectories import Trajectory

LEASE_SECONDS = 60.0
MACHINE_WAIT = 120.0
"""How long an attempt waits for a free machine (seconds)."""
USER = "rollout"
"""Whom the bridge's queue is fair to: all rollouts together count as one."""


def trajectory_of(store: MemoryStore) -> Trajectory:
    """The finished attempt. It terminated when the policy itself said that it was done, or the page ended by itself;
    every decision was the policy's own, its finish too, which the pilot had to accept."""
    state = store.state
    steps = tuple(step.model_copy(update={"actor": "policy", "decision": "auto"}) for step in state.steps)
    page = page_of(state)
    terminated = bool(steps) and (isinstance(steps[-1].action, Finish) or (page is not None and page.done))
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


@dataclass(slots=True)
class Folder:
    """A folder of trajectories on its way: written aside, renamed when it is whole."""

    target: Path
    lines: list[bytes] = field(default_factory=list)
    images: dict[str, ExportedFile] = field(default_factory=dict)
    steps: int = 0

    @property
    def aside(self) -> Path:
        """Where it is written."""
        return self.target.with_name(self.target.name + UNFINISHED)

    def begin(self) -> None:
        """Start afresh. Raises FileExistsError when the target is there already."""
        if self.target.exists():
            raise FileExistsError(f"{self.target} exists")
        shutil.rmtree(self.aside, ignore_errors=True)
        (self.aside / IMAGES).mkdir(parents=True)

    def add(self, trajectory: Trajectory, blobs: dict[str, bytes]) -> None:
        """Take one trajectory with its pictures."""
        kept = (ref for ref in (*files_of(trajectory), *prompts_of(trajectory)) if ref.sha256 in blobs)
        for ref in (*pictures_of(trajectory), *kept):
            path = image_path(ref)
            if path not in self.images:
                (self.aside / path).write_bytes(blobs[ref.sha256])
                self.images[path] = ExportedFile(path=path, sha256=ref.sha256, size=ref.size)
        self.lines.append(trajectory.model_dump_json().encode() + b"\n")
        self.steps += len(trajectory.steps)

    def finish(self) -> Manifest:
        """Write the list of all and give the folder its name."""
        body = b"".join(self.lines)
        (self.aside / TRAJECTORIES).write_bytes(body)
        listed = ExportedFile(path=TRAJECTORIES, sha256=hashlib.sha256(body).hexdigest(), size=len(body))
        manifest = Manifest(
            created_at=datetime.now(UTC),
            filters={"origin": "rollout"},
            counts=Counts(trajectories=len(self.lines), steps=self.steps, images=images_in(self.images)),
            files=(listed, *(self.images[path] for path in sorted(self.images))),
        )
        (self.aside / MANIFEST).write_text(manifest.model_dump_json(indent=1))
        self.aside.rename(self.target)
        return manifest


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
    """Renew a lease until it ends; the machine's own calls then say that it did."""
    with contextlib.suppress(BridgeError):
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            lease = await bridge.renew(lease, ttl=LEASE_SECONDS)


async def attempt(bridge: BridgeClient, image: str, task: Task, policy: Policy, limits: Limits) -> MemoryStore:
    """One episode from a fresh machine to its verdict. Raises BridgeError when no machine can be had."""
    start = EpisodeState(
        id=uuid.uuid4().hex, version=0, status="warming", task=task, pool="rollout", created_at=datetime.now(UTC)
    )
    async with leased(bridge, image, start.id) as machine:

        async def open_machine(state: EpisodeState) -> Machine:
            return machine

        return await fly(start, open_machine, lambda: policy, limits)


async def roll_out(arguments: argparse.Namespace, policy: Policy, folder: Folder, limits: Limits) -> None:
    """Every task `repeat` times with rising seeds, `parallel` at a time; attempts whose machine failed are left out."""
    async with BridgeClient(arguments.bridge, os.environ.get("PILOTHOUSE_SECRET", "")) as bridge:
        tasks = await bridge.suite_tasks(arguments.suite)
        chosen = [task for task in tasks if not arguments.task or task.name in arguments.task]
        todo = [
            task.model_copy(update={"seed": task.seed + turn}) for turn in range(arguments.repeat) for task in chosen
        ]
        waiting = iter(todo)

        async def work() -> None:
            for task in waiting:
                store = await attempt(bridge, arguments.image, task, policy, limits)
                if store.state.status == "finished":
                    folder.add(trajectory_of(store), store.blobs)
                report(store.state)

        async with asyncio.TaskGroup() as workers:
            for _ in range(min(arguments.parallel, len(todo))):
                workers.create_task(work())


def report(state: EpisodeState) -> None:
    """One line of progress."""
    said = state.error or (f"verdict {state.verdict.success}" if state.verdict else "no verdict")
    print(f"{state.task.name} seed {state.task.seed}: {len(state.steps)} steps, {state.outcome}, {said}", flush=True)


def parsed(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m agent_backend.rollout", description=__doc__.splitlines()[0])
    parser.add_argument("--bridge", required=True, help="the bridge's address")
    parser.add_argument("--suite", required=True, help="whose bundled tasks")
    parser.add_argument("--task", action="append", help="only this one; may be given again")
    parser.add_argument("--image", default="desktop", help="kind of machine")
    parser.add_argument("--model-url", required=True, help="an OpenAI-compatible server, with /v1")
    parser.add_argument("--model", required=True, help="the model's name there")
    parser.add_argument("--dialect", required=True, help="how it writes actions")
    parser.add_argument("--revision", required=True, help="the word for this very set of weights")
    parser.add_argument("--scripted", action="store_true", help="it answers from a script and is no model")
    parser.add_argument("--temperature", type=float, default=Sampling().temperature)
    parser.add_argument("--candidates", type=int, default=1, help="replies sampled at each step")
    parser.add_argument("--repeat", type=int, default=1, help="attempts at each task, with rising seeds")
    parser.add_argument("--parallel", type=int, default=1, help="machines at a time")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make; it must not exist")
    return parser.parse_args(given)


async def main(given: Sequence[str] | None = None) -> None:
    """Roll out and write the folder. Exits with 1 where nothing could be attempted."""
    arguments = parsed(given)
    policy = OpenAIPolicy(
        Endpoint(
            base_url=arguments.model_url,
            model=arguments.model,
            dialect=arguments.dialect,
            name=arguments.model,
            revision=arguments.revision,
            scripted=arguments.scripted,
            api_key=SecretStr(os.environ.get("PILOTHOUSE_POLICY_API_KEY", "")),
            sampling=Sampling(n=arguments.candidates, temperature=arguments.temperature),
        )
    )
    folder = Folder(arguments.out)
    folder.begin()
    try:
        await roll_out(arguments, policy, folder, Limits())
    except* BridgeError as errors:
        sys.exit(f"the bridge: {errors.exceptions[0]}")
    finally:
        await policy.aclose()
    manifest = folder.finish()
    print(f"{manifest.counts.trajectories} trajectories, {manifest.counts.steps} steps in {arguments.out}")


if __name__ == "__main__":
    asyncio.run(main())
