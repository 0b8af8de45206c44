"""The task factory: `./pilothouse bench factory [--questions N] [--model NAME --model-url URL]`.

Browsing questions about an invented wiki: what each filter drops, planted bad questions that must be caught, and a
reader that answers from screenshots. Near duplicates among task drafts, and drafts of a small language model. One JSON
object is the last line; docs/benchmarks.md says what its keys mean.
"""

import argparse
import asyncio
import sys

from benchmarks.parts.factory.closed_book import guess_by_model, guess_common
from benchmarks.parts.factory.drafts import measure_drafts
from benchmarks.parts.factory.duplicates import measure_duplicates
from benchmarks.parts.factory.questions import measure_filters, measure_kept, measure_reader, tasks_of
from benchmarks.parts.figures import print_figures, print_progress

QUESTIONS = 100


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench factory")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--model", default="", help="asked for the answers without the wiki")
    parser.add_argument("--model-url", default="", help="its OpenAI-compatible address, such as http://host:8000/v1")
    given = parser.parse_args()
    return print_figures("factory", asyncio.run(measure(given)))


async def measure(given: argparse.Namespace) -> dict[str, object]:
    """Every figure."""
    guess = guess_by_model(given.model_url, given.model) if given.model_url else guess_common
    print_progress("near duplicates are looked for among paraphrases")
    figures = measure_duplicates()
    print_progress("a small language model drafts tasks")
    figures |= await asyncio.to_thread(measure_drafts)
    print_progress("questions are composed and filtered")
    figures |= measure_filters()
    tasks = tasks_of(given.questions)
    figures |= await measure_kept(tasks, guess)
    figures["closed_book_guesser"] = given.model or "the most common answers"
    print_progress(f"{len(tasks)} questions are read from screenshots")
    return figures | await measure_reader(tasks)


if __name__ == "__main__":
    sys.exit(main())
