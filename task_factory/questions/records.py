"""What making questions passes on and leaves in a folder."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from protocol.base import FrozenModel
from protocol.site_tasks import Site
from protocol.trajectory.tasks import Task
from vm_bridge.suites.questions.composer import Question

TASKS, QUESTIONS, REFUSED, REPORT = "tasks.jsonl", "questions.jsonl", "refused.jsonl", "report.json"


class ReliedPage(FrozenModel):
    """A page that a question relies on, as it was: its digest, and what its rows said, by label."""

    url: str
    title: str
    digest: str
    rows: dict[str, str]


class KeptQuestion(FrozenModel):
    """A question that passed every filter, with its task's id and what it relies on."""

    id: str
    site: Site
    url: str
    """The site's first page."""
    hosts: tuple[str, ...] = ()
    question: Question
    read_at: str
    """When the pages were read (ISO 8601, UTC)."""
    pages: tuple[ReliedPage, ...]


class RefusedQuestion(FrozenModel):
    """A composed question that was not kept."""

    filter: str
    reason: str
    text: str


@dataclass(slots=True)
class QuestionReport:
    """What became of one wiki."""

    source: str
    pages: int = 0
    entities: int = 0
    kinds: dict[str, dict[str, Any]] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    reading_stopped: str = ""
    composed: int = 0
    searches: int = 0
    stopped: str = ""
    """Why fewer questions were kept than wanted: tries, searches; empty where they were not."""
    passed: dict[str, int] = field(default_factory=dict)
    """How many questions every filter let pass, in order."""
    refused: list[RefusedQuestion] = field(default_factory=list)
    kept: list[KeptQuestion] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """The figures, as `report.json` has them."""
        dropped = Counter(one.filter for one in self.refused)
        return {
            "source": self.source,
            "pages": self.pages,
            "pages_left_out": dict(self.left_out),
            "reading_stopped": self.reading_stopped,
            "entities": self.entities,
            "kinds": self.kinds,
            "composed": self.composed,
            "kept": len(self.kept),
            "kept_by_hops": dict(sorted(Counter(len(one.question.hops) - 1 for one in self.kept).items())),
            "stopped": self.stopped,
            "searches": self.searches,
            "passed_by_filter": self.passed,
            "dropped_by_filter": {name: dropped[name] for name in self.passed},
        }


def write_questions(out: Path, made: QuestionReport) -> dict[str, Any]:
    """Write tasks, questions, refused questions and the report; returns the report."""
    out.mkdir(parents=True, exist_ok=True)
    tasks = [json.dumps(one.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False) for one in made.tasks]
    told = made.summary()
    for name, lines in (
        (TASKS, tasks),
        (QUESTIONS, [one.model_dump_json() for one in made.kept]),
        (REFUSED, [one.model_dump_json() for one in made.refused]),
        (REPORT, [json.dumps(told, ensure_ascii=False, indent=1)]),
    ):
        (out / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return told


def read_questions(folder: Path) -> list[KeptQuestion]:
    """The kept questions of a folder. Raises OSError, ValueError with the line."""
    kept = list[KeptQuestion]()
    for number, line in enumerate((folder / QUESTIONS).read_text(encoding="utf-8").splitlines(), 1):
        try:
            kept.append(KeptQuestion.model_validate_json(line))
        except ValidationError as error:
            raise ValueError(f"{folder / QUESTIONS}, line {number}: {error}") from error
    return kept
