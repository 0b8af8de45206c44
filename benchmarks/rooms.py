"""What reviewers, researchers and admins need, over much data: `./pilothouse bench rooms [--only PART ...]`.

It starts two whole installations with painted machines and drives Chromium. The last line is one JSON object;
docs/research/benchmarks/rooms.md says what its keys mean.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform
from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.rooms import bad_inputs, export_clicks, first_pages, second_installation, wall

STEPS, TASKS, LIVE = 1_000_000, 100_000, 50
SEED_SECONDS = 900.0
CHROMIUM = "/usr/bin/chromium"
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync")
SECOND = "second"
PARTS = ("reach", "inputs", "export", "wall", "pages", SECOND)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench rooms", description=__doc__)
    parser.add_argument("--only", nargs="+", default=PARTS, choices=PARTS, help="parts that are measured")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"in the database ({STEPS})")
    parser.add_argument("--tasks", type=int, default=TASKS, help=f"in the database ({TASKS})")
    parser.add_argument("--keep", type=Path, help="a new folder for data and logs, which is left there")
    given = parser.parse_args()
    with contextlib.ExitStack() as exits:
        folder = given.keep or Path(exits.enter_context(tempfile.TemporaryDirectory(prefix="pilothouse-bench-")))
        return print_figures("rooms", measure(folder, frozenset(given.only), given.steps, given.tasks))


def measure(folder: Path, only: frozenset[str], steps: int, tasks: int) -> dict[str, Any]:
    """The figures of these parts. The second installation rests while the first one is filled and used; pages are
    opened when it has ended."""
    os.environ.update(
        PILOTHOUSE_MACHINES="fake", PILOTHOUSE_MAX_MACHINES=str(LIVE + 10), PILOTHOUSE_WARM_POOL="{}"
    )  # fmt: skip
    figures: dict[str, Any] = {"steps": steps, "tasks": tasks, "seconds": {}}

    def measure_part(name: str, part: Callable[[], Mapping[str, Any]]) -> None:
        if name in only:
            print_progress(name)
            began = time.monotonic()
            figures.update(part())
            figures["seconds"][name] = round(time.monotonic() - began, 1)

    with temporary_platform(folder / "first", port=None) as platform:
        with _second_installation(folder / SECOND, platform, only, figures):
            sessions = _seed(platform, steps, tasks)
            roles = sessions["roles"]
            measure_part("reach", lambda: _run_module(platform, "reach"))
            measure_part("inputs", lambda: bad_inputs.measure_bad_inputs(platform, roles["admin"]))
            with _browser() as browser:
                measure_part(
                    "export", lambda: export_clicks.measure_export_clicks(browser, platform, roles["researcher"])
                )
                measure_part(
                    "wall",
                    lambda: wall.measure_wall(browser, platform, roles["reviewer"], sessions["live"], sessions["pool"]),
                )
        with _browser() as browser:
            measure_part("pages", lambda: first_pages.measure_first_pages(browser, platform, roles))
    return figures


@contextlib.contextmanager
def _second_installation(
    data: Path, first: TemporaryPlatform, only: frozenset[str], figures: dict[str, Any]
) -> Iterator[None]:
    """Another installation on a small disk; it is measured while the block runs, and has ended behind it."""
    if SECOND not in only:
        yield
        return
    print_progress("a second installation")
    with contextlib.ExitStack() as exits:
        is_small = exits.enter_context(second_installation.small_disk(data))
        second = exits.enter_context(temporary_platform(data, port=None))
        figures["two_installations_start"] = second_installation.both_start(first, second)
        thread = exits.enter_context(ThreadPoolExecutor(1))
        measured = thread.submit(second_installation.measure_rest_and_full_disk, second, on_small_disk=is_small)
        yield
        figures.update(measured.result())


@contextlib.contextmanager
def _browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


def _seed(platform: TemporaryPlatform, steps: int, tasks: int) -> dict[str, Any]:
    print_progress(f"{tasks} tasks and {steps} steps")
    return _run_module(platform, "seed", str(steps), str(tasks), str(LIVE))


def _run_module(platform: TemporaryPlatform, name: str, *words: str) -> dict[str, Any]:
    """What a module prints that needs Django, in the surroundings of the platform."""
    told = subprocess.run(
        [sys.executable, "-m", f"benchmarks.parts.rooms.{name}", *words],
        cwd=ROOT, env={**os.environ, **platform.environment}, stdout=subprocess.PIPE, text=True, check=True,
        timeout=SEED_SECONDS,
    ).stdout  # fmt: skip
    printed: dict[str, Any] = json.loads(told.splitlines()[-1])
    return printed


if __name__ == "__main__":
    sys.exit(main())
