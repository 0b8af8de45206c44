"""Make attempts at a suite, or at tasks of a file, into a folder. Repeat a stopped command to resume it.

    python -m agent_backend.rollout --bridge http://127.0.0.1:8010 --suite games --seeds 8 --parallel 4 \\
        --model-url http://127.0.0.1:8091/v1 --model m --dialect ui_tars_1_5 --revision r1 --out rollouts/r1
    python -m agent_backend.rollout --bridge http://127.0.0.1:8010 --suite sites --expert --out demonstrations
    python -m agent_backend.rollout --bridge http://127.0.0.1:8010 --tasks tasks/ --max-steps 200 --expert --out solved

With `--stream RUN` it makes attempts for a trainer: `--out` is the trainer's inbox, each attempt is a folder in it, and
the model server gets the newest weights of RUN before each attempt.
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import os
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import uvloop
from pydantic import JsonValue

from agent_backend.errors import AgentError
from agent_backend.policy.reload import ModelServerClient
from agent_backend.rollout.attempt_log import AttemptLog, judgements_path, log_path
from agent_backend.rollout.attempts import AttemptRunner
from agent_backend.rollout.in_process import bridge_client, in_process_attempts
from agent_backend.rollout.options import (
    add_options,
    add_reward_options,
    add_stream_options,
    build_plan,
    check_options,
)
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.progress import ProgressFile
from agent_backend.rollout.rewards import RewardDecider, open_judges, rewarded
from agent_backend.rollout.runner import RolloutRunner
from agent_backend.rollout.streaming import AttemptStream, NewestWeights, stream_plan
from agent_backend.rollout.task_sources import check_publishable, choose_tasks, open_source
from agent_backend.trajectory_folders import TrajectoryFolderWriter
from protocol.base import JsonObject
from protocol.trajectory.export_folders import ExportManifest
from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError

RELOAD_TIMEOUT_SECONDS = 600.0
"""Timeout of one request of a weight reload (seconds). It may wait for running replies or read many gigabytes."""


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m agent_backend.rollout",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, help="the folder to make; it must not exist")
    add_options(parser)
    add_stream_options(parser)
    add_reward_options(parser)
    arguments = parser.parse_args(argv)
    check_options(parser, arguments)
    return arguments


async def roll_out(arguments: argparse.Namespace, out: Path, since: datetime | None = None) -> ExportManifest:
    """Make the attempts and write the folder. `since` is when the command began. Raises AgentError, BridgeError."""
    since = since or datetime.now(UTC)
    plan = build_plan(arguments)
    attempt_log = AttemptLog(log_path(out))
    folder = TrajectoryFolderWriter(out, _filters(plan), on_existing=attempt_log.add_missing)
    async with _opened(plan, arguments, out) as (bridge, attempt_runner):
        runner = RolloutRunner(
            attempt_runner=attempt_runner,
            attempt_log=attempt_log,
            log=_say,
            plan=plan,
            bridge=bridge,
            folder=folder,
            progress=ProgressFile(out, since),
        )
        await runner.run(arguments.parallel)
    lost: list[JsonValue] = [task.id for task in runner.lost]
    return folder.finish(at=datetime.now(UTC), lost=lost, infrastructure=attempt_log.infrastructure)


async def stream(arguments: argparse.Namespace, inbox: Path) -> None:
    """Make attempts for a trainer until it has learned its last update. Raises AgentError, BridgeError."""
    plan = build_plan(arguments)
    key = os.environ.get("PILOTHOUSE_POLICY_API_KEY", "")
    server = ModelServerClient(arguments.model_url, api_key=key, within=RELOAD_TIMEOUT_SECONDS)
    async with aclosing(server), _opened(plan, arguments, inbox) as (bridge, attempt_runner):
        source = open_source(plan, bridge)

        async def page(seed: int) -> tuple[Task, ...]:
            tasks = choose_tasks(plan, await source.tasks(seed))
            check_publishable(tasks)
            return tasks

        await AttemptStream(
            attempt_runner=attempt_runner,
            attempt_log=AttemptLog(log_path(inbox)),
            log=_say,
            plan=stream_plan(arguments),
            pages=page,
            weights=NewestWeights(arguments.stream, server),
            filters=_filters(plan),
        ).run(arguments.parallel)


def _filters(plan: RolloutPlan) -> JsonObject:
    return {"origin": "rollout", "plan": plan.record()}


def _say(line: str) -> None:
    print(line, flush=True)


@asynccontextmanager
async def _opened(
    plan: RolloutPlan, arguments: argparse.Namespace, out: Path
) -> AsyncIterator[tuple[BridgeClient, AttemptRunner]]:
    """The bridge, and the runner that makes attempts and decides their rewards."""
    async with AsyncExitStack() as stack:
        bridge = await stack.enter_async_context(bridge_client(arguments))
        attempt_runner = await stack.enter_async_context(_attempts(plan, arguments, bridge))
        decider = await stack.enter_async_context(
            aclosing(RewardDecider(open_judges(plan.judges, os.environ), judgements_path(out)))
        )
        yield bridge, rewarded(attempt_runner, decider)


def _attempts(
    plan: RolloutPlan, arguments: argparse.Namespace, bridge: BridgeClient
) -> AbstractAsyncContextManager[AttemptRunner]:
    """Attempts in this process, or as tasks of a Ray cluster if `--ray` names one. Raises ClusterUnavailable."""
    if not arguments.ray:
        return in_process_attempts(plan, arguments, bridge)
    from agent_backend.rollout.ray_cluster import ray_attempts  # Ray is not a dependency of the platform

    return nullcontext(ray_attempts(plan, arguments))


def main(argv: Sequence[str] | None = None) -> int:
    """Make the attempts and print the result. Returns 1 after an error. The next call reuses finished attempts."""
    arguments = parse_arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # cancellation releases the machines
    try:
        if arguments.stream:
            uvloop.run(stream(arguments, arguments.out))
            return 0
        manifest = uvloop.run(roll_out(arguments, arguments.out))
    except (AgentError, BridgeError) as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command resumes from here", file=sys.stderr)
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
