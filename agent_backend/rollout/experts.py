"""Records the scripted experts of a browser suite as a folder of trajectories. Runs in this process, without a bridge.

    python -m agent_backend.rollout.experts --suite miniwob --task click-button --task enter-text --size 160x210 \\
        --first-seed 20000 --seeds 80 --parallel 12 --out runs/attempts

Every attempt has its own page. A MiniWoB++ instruction is read from the page, not from stored seeds.
"""

import argparse
import asyncio
import sys
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue

from agent_backend.errors import AgentError
from agent_backend.rollout.options import EXPERT, parse_size
from agent_backend.trajectory_folders import TrajectoryFolderWriter
from protocol.blobs import BlobRef
from protocol.trajectory.export_folders import ExportManifest
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory
from vm_bridge.errors import BridgeError
from vm_bridge.local_browser import (
    FENCING_TOKEN,
    WEB_SUITES,
    BrowserSandbox,
    open_sandboxes,
    prepare_task,
    read_page_parts,
)

MAX_STEPS = 40
"""Maximum actions of an attempt; a lower limit of its task applies."""
EXPERT_REF = PolicyRef(name=EXPERT, revision=EXPERT, dialect="ui_tars_1_5", scripted=True)


async def run_expert_attempt(
    sandbox: BrowserSandbox, task: Task, *, parts: bool = False
) -> tuple[Trajectory, Mapping[BlobRef, bytes]]:
    """Make one attempt of the expert. Returns it with its pictures.

    Args:
        parts: Also record the positions of texts on each screen that the expert decides on.

    Raises:
        BridgeError
    """
    view, started_at, steps, pictures = (
        sandbox.bind(FENCING_TOKEN),
        datetime.now(UTC),
        list[Step](),
        dict[BlobRef, bytes](),
    )

    async def fetch_screenshot(observation: Observation) -> Observation:
        if observation.screenshot is not None:
            pictures[observation.screenshot] = await view.blob(observation.screenshot)
        return observation

    shown_task, observation = await prepare_task(sandbox, task)
    await fetch_screenshot(observation)
    while (
        len(steps) < min(task.max_steps, MAX_STEPS)
        and not _is_over(observation)
        and (suggestion := await view.suggest_expert_action()) is not None
    ):
        command = uuid.uuid4().hex
        if parts:
            observation = observation.model_copy(update={"accessibility": await read_page_parts(sandbox)})
        done = await view.perform(command, suggestion.action)
        step = Step(
            index=len(steps),
            command_id=command,
            actor="policy",
            decision="auto",
            thought=suggestion.thought,
            action=suggestion.action,
            before=observation,
            after=await fetch_screenshot(done.after),
            error=done.error,
            policy=EXPERT_REF,
            started_at=done.started_at,
            ended_at=done.ended_at,
        )
        steps.append(step)
        observation = done.after
    verdict, over = await view.evaluate(), _is_over(observation)
    trajectory = Trajectory(
        id=uuid.uuid4().hex,
        task=shown_task,
        origin="rollout",
        capabilities=view.capabilities.kinds,
        steps=tuple(steps),
        proposals=((),) * len(steps),
        policies=(EXPERT_REF,),
        outcome="success" if verdict.success else "failure",
        verdict=verdict,
        terminated=over,
        truncated=not over,
        created_at=started_at,
        finished_at=datetime.now(UTC),
    )
    return trajectory, pictures


def _is_over(observation: Observation) -> bool:
    return observation.page is not None and observation.page.over


async def record_attempts(options: argparse.Namespace) -> ExportManifest:
    """Make every attempt that is not in the folder, `options.parallel` at a time. A task whose page fails is left out.
    Raises AgentError, BridgeError."""
    plan = {"suite": options.suite, "tasks": options.task, "first": options.first_seed, "seeds": options.seeds}
    variant = ({"level": options.level} if options.level > 1 else {}) | ({"parts": True} if options.parts else {})
    folder = TrajectoryFolderWriter(
        options.out, {"origin": "rollout", "policy": EXPERT, **plan, **variant, "size": list(options.size)}
    )
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    suite = WEB_SUITES[options.suite]
    tasks = [
        suite.make(name, seed=seed, level=options.level, size=options.size) for seed in seeds for name in options.task
    ]
    done = {task.id for task in folder.tasks_by_id.values()}
    pending, lost = deque(task for task in tasks if task.id not in done), list[JsonValue]()

    async def work(sandbox: BrowserSandbox) -> None:
        while pending:
            task = pending.popleft()
            try:
                trajectory, pictures = await run_expert_attempt(sandbox, task, parts=options.parts)
            except BridgeError as error:
                lost.append(task.id)
                print(f"{task.id} is left out: {error}", file=sys.stderr, flush=True)
                continue
            folder.add(trajectory, pictures.get)

    async with open_sandboxes(options.parallel) as sandboxes:
        await asyncio.gather(*(work(one) for one in sandboxes))
    return folder.finish(at=datetime.now(UTC), lost=lost)


def parse_arguments(options: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m agent_backend.rollout.experts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--suite", choices=sorted(WEB_SUITES), default="miniwob", help="whose tasks")
    parser.add_argument("--task", action="append", required=True, help="which; may be given again")
    parser.add_argument("--size", type=parse_size, default=(160, 210), help="of the screen, as 160x210")
    parser.add_argument("--level", type=int, default=1, help="of tasks that have levels")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1, help="attempts at each task, with rising seeds")
    parser.add_argument("--parts", action="store_true", help="keep the places of texts on the pages, to train reading")
    parser.add_argument("--parallel", type=int, default=4, help="pages at a time")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make; it must not exist")
    arguments = parser.parse_args(options)
    if arguments.seeds < 1 or arguments.parallel < 1:
        parser.error("--seeds and --parallel are at least 1")
    return arguments


def main(options: Sequence[str] | None = None) -> int:
    """Make the attempts and print how many. Returns 1 after an error. The next call reuses finished attempts."""
    arguments = parse_arguments(options)
    try:
        manifest = asyncio.run(record_attempts(arguments))
    except (AgentError, BridgeError) as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    print(f"{manifest.counts.trajectories} trajectories, {manifest.counts.steps} steps in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
