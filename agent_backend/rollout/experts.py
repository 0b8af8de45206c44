"""What the scripted experts of a browser's suite do, as a folder of trajectories, made in this process and without a
bridge.

    python -m agent_backend.rollout.experts --suite miniwob --task click-button --task enter-text --size 160x210 \\
        --first-seed 20000 --seeds 80 --parallel 12 --out runs/attempts

Every attempt has a page of its own; one of MiniWoB++ is asked for in the page's own words, whichever seeds were noted.
"""

import argparse
import asyncio
import sys
import tempfile
import uuid
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import JsonValue

from agent_backend.errors import AgentError
from agent_backend.folders import FolderWriter
from agent_backend.rollout.options import EXPERT, size_read
from vm_bridge.errors import BridgeError
from vm_bridge.hosts.browser.host import IMAGE, BrowserHost, BrowserSandbox
from vm_bridge.suites.miniwob import MiniWob, read_instruction
from vm_bridge.suites.parts import read_parts
from vm_bridge.suites.registry import WEB_SUITES
from vocabulary.blobs import BlobRef
from vocabulary.exports import Manifest
from vocabulary.observations import Observation
from vocabulary.proposals import PolicyRef
from vocabulary.steps import Step
from vocabulary.tasks import Task
from vocabulary.trajectories import Trajectory

MOST = 40
"""Acts an attempt may have at most, where its task allows as many."""
REF = PolicyRef(name=EXPERT, revision=EXPERT, dialect="ui_tars_1_5", scripted=True)


async def attempt(
    sandbox: BrowserSandbox, task: Task, *, parts: bool = False
) -> tuple[Trajectory, Mapping[BlobRef, bytes]]:
    """One attempt of the expert, and its pictures; with `parts`, what stands where on each screen that is decided on.
    Raises BridgeError."""
    view, begun, steps, pictures = sandbox.bind(1), datetime.now(UTC), list[Step](), dict[BlobRef, bytes]()

    async def kept(seen: Observation) -> Observation:
        if seen.screenshot is not None:
            pictures[seen.screenshot] = await view.blob(seen.screenshot)
        return seen

    seen = await kept(await view.prepare(task))
    told = task
    if isinstance(WEB_SUITES[task.suite or ""], MiniWob):
        told = task.model_copy(update={"instruction": await sandbox.browser.read(1, read_instruction)})
    while (
        len(steps) < min(task.max_steps, MOST)
        and not _over(seen)
        and (advice := await view.suggest_expert_action()) is not None
    ):
        command = uuid.uuid4().hex
        if parts:
            seen = seen.model_copy(update={"accessibility": await sandbox.browser.read(1, read_parts)})
        done = await view.perform(command, advice.action)
        step = Step(
            index=len(steps),
            command_id=command,
            actor="policy",
            decision="auto",
            thought=advice.thought,
            action=advice.action,
            before=seen,
            after=await kept(done.after),
            error=done.error,
            policy=REF,
            started_at=done.started_at,
            ended_at=done.ended_at,
        )
        steps.append(step)
        seen = done.after
    verdict, over = await view.evaluate(), _over(seen)
    trajectory = Trajectory(
        id=uuid.uuid4().hex,
        task=told,
        origin="rollout",
        capabilities=view.capabilities.kinds,
        steps=tuple(steps),
        proposals=((),) * len(steps),
        policies=(REF,),
        outcome="success" if verdict.success else "failure",
        verdict=verdict,
        terminated=over,
        truncated=not over,
        created_at=begun,
        finished_at=datetime.now(UTC),
    )
    return trajectory, pictures


def _over(seen: Observation) -> bool:
    return seen.page is not None and seen.page.over


async def attempted(given: argparse.Namespace) -> Manifest:
    """Every attempt that is not in the folder, so many at a time; a task whose page fails is left out. Raises
    AgentError, BridgeError."""
    plan = {"suite": given.suite, "tasks": given.task, "first": given.first_seed, "seeds": given.seeds}
    form = ({"level": given.level} if given.level > 1 else {}) | ({"parts": True} if given.parts else {})
    folder = FolderWriter(given.out, {"origin": "rollout", "policy": EXPERT, **plan, **form, "size": list(given.size)})
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    suite = WEB_SUITES[given.suite]
    tasks = [suite.make(name, seed=seed, level=given.level, size=given.size) for seed in seeds for name in given.task]
    done = {task.id for task in folder.kept.values()}
    todo, lost = deque(task for task in tasks if task.id not in done), list[JsonValue]()

    async def work(sandbox: BrowserSandbox) -> None:
        while todo:
            task = todo.popleft()
            try:
                trajectory, pictures = await attempt(sandbox, task, parts=given.parts)
            except BridgeError as error:
                lost.append(task.id)
                print(f"{task.id} is left out: {error}", file=sys.stderr, flush=True)
                continue
            folder.add(trajectory, pictures.get)

    with tempfile.TemporaryDirectory(prefix="pilothouse-experts-") as data:
        host = BrowserHost(Path(data), WEB_SUITES)
        try:
            made = [await host.create(IMAGE) for _ in range(given.parallel)]
            await asyncio.gather(*(work(one) for one in made if isinstance(one, BrowserSandbox)))
        finally:
            await host.close()
    return folder.finish(at=datetime.now(UTC), lost=lost)


def parsed(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m agent_backend.rollout.experts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--suite", choices=sorted(WEB_SUITES), default="miniwob", help="whose tasks")
    parser.add_argument("--task", action="append", required=True, help="which; may be given again")
    parser.add_argument("--size", type=size_read, default=(160, 210), help="of the screen, as 160x210")
    parser.add_argument("--level", type=int, default=1, help="of tasks that have levels")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=1, help="attempts at each task, with rising seeds")
    parser.add_argument("--parts", action="store_true", help="keep what stands where on the pages, to teach reading")
    parser.add_argument("--parallel", type=int, default=4, help="pages at a time")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make; it must not exist")
    arguments = parser.parse_args(given)
    if arguments.seeds < 1 or arguments.parallel < 1:
        parser.error("--seeds and --parallel are at least 1")
    return arguments


def main(given: Sequence[str] | None = None) -> int:
    """Make the attempts and say how many. Returns 1 where it could not be done; what was done is kept for the next
    time."""
    arguments = parsed(given)
    try:
        manifest = asyncio.run(attempted(arguments))
    except (AgentError, BridgeError) as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    print(f"{manifest.counts.trajectories} trajectories, {manifest.counts.steps} steps in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
