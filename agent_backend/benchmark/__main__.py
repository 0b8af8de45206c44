"""A benchmark run: a policy's attempts at pinned tasks, in a folder with its manifest, replays and result.

    ./pilothouse benchmark games --policy expert
    ./pilothouse benchmark games --seeds 4 \\
        --model-url http://127.0.0.1:8091/v1 --model m --dialect ui_tars_1_5 --revision r1
    ./pilothouse benchmark lmgame --harness --model-url …    with a text description of the screen, and a memory
    ./pilothouse benchmark --manifest .data/benchmarks/games-m-r1/manifest.json …      the tasks of that run again
    ./pilothouse benchmark --leaderboard .data/benchmarks

The same command resumes an interrupted run. The policy `expert` is the tasks' own scripts.
"""

import argparse
import os
import re
import signal
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

import uvloop

from agent_backend.benchmark.leaderboard import build_leaderboards, render_leaderboards
from agent_backend.benchmark.manifest import (
    ATTEMPTS_FOLDER,
    RESULT_FILE,
    TASK_SETS,
    check_same_tasks,
    make_manifest,
    pin,
    read_manifest_file,
    read_plan,
    verifiers_checksum,
)
from agent_backend.benchmark.run_lock import run_lock
from agent_backend.errors import AgentError
from agent_backend.evaluation.report import evaluate_folders
from agent_backend.evaluation.report_table import render_table
from agent_backend.evaluation.results import read_baselines
from agent_backend.rollout.__main__ import roll_out
from agent_backend.rollout.attempt_log import read_records
from agent_backend.rollout.in_process import bridge_client
from agent_backend.rollout.options import ALL_LEVELS, EXPERT, add_options, build_plan, check_options
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.pool_tasks import is_pool
from agent_backend.rollout.task_sources import list_tasks
from agent_backend.trajectory_folders import write_atomically
from protocol.evaluation.benchmarks import BenchmarkManifest, BenchmarkResult, Harness
from vm_bridge.errors import BridgeError

RUNS_FOLDER = Path(os.environ.get("PILOTHOUSE_DATA", ".data")) / "benchmarks"
REFERENCES = Path(__file__).parents[2] / "vm_bridge" / "suites"


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="./pilothouse benchmark", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "what", nargs="?", metavar="SUITE", help="a bundled suite, lmgame, pool:NAME, or a path of tasks"
    )
    parser.add_argument("--out", type=Path, help=f"the folder of the run ({RUNS_FOLDER}/SUITE-POLICY-REVISION)")
    parser.add_argument("--manifest", type=Path, metavar="FILE", help="of an earlier run: its tasks again")
    parser.add_argument("--people", type=Path, nargs="+", metavar="FOLDER", help="people's trajectories: their 100")
    parser.add_argument("--leaderboard", type=Path, metavar="FOLDER", help="compare the finished runs of a folder")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where the leaderboards are written too")
    parser.add_argument(
        "--harness",
        nargs="?",
        choices=get_args(Harness),
        const="both",
        help="for lmgame: a memory of the last turns, and the screen in words beside its picture; `text`: words only",
    )
    add_options(parser)
    arguments = parser.parse_args(argv)
    if arguments.leaderboard is not None:
        return arguments
    if sum(each is not None for each in (arguments.what, arguments.suite, arguments.tasks, arguments.manifest)) != 1:
        parser.error("exactly one of SUITE, --suite, --tasks and --manifest is needed")
    if arguments.what in TASK_SETS:
        arguments.suite, names = TASK_SETS[arguments.what]
        arguments.task = list(names)
    elif arguments.what is not None:
        stored = is_pool(arguments.what) or "/" in arguments.what or Path(arguments.what).is_file()
        setattr(arguments, "tasks" if stored else "suite", arguments.what)
    if arguments.manifest is not None:
        try:
            repeat_tasks(arguments, read_manifest_file(arguments.manifest))
        except AgentError as error:
            parser.error(f"{error.code}: {error}")
    if arguments.policy == EXPERT and not arguments.model:
        arguments.expert = True
    if arguments.harness and arguments.expert:
        parser.error("--harness is for a policy that reads, not for the tasks' own scripts")
    if arguments.harness and _set_name(arguments.suite, tuple(arguments.task)) is None:
        parser.error(f"--harness is for {', '.join(TASK_SETS)}: other pages do not describe their screens")
    arguments.bridge = arguments.bridge or os.environ.get("PILOTHOUSE_BRIDGE_URL")
    check_options(parser, arguments)
    return arguments


