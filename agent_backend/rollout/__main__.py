"""Attempts at a suite into a folder; a command that was ended goes on when it is given again.

    python -m agent_backend.rollout --bridge http://127.0.0.1:8010 --suite games --seeds 8 --parallel 4 \\
        --model-url http://127.0.0.1:8091/v1 --model m --dialect ui_tars_1_5 --revision r1 --out rollouts/r1
    python -m agent_backend.rollout --bridge http://127.0.0.1:8010 --suite sites --expert --out demonstrations
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from datetime import UTC, datetime
from pathlib import Path

from agent_backend.errors import AgentError
from agent_backend.folders import FolderWriter
from agent_backend.rollout.attempt import AttemptOn
from agent_backend.rollout.local import attempting, bridge_of
from agent_backend.rollout.options import options_add, options_check, plan_of
from agent_backend.rollout.plan import Plan
from agent_backend.rollout.work import Work
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError
from vocabulary.exports import Manifest


def parsed(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m agent_backend.rollout",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder to make; it must not exist")
    options_add(parser)
    arguments = parser.parse_args(given)
    options_check(parser, arguments)
    return arguments


async def rolled_out(arguments: argparse.Namespace, out: Path) -> Manifest:
    """Make the attempts and write the folder. Raises AgentError, BridgeError."""
    plan = plan_of(arguments)
    folder = FolderWriter(out, {"origin": "rollout", "plan": plan.model_dump(mode="json")})
    async with AsyncExitStack() as stack:
        bridge = await stack.enter_async_context(bridge_of(arguments))
        attempt_on = await stack.enter_async_context(_attempting(plan, arguments, bridge))
        work = Work(plan, bridge, attempt_on, folder, lambda line: print(line, flush=True))
        await work.run(arguments.parallel)
    return folder.finish(at=datetime.now(UTC), lost=[task.id for task in work.lost])


def _attempting(
    plan: Plan, arguments: argparse.Namespace, bridge: BridgeClient
) -> AbstractAsyncContextManager[AttemptOn]:
    """Attempts here, or as tasks of a Ray cluster where one is named. Raises NoCluster."""
    if not arguments.ray:
        return attempting(plan, arguments, bridge)
    from agent_backend.rollout.tasks import tasks_on  # Ray is no package of the platform's

    return nullcontext(tasks_on(plan, arguments))


def main(given: Sequence[str] | None = None) -> int:
    """Roll out and say what came of it. Returns 1 where it could not be done; what was done is kept for the next
    time."""
    arguments = parsed(given)
    try:
        manifest = asyncio.run(rolled_out(arguments, arguments.out))
    except (AgentError, BridgeError) as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("ended; the same command goes on from here", file=sys.stderr)
        return 130
    lost = manifest.filters["lost"]
    left_out = f", {len(lost)} left out" if isinstance(lost, list) and lost else ""
    counts = manifest.counts
    print(f"{counts.trajectories} trajectories, {counts.steps} steps in {arguments.out}{left_out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
