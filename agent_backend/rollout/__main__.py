"""Attempts at a suite, or at tasks of a file, into a folder; a command that was ended goes on when it is given again.

    python -m agent_backend.rollout --bridge http://127.0.0.1:8010 --suite games --seeds 8 --parallel 4 \\
        --model-url http://127.0.0.1:8091/v1 --model m --dialect ui_tars_1_5 --revision r1 --out rollouts/r1
    python -m agent_backend.rollout --bridge http://127.0.0.1:8010 --suite sites --expert --out demonstrations
    python -m agent_backend.rollout --bridge http://127.0.0.1:8010 --tasks tasks/ --max-steps 200 --expert --out solved
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import uvloop
from pydantic import JsonValue

from agent_backend.errors import AgentError
from agent_backend.rollout.attempt_log import AttemptLog, judgements_path, log_path
from agent_backend.rollout.attempts import AttemptRunner
from agent_backend.rollout.in_process import bridge_client, in_process_attempts
from agent_backend.rollout.options import add_options, add_reward_options, build_plan, check_options
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.progress import ProgressFile
from agent_backend.rollout.rewards import RewardDecider, open_judges, rewarded
from agent_backend.rollout.runner import RolloutRunner
from agent_backend.trajectory_folders import TrajectoryFolderWriter
from protocol.trajectory.export_folders import ExportManifest
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m agent_backend.rollout",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder to make; it must not exist")
    add_options(parser)
    add_reward_options(parser)
    arguments = parser.parse_args(argv)
    check_options(parser, arguments)
    return arguments


async def roll_out(arguments: argparse.Namespace, out: Path) -> ExportManifest:
    """Make the attempts and write the folder. Raises AgentError, BridgeError."""
    plan = build_plan(arguments)
    attempt_log = AttemptLog(log_path(out))
    filters: dict[str, JsonValue] = {"origin": "rollout", "plan": plan.record()}
    folder = TrajectoryFolderWriter(out, filters, on_existing=attempt_log.add_missing)
    progress = ProgressFile(out)
    async with AsyncExitStack() as stack:
        bridge = await stack.enter_async_context(bridge_client(arguments))
        attempt_runner = await stack.enter_async_context(_attempts(plan, arguments, bridge))
        decider = await stack.enter_async_context(
            aclosing(RewardDecider(open_judges(plan.judges, os.environ), judgements_path(out)))
        )
        runner = RolloutRunner(
            plan,
            bridge,
            rewarded(attempt_runner, decider),
            folder,
            lambda line: print(line, flush=True),
            attempt_log,
            progress,
        )
        await runner.run(arguments.parallel)
    lost: list[JsonValue] = [task.id for task in runner.lost]
    return folder.finish(at=datetime.now(UTC), lost=lost, infrastructure=attempt_log.infrastructure)


def _attempts(
    plan: RolloutPlan, arguments: argparse.Namespace, bridge: BridgeClient
) -> AbstractAsyncContextManager[AttemptRunner]:
    """Attempts here, or as tasks of a Ray cluster where one is named. Raises ClusterUnavailable."""
    if not arguments.ray:
        return in_process_attempts(plan, arguments, bridge)
    from agent_backend.rollout.ray_cluster import ray_attempts  # Ray is no package of the platform's

    return nullcontext(ray_attempts(plan, arguments))


def main(argv: Sequence[str] | None = None) -> int:
    """Roll out and say what came of it. Returns 1 where it could not be done; what was done is kept for the next
    time."""
    arguments = parse_arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # who cancels it: machines are given back
    try:
        manifest = uvloop.run(roll_out(arguments, arguments.out))
    except (AgentError, BridgeError) as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("ended; the same command goes on from here", file=sys.stderr)
        return 130
    lost = manifest.filters["lost"]
    failed = manifest.filters["infrastructure"]
    left_out = f", {len(lost)} left out" if isinstance(lost, list) and lost else ""
    left_out += f"; {failed} attempts lost to infrastructure" if failed else ""
    counts = manifest.counts
    print(f"{counts.trajectories} trajectories, {counts.steps} steps in {arguments.out}{left_out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
