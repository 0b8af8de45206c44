"""Takes one measurement in a process: `python -m benchmarks.parts.data.measurements WHAT …` prints a JSON line."""

import json
import random
import resource
import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import django

from benchmarks.parts.data.seed import EPISODE, RARE, WORDS, rare_word
from benchmarks.parts.figures import percentile

QUERIES = 200
"""Questions of each kind."""
FACETS: tuple[dict[str, Any], ...] = (
    {},
    {"outcome": "failure"},
    {"decisions": ["override"]},
    {"review": "accepted", "steps_min": 5},
)


def main() -> None:
    django.setup()
    what, *words = sys.argv[1:]
    measures: dict[str, Callable[..., dict[str, Any]]] = {
        "find": time_browsing,
        "export": time_export,
        "import": import_rows,
    }
    print(json.dumps(measures[what](*words)))


def time_browsing() -> dict[str, Any]:
    """Browse by facets and pages, and search by words, half of the times one rare, as a researcher's requests do."""
    from django.test import Client

    from annotation_app.accounts.models import User

    client, draw = Client(SERVER_NAME="127.0.0.1"), random.Random(4)
    client.force_login(User.objects.get(username="researcher"))

    def asked(**query: Any) -> tuple[float, dict[str, Any]]:
        begun = time.perf_counter()
        answer = client.get("/api/trajectories", query)
        took = (time.perf_counter() - begun) * 1_000
        assert answer.status_code == 200, answer.content[:300]
        return took, answer.json()

    browse, search, cursor = [], [], None
    asked()
    for number in range(QUERIES):
        facet = FACETS[number % len(FACETS)]
        took, page = asked(**facet, **({"after": cursor} if cursor else {}))
        cursor = page["next"] if number % 20 else None
        browse.append(took)
    for number in range(QUERIES):
        words = draw.sample(WORDS, draw.choice((1, 2, 3)))
        text = (*words, *([] if number % 2 else [rare_word(draw.randrange(RARE))]))
        took, page = asked(text=" ".join(text))
        search.append(took)
    return {"browse_p95_ms": percentile(browse, 0.95), "search_p95_ms": percentile(search, 0.95)}


def time_export(name: str, target: str, steps: str) -> dict[str, Any]:
    """Write a format over so many steps, of the oldest episodes."""
    from datetime import UTC, datetime

    from annotation_app.catalogue.selectors import exportable_episodes
    from annotation_app.exports.folder_writer import ExportOrder, write_export
    from annotation_app.exports.schemas import ExportFilters, ExportPlan

    filters = ExportFilters(review=None)

    def some() -> Any:
        for episode, _kind in islice(exportable_episodes(filters), int(steps) // EPISODE):
            yield episode, "train"

    begun = time.perf_counter()
    made = write_export(
        ExportOrder(
            target=Path(target),
            filters=filters,
            plan=ExportPlan(format=name),
            pool=None,
            created_at=datetime.now(UTC),
            select_episodes=some,
        )
    )
    took = time.perf_counter() - begun
    return {
        "steps_per_s": round(made.counts.steps / took, 1),
        "steps": made.counts.steps,
        "records": made.counts.records,
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


def import_rows(source: str, copies: str = "1") -> dict[str, Any]:
    """Import a canonical export under other ids, so that every row is new, so many times in one job; a row is a
    trajectory of 20 steps."""
    from annotation_app.imports.services import import_folder_run

    lines = Path(source) / "trajectories.jsonl"
    told = [json.loads(line) for line in lines.read_text().splitlines()]
    rows = [{**row, "id": str(uuid4())} for row in told * int(copies) if row["steps"]]
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    begun = time.perf_counter()
    job = import_folder_run(folder=Path(source), pool="benchmark imports")
    took = time.perf_counter() - begun
    assert (job.status, job.imported) == ("done", len(rows)), (job.status, job.error, job.refused)
    return {"import_rows_per_s": round(job.imported / took, 1), "import_steps_per_s": round(job.steps / took, 1)}


if __name__ == "__main__":
    main()