def repeat_tasks(arguments: argparse.Namespace, manifest: BenchmarkManifest) -> None:
    """Attempt the tasks of a manifest, with its seeds, levels, step limit and machines. Raises InvalidManifest."""
    plan = read_plan(manifest)
    arguments.suite, arguments.tasks = plan.suite or None, plan.source or None
    arguments.task, arguments.kind = list(plan.names), list(plan.kinds)
    arguments.seeds, arguments.first_seed, arguments.max_steps = plan.seeds, plan.first_seed, plan.max_steps
    if plan.suite:
        arguments.level, arguments.size = list(plan.levels) or [ALL_LEVELS], plan.size
    arguments.language, arguments.image = plan.language, plan.image


async def run_benchmark(arguments: argparse.Namespace) -> tuple[Path, BenchmarkResult]:
    """Make or resume a run. Raises AgentError (`run_active` if another command works on the run) and BridgeError;
    finished attempts stay in the folder."""
    began = datetime.now(UTC)
    plan = build_plan(arguments)
    async with bridge_client(arguments) as bridge:
        tasks = await list_tasks(plan, bridge)
    manifest = make_manifest(_name_of(plan), plan, tasks)
    if arguments.manifest is not None:
        check_same_tasks(read_manifest_file(arguments.manifest), manifest)
    harness = f"-harness-{plan.harness}" if plan.harness else ""
    name = f"{manifest.name}{harness}-{plan.policy.name}-{plan.policy.revision}"
    run = arguments.out or RUNS_FOLDER / re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    run.mkdir(parents=True, exist_ok=True)
    with run_lock(run):
        manifest = pin(run, manifest)
        attempts = run / ATTEMPTS_FOLDER
        if not attempts.exists():
            await roll_out(arguments, attempts, began)
        result = build_result(run, manifest, arguments.people)
        write_atomically(run / RESULT_FILE, result.model_dump_json(indent=1).encode() + b"\n")
    return run, result


def _name_of(plan: RolloutPlan) -> str:
    """The name of a benchmark: a set of tasks, a suite, or the file or folder of its tasks."""
    return _set_name(plan.suite, plan.names) or plan.suite or Path(plan.source).name


def _set_name(suite: str | None, names: tuple[str, ...]) -> str | None:
    """The name of the task set that these tasks of a suite form, if any."""
    return next((name for name, tasks in TASK_SETS.items() if tasks == (suite, names)), None)


def build_result(run: Path, manifest: BenchmarkManifest, people: Sequence[Path] | None) -> BenchmarkResult:
    """The result of a run's attempts. Raises AgentError."""
    attempts = run / ATTEMPTS_FOLDER
    records = read_records(attempts)
    made = {record.task for record in records if record.trajectory is not None}
    now = datetime.now(UTC)
    return BenchmarkResult(
        manifest=manifest,
        evaluation=evaluate_folders(
            [attempts], baselines=read_baselines(REFERENCES if REFERENCES.is_dir() else None, people)
        ),
        records=len(records),
        verifiers_sha256=verifiers_checksum(
            [(f"{each.suite}/{each.name}", each.version, each.verifier) for each in records if each.verifier]
        ),
        missing=sum(task.id not in made for task in manifest.tasks),
        seconds=sum(record.seconds or 0.0 for record in records),
        finished_at=now,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run, or compare runs, and print the result. Returns 1 if that failed."""
    arguments = parse_arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a cancelled run gives its machines back
    try:
        if arguments.leaderboard is not None:
            return _print_leaderboards(arguments)
        run, result = uvloop.run(run_benchmark(arguments))
    except (AgentError, BridgeError) as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command resumes from here", file=sys.stderr)
        return 130
    print(render_table(result.evaluation))
    lost = f", {result.missing} attempts given up" if result.missing else ""
    print(f"\n{run}: manifest, attempts with their replays, result{lost}")
    return 0


def _print_leaderboards(arguments: argparse.Namespace) -> int:
    boards = build_leaderboards(arguments.leaderboard)
    print(render_leaderboards(boards))
    if arguments.json is not None:
        text = "[" + ",\n".join(board.model_dump_json() for board in boards) + "]\n"
        write_atomically(arguments.json, text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
