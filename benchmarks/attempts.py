"""The nano policy's own attempts at live pages, as a folder: `./pilothouse bench attempts OUT --task click-option …`.

What `trainer.nano clicking` teaches it of its own successes, or, with `--temperature 0`, what it comes to. `--against`
another such folder, of the same pages with one attempt each, reports how many pages it gained and lost. The same
command resumes an interrupted run; a complete folder is only read. One JSON object is the last line.
"""

import argparse
import asyncio
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_backend.trajectory_folders import InvalidFolder, read_trajectories
from benchmarks.parts.figures import describe_machine
from benchmarks.parts.nano.trials import trials
from benchmarks.parts.reinforcement.plan import FIRST, summarize_attempts
from benchmarks.parts.reinforcement.player import START, PagesFailed, run_player
from protocol.evaluation.statistics import sign_test
from protocol.trajectory.trajectories import Trajectory


class DifferentPages(Exception):
    """Two folders are not of the same pages, once each; the message says where they differ."""


def won_by_page(trajectories: Sequence[Trajectory]) -> dict[str, bool]:
    """Which pages were solved. Raises DifferentPages where one was attempted twice."""
    found = dict[str, bool]()
    for one in trajectories:
        if one.task.id in found:
            raise DifferentPages(f"{one.task.id} was attempted more than once")
        found[one.task.id] = one.verdict is not None and bool(one.verdict.success)
    return found


def compare_attempts(before: Sequence[Trajectory], after: Sequence[Trajectory]) -> dict[str, Any]:
    """Pages won anew and lost, and how likely they fall as unevenly by chance (the exact sign test). Raises
    DifferentPages."""
    first, then = won_by_page(before), won_by_page(after)
    if apart := sorted(first.keys() ^ then.keys()):
        raise DifferentPages(f"{len(apart)} pages are in one of them alone: {apart[0]}")
    anew = sum(then[page] and not first[page] for page in first)
    lost = sum(first[page] and not then[page] for page in first)
    return {"before": sum(first.values()), "anew": anew, "lost": lost, "by_chance": sign_test(anew, lost)}


def read_attempts(folder: Path) -> list[Trajectory]:
    """All attempts of a folder. Raises InvalidFolder."""
    return [one for _, one in read_trajectories([folder])]


def load_or_sample(options: argparse.Namespace) -> list[Trajectory]:
    """All attempts of the folder, which is written where it is not there. Raises PagesFailed, PolicyError,
    InvalidFolder."""
    if not options.out.exists():
        working_folder = options.out.with_name(options.out.name + ".serving")
        working_folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(sample_attempts(options, working_folder))
        shutil.rmtree(working_folder)
    return read_attempts(options.out)


async def sample_attempts(options: argparse.Namespace, working_folder: Path) -> None:
    """The folder, from as far as it has come. Raises PagesFailed, PolicyError, InvalidFolder."""
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    pages = [(task, seed) for seed in seeds for task in dict.fromkeys(options.task) for _ in range(options.attempts)]
    async with run_player(
        options.checkpoint.resolve(), working_folder, options.parallel, None, options.level
    ) as player:
        await player.sample(options.out, player.tasks(pages), options.revision, options.temperature)


def parse_arguments(options: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="./pilothouse bench attempts", description=__doc__)
    parser.add_argument("out", type=Path, help="the folder to make")
    parser.add_argument("--checkpoint", type=Path, default=START, help="the policy; default: the bundled one")
    parser.add_argument("--revision", default="nano", help="the word for these weights, in what is written")
    parser.add_argument("--task", action="append", required=True, help="click-color, drills/press; may be given again")
    parser.add_argument("--level", type=int, default=1, choices=(1, 2, 3), help="of drills")
    parser.add_argument("--first-seed", type=int, default=FIRST, help="of the pages; those from 50000 on are trained")
    parser.add_argument("--seeds", type=int, default=40, help="pages of each task")
    parser.add_argument("--attempts", type=int, default=1, help="at each page")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--parallel", type=int, default=6, help="pages at a time")
    parser.add_argument("--against", type=Path, help="attempts of another policy at the same pages")
    arguments = parser.parse_args(options)
    if min(arguments.seeds, arguments.attempts, arguments.parallel) < 1:
        parser.error("--seeds, --attempts and --parallel are at least 1")
    if unknown := set(arguments.task) - {one.key for one in trials()}:
        parser.error(f"no such task: {', '.join(sorted(unknown))}")
    return arguments


def main() -> None:
    options = parse_arguments()
    try:
        attempts = load_or_sample(options)
        told: dict[str, Any] = {"tasks": summarize_attempts(attempts), "attempts": len(attempts)}
        if options.against is not None:
            told["against"] = compare_attempts(read_attempts(options.against), attempts)
    except PagesFailed as error:
        sys.exit(f"pages_failed: {error}")
    except DifferentPages as error:
        sys.exit(f"not_alike: {error}")
    except InvalidFolder as error:
        sys.exit(f"{error.code}: {error}")
    print(json.dumps({"benchmark": "attempts", **told, "machine": describe_machine()}))


if __name__ == "__main__":
    main()
