"""The task factory: `./pilothouse bench factory [--only PART ...] [--questions N] [--model NAME --model-url URL]`.

Parts: scores of applications (`design`), near duplicates and drafts of a small language model (`drafts`), browsing
questions and a reader that answers them from screenshots (`questions`), tasks made of sites (`sites`), games that a
language model wrote (`games`), the refill of a pool (`refill`). One JSON object is the last line;
docs/research/benchmarks/task-factory.md says what its keys mean.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from benchmarks.parts.factory.closed_book import guess_by_model, guess_common
from benchmarks.parts.factory.design import measure_design
from benchmarks.parts.factory.drafts import measure_drafts
from benchmarks.parts.factory.duplicates import measure_duplicates
from benchmarks.parts.factory.games import measure_games
from benchmarks.parts.factory.questions import measure_filters, measure_kept, measure_reader, tasks_of
from benchmarks.parts.factory.refill import measure_refill
from benchmarks.parts.factory.sites import measure_sites
from benchmarks.parts.factory.zim_questions import measure_zim_questions
from benchmarks.parts.figures import print_figures, print_progress

QUESTIONS = 100


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench factory", description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(PARTS), choices=list(PARTS), help="parts that are measured")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--model", default="", help="asked for the answers without the wiki")
    parser.add_argument("--model-url", default="", help="its OpenAI-compatible address, such as http://host:8000/v1")
    given = parser.parse_args()
    return print_figures("factory", asyncio.run(measure(given)))


async def measure(given: argparse.Namespace) -> dict[str, Any]:
    """The figures of the parts that are asked for, and the seconds of each."""
    figures: dict[str, Any] = {"seconds": {}}
    for name in given.only:
        print_progress(name)
        began = time.monotonic()
        figures |= await PARTS[name](given)
        figures["seconds"][name] = round(time.monotonic() - began, 1)
    return figures


async def _design(_: argparse.Namespace) -> Mapping[str, Any]:
    return await asyncio.to_thread(measure_design)


async def _drafts(_: argparse.Namespace) -> Mapping[str, Any]:
    return {**measure_duplicates(), **await asyncio.to_thread(measure_drafts)}


async def _questions(given: argparse.Namespace) -> Mapping[str, Any]:
    guess = guess_by_model(given.model_url, given.model) if given.model_url else guess_common
    tasks = tasks_of(given.questions)
    figures = measure_filters() | await measure_kept(tasks, guess)
    figures["closed_book_guesser"] = given.model or "the most common answers"
    figures |= await measure_zim_questions()
    print_progress(f"{len(tasks)} questions are read from screenshots")
    return figures | await measure_reader(tasks)


async def _sites(_: argparse.Namespace) -> Mapping[str, Any]:
    return await measure_sites()


async def _games(_: argparse.Namespace) -> Mapping[str, Any]:
    return await measure_games()


async def _refill(_: argparse.Namespace) -> Mapping[str, Any]:
    return await asyncio.to_thread(measure_refill)


PARTS: dict[str, Callable[[argparse.Namespace], Awaitable[Mapping[str, Any]]]] = {
    "design": _design,
    "drafts": _drafts,
    "questions": _questions,
    "sites": _sites,
    "games": _games,
    "refill": _refill,
}


if __name__ == "__main__":
    sys.exit(main())
