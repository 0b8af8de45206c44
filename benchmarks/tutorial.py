"""The tutorial, run as it is written: `./pilothouse bench tutorial [--ppo] [--keep FOLDER]`.

It works in a copy of this repository with a data folder of its own. The step by hand is done by the command that the
page names for it. The last line is one JSON object: `tutorial_minutes`, `tutorial_ok`, and the seconds of each block.
"""

import argparse
import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from annotation_app.operations.runtime.child_processes import child_process
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.tutorial.checkout import make_checkout
from benchmarks.parts.tutorial.page import Block, read_blocks

PAGES = {False: ROOT / "docs" / "tutorial" / "annotation-to-policy.md", True: ROOT / "docs" / "tutorial" / "ppo.md"}
BLOCK_SECONDS = 1_800.0
"""Longest time a block may take."""
POLL_SECONDS = 0.2
TAIL_CHARACTERS = 3_000


class BlockFailed(Exception):
    """A block ended with an error, or did not print what the page says."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench tutorial", description=__doc__)
    parser.add_argument("--ppo", action="store_true", help="the shorter one, of PPO")
    parser.add_argument("--keep", type=Path, help="a new folder for the copy and what the tutorial makes in it")
    arguments = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if arguments.keep is None:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pilothouse-tutorial-")))
        else:
            folder = arguments.keep
            folder.mkdir(parents=True)
        figures = run_page(PAGES[arguments.ppo], folder)
    return print_figures("tutorial", figures)


def run_page(page: Path, folder: Path) -> Mapping[str, object]:
    """Run every block of a page in order; what runs on in the background ends with the last."""
    seconds: dict[str, float] = {}
    copy, logs = make_checkout(folder), folder / "logs"
    logs.mkdir()
    began, failed = time.monotonic(), ""
    with contextlib.ExitStack() as background:
        for block in read_blocks(page):
            name = f"line {block.line}"
            print_progress(f"{page.name}:{block.line}: {block.commands[0][:100]}")
            start = time.monotonic()
            try:
                _run_block(block, copy, logs / f"{block.line:03}.log", background)
            except BlockFailed as error:
                failed = f"{page.name}:{block.line}: {error}"
                print(failed, file=sys.stderr)
                break
            finally:
                seconds[name] = round(time.monotonic() - start, 1)
        minutes = (time.monotonic() - began) / 60
    return {
        "tutorial_minutes": round(minutes, 1),
        "tutorial_ok": not failed,
        "page": page.name,
        "block_seconds": seconds,
        "failed": failed,
    }


def _run_block(block: Block, copy: Path, log: Path, background: contextlib.ExitStack) -> None:
    """Run a block; one that runs on is left to `background` once it is ready. Raises BlockFailed."""
    unset = [word for name in os.environ if name.startswith("PILOTHOUSE_") for word in ("-u", name)]
    command = ("env", *unset, "bash", "-euo", "pipefail", "-c", block.body)
    with contextlib.ExitStack() as own:
        stack = background if block.ready else own
        output = stack.enter_context(log.open("wb"))
        process = stack.enter_context(child_process(command, environment={}, stdout=output, stderr=output, folder=copy))
        deadline = time.monotonic() + BLOCK_SECONDS
        while process.poll() is None and not (block.ready and block.ready in log.read_text(errors="replace")):
            if time.monotonic() > deadline:
                raise BlockFailed(f"it took longer than {BLOCK_SECONDS:.0f} s")
            time.sleep(POLL_SECONDS)
        said = log.read_text(errors="replace")
        if process.poll() is not None and (block.ready or process.returncode):
            raise BlockFailed(f"it ended with status {process.returncode}:\n{said[-TAIL_CHARACTERS:]}")
        if block.prints not in said:
            raise BlockFailed(f"it did not print {block.prints!r}:\n{said[-TAIL_CHARACTERS:]}")


if __name__ == "__main__":
    sys.exit(main())
