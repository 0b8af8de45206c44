"""What making site tasks leaves in a folder: tasks for imports, what was refused, the pages that were seen."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from protocol.trajectory.tasks import Task
from task_factory.sites.crawler import Crawl
from task_factory.sites.records import FILTERS, SiteReport

TASKS, REPORT, REFUSED, PAGES, PICTURES, TRANSCRIPT = (
    "tasks.jsonl",
    "report.json",
    "refused.jsonl",
    "pages.jsonl",
    "pictures",
    "transcript.jsonl",
)


def write_site(out: Path, made: SiteReport, found: Crawl) -> None:
    """Append what was made of a site: its tasks, its refused tasks, and its pages with their pictures."""
    out.mkdir(parents=True, exist_ok=True)
    _append(out / TASKS, [kept.task.model_dump(mode="json", exclude_defaults=True) for kept in made.kept])
    _append(out / REFUSED, [{"site": made.site, **one.model_dump(mode="json")} for one in made.refusals])
    pages = list[dict[str, Any]]()
    for page in found.pages:
        picture = found.pictures.get(page.url)
        name = f"{hashlib.sha256(picture).hexdigest()}.jpg" if picture else ""
        if picture:
            (out / PICTURES).mkdir(exist_ok=True)
            (out / PICTURES / name).write_bytes(picture)
        pages.append({"site": made.site, "picture": name, **page.model_dump(mode="json")})
    _append(out / PAGES, pages)


def write_report(out: Path, reports: Sequence[SiteReport], model: str) -> dict[str, Any]:
    """The figures of all sites, which are returned too. `model` is who wrote the tasks."""
    told = {**summarize(reports), "model": model, "by_site": [_tell_site(one) for one in reports]}
    out.mkdir(parents=True, exist_ok=True)
    (out / REPORT).write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return told


def summarize(reports: Iterable[SiteReport]) -> dict[str, Any]:
    """How many sites and tasks there were, and what each filter dropped."""
    known = list(reports)
    passed = Counter[str]()
    for one in known:
        passed.update(one.passed)
    dropped = Counter(refusal.filter for one in known for refusal in one.refusals)
    return {
        "sites": len(known),
        "sites_with_tasks": sum(bool(one.kept) for one in known),
        "sites_rejected": dict(Counter(one.rejected for one in known if one.rejected)),
        "pages": sum(one.pages for one in known),
        "functions": sum(one.functions for one in known),
        "proposed": sum(one.proposed for one in known),
        "kept": sum(len(one.kept) for one in known),
        "judged_by_criteria": sum(kept.judged_by == "criteria" for one in known for kept in one.kept),
        "passed_by_filter": {name: passed[name] for name in FILTERS},
        "dropped_by_filter": {name: dropped[name] for name in FILTERS},
    }


def read_task_file(path: Path) -> list[Task]:
    """The tasks of a JSON Lines file. Raises OSError, ValueError with the line."""
    tasks = list[Task]()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                tasks.append(Task.model_validate_json(line))
            except ValidationError as error:
                raise ValueError(f"{path}, line {number}: {error}") from error
    return tasks


def read_replies(path: Path) -> list[str]:
    """The replies of a file of JSON Lines: recorded ones, or a transcript. Raises OSError, ValueError."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    if not all(isinstance(line, dict) and isinstance(line.get("reply"), str) for line in lines):
        raise ValueError(f"{path} has a line without a reply")
    return [line["reply"] for line in lines]


def _tell_site(made: SiteReport) -> dict[str, Any]:
    told = {
        name: value
        for name, value in ((field.name, getattr(made, field.name)) for field in fields(made))
        if name not in ("kept", "refusals")
    }
    kept = [{"id": one.task.id, "judged_by": one.judged_by, "acts": one.acts} for one in made.kept]
    return {**told, "refusals": len(made.refusals), "kept": kept}


def _append(path: Path, rows: Iterable[object]) -> None:
    with path.open("a", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
