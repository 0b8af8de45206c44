"""The nano policy's own attempts at live pages, as a folder: `./pilothouse bench attempts OUT --task click-option …`.

What `trainer.nano clicking` teaches it of its own successes, or, with `--temperature 0`, what it comes to. `--against`
another such folder, of the same pages with one attempt each, says how many it won anew and lost. Ended at any moment
and given again it goes on; a folder that is whole is only read. One JSON object is the last line.
"""

import argparse
import asyncio
import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_backend.folders import FolderUnusable, trajectories_read
from benchmarks.parts.figures import machine
from benchmarks.parts.nano_trials import trials
from benchmarks.parts.reinforcement_plan import FIRST, tallied
from benchmarks.parts.reinforcement_play import START, PagesFailed, playing
from vocabulary.statistics import signs
from vocabulary.trajectories import Trajectory


class NotAlike(Exception):
    """Two folders are not of the same pages, once each; the message says where they differ."""


def won_by_page(trajectories: Sequence[Trajectory]) -> dict[str, bool]:
    """Which pages were solved. Raises NotAlike where one was attempted twice."""
    found = dict[str, bool]()
    for one in trajectories:
        if one.task.id in found:
            raise NotAlike(f"{one.task.id} was attempted more than once")
        found[one.task.id] = one.verdict is not None and bool(one.verdict.success)
    return found


def compared(before: Sequence[Trajectory], after: Sequence[Trajectory]) -> dict[str, Any]:
    """Pages won anew and lost, and how likely they fall as unevenly by chance (the exact sign test). Raises
    NotAlike."""
    first, then = won_by_page(before), won_by_page(after)
    if apart := sorted(first.keys() ^ then.keys()):
        raise NotAlike(f"{len(apart)} pages are in one of them alone: {apart[0]}")
    anew = sum(then[page] and not first[page] for page in first)
    lost = sum(first[page] and not then[page] for page in first)
    return {"before": sum(first.values()), "anew": anew, "lost": lost, "by_chance": signs(anew, lost)}


def read(folder: Path) -> list[Trajectory]:
    """All attempts of a folder. Raises FolderUnusable."""
    return [one for _, one in trajectories_read([folder])]


def made(given: argparse.Namespace) -> list[Trajectory]:
    """All attempts of the folder, which is written where it is not there. Raises PagesFailed, PolicyError,
    FolderUnusable."""
    if not given.out.exists():
        beside = given.out.with_name(given.out.name + ".serving")
        beside.mkdir(parents=True, exist_ok=True)
        asyncio.run(drawn(given, beside))
        shutil.rmtree(beside)
    return read(given.out)


async def drawn(given: argparse.Namespace, beside: Path) -> None:
    """The folder, from as far as it has come. Raises PagesFailed, PolicyError, FolderUnusable."""
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    pages = [(task, seed) for seed in seeds for task in dict.fromkeys(given.task) for _ in range(given.attempts)]
    async with playing(given.checkpoint.resolve(), beside, given.parallel, None, given.level) as player:
        await player.drawn(given.out, player.tasks(pages), given.revision, given.temperature)


def parsed(given: Sequence[str] | None = None) -> argparse.Namespace:
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
    arguments = parser.parse_args(given)
    if min(arguments.seeds, arguments.attempts, arguments.parallel) < 1:
        parser.error("--seeds, --attempts and --parallel are at least 1")
    if unknown := set(arguments.task) - {one.key for one in trials()}:
        parser.error(f"no such task: {', '.join(sorted(unknown))}")
    return arguments


def main() -> None:
    given = parsed()
    try:
        attempts = made(given)
        told: dict[str, Any] = {"tasks": tallied(attempts), "attempts": len(attempts)}
        if given.against is not None:
            told["against"] = compared(read(given.against), attempts)
    except PagesFailed as error:
        sys.exit(f"pages_failed: {error}")
    except NotAlike as error:
        sys.exit(f"not_alike: {error}")
    except FolderUnusable as error:
        sys.exit(f"{error.code}: {error}")
    print(json.dumps({"benchmark": "attempts", **told, "machine": machine()}))


if __name__ == "__main__":
    main()
