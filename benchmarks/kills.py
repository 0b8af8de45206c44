"""Everything is killed while people work: `./pilothouse bench kills [--seed N] [--kills N] [--long]`.

A whole platform with two web processes and two workers, real desktops, terminals and browsers, and scripted
annotators who act through the desk's WebSocket. Every process is killed or frozen in an order drawn by the seed, and
witnesses inside the machines record what was really done. One JSON object is the last line;
docs/research/benchmarks/kills.md says what its keys mean.
"""

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.parts.concurrency import in_background
from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.kills import results
from benchmarks.parts.kills.annotators import Annotator
from benchmarks.parts.kills.schedule import KillSchedule
from benchmarks.parts.kills.stack import now, stack

KINDS = ("terminal", "terminal", "terminal", "desktop", "browser", "browser")
"""What each annotator works on."""
KILLS, LONG_KILLS = 210, 1_000
SECONDS, LONG_SECONDS = 810.0, 4_500.0
"""The kills end after so long, however many there were."""
TASKS = 2_000
"""Tasks of each annotator."""
ACTS = {"terminal": 60, "desktop": 60, "browser": 20}
"""Acts of an episode. A browser whose engine or page ended does them all again."""
MACHINES = 12
WARM_SECONDS = 300.0
SETTLE_SECONDS = 120.0
"""Longest wait for the last episodes."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench kills")
    parser.add_argument("--seed", type=int, default=1, help="of the order of kills and of what annotators do")
    parser.add_argument("--kills", type=int, default=KILLS, help="how many, kills and freezes together")
    parser.add_argument("--long", action="store_true", help=f"{LONG_KILLS} kills")
    parser.add_argument("--only", nargs="+", default=[], help="names of victims, as in `kills_by_victim`")
    parser.add_argument("--keep", type=Path, help="a folder for data and logs, which is left there")
    given = parser.parse_args()
    kills = LONG_KILLS if given.long else given.kills
    with contextlib.ExitStack() as exits:
        folder = given.keep or Path(exits.enter_context(tempfile.TemporaryDirectory(prefix="pilothouse-bench-")))
        figures = asyncio.run(measure(folder, given.seed, kills, LONG_SECONDS if given.long else SECONDS, given.only))
    return print_figures("kills", {"seed": given.seed, **figures})


async def measure(folder: Path, seed: int, kills: int, seconds: float, only: list[str]) -> dict[str, object]:
    """Every figure."""
    rng, run = random.Random(seed), f"run{random.randrange(10**9)}"
    print_progress("a whole platform")
    async with stack(folder, KINDS, TASKS, MACHINES, run) as platform:
        people = [
            Annotator(
                name=each.name, kind=each.kind, pool=each.pool, session=each.session, addresses=platform.addresses,
                origin=platform.platform.url, run=run, machine_logs=platform.machine_logs, limit=ACTS[each.kind],
                rng=random.Random(f"{seed} {each.name}"),
            )
            for each in platform.people
        ]  # fmt: skip
        whole = await platform.claimable("terminal", MACHINES)
        schedule = KillSchedule(platform, people, rng)
        async with in_background(platform.machine_logs.run_forever(), *(each.work() for each in people)) as tasks:
            await _all_act(people)
            began = now()
            await schedule.run(kills, seconds, only)
            took = now() - began
            for person in people:
                person.over = True
            await asyncio.wait(tasks[1:], timeout=SETTLE_SECONDS)
        print_progress("the last episodes have ended; every machine is claimed")
        by_victim = Counter(each.victim for each in schedule.deaths)
        figures = {
            "kills": schedule.kills,
            "victims": len(by_victim),
            "kills_by_victim": dict(sorted(by_victim.items())),
            "not_there": dict(schedule.absent),
            "seconds": round(took, 1),
            **results.count_damage(platform, people, schedule.deaths),
            **results.recovery_times(schedule.deaths),
            "capacity": whole,
            "capacity_leaked": whole - await platform.claimable("terminal", MACHINES),
        }
    return figures


async def _all_act(people: list[Annotator]) -> None:
    """Wait until each annotator has a machine and has acted. Raises TimeoutError."""
    end = now() + WARM_SECONDS
    while any(each.steps == 0 for each in people):
        if now() > end:
            idle = "; ".join(f"{each.name} ({each.kind}) {each.idle}" for each in people if not each.steps)
            raise TimeoutError(f"these annotators could not act: {idle}")
        await asyncio.sleep(0.1)


if __name__ == "__main__":
    sys.exit(main())
