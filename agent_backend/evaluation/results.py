"""Computes results from attempts: rates, scores, lengths, pass@k and the scaling curve, by task and by suite. People's
results at the same tasks are the 100 that policies are measured against."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any, NamedTuple

from pydantic import Field, ValidationError

from agent_backend.errors import AgentError
from agent_backend.evaluation.attempts import Attempt, Attempts, TaskKey, summarize_attempt
from agent_backend.trajectory_folders import read_trajectories
from protocol.base import FrozenModel
from protocol.evaluation.records import record_attempt
from protocol.evaluation.reports import (
    CategoryResult,
    PassAt,
    Rate,
    StepLimitResult,
    SuiteResult,
    TaskChange,
    TaskResult,
)
from protocol.evaluation.statistics import mean_interval, measure_spread, pass_at_k, wilson_rate

MIN_EPISODES = 3
"""The fewest own episodes of people at a task that give a baseline."""


class PeopleScore(NamedTuple):
    """The median of people's own episodes at a task."""

    median: float
    points: bool
    """Whether it is in the task's own points; else in the verifier's scores."""


def read_people(folders: Iterable[Path]) -> dict[TaskKey, PeopleScore]:
    """The median of people's own episodes at each task, where there are three or more. Raises InvalidFolder.

    A person's own episode has no step that a policy proposed, and a verifier judged its end.
    """
    episodes: dict[TaskKey, list[Attempt]] = {}
    for _, trajectory in read_trajectories(folders):
        record = record_attempt(trajectory)
        if record.actor == "person" and not record.assisted and record.reward is not None:
            attempt = summarize_attempt(trajectory, {})
            episodes.setdefault(attempt.task, []).append(attempt)
    return {task: _people_score(tries) for task, tries in episodes.items() if len(tries) >= MIN_EPISODES}


def human_percent(attempts: Sequence[Attempt], people: Mapping[TaskKey, PeopleScore]) -> float | None:
    """100 times the mean over people's median. None if people's median is unknown or not above 0, or an attempt's score
    is unknown."""
    reference = people.get(attempts[0].task)
    if reference is None or reference.median <= 0:
        return None
    values = [each.points if reference.points else each.score for each in attempts]
    known = [value for value in values if value is not None]
    return 100 * fmean(known) / reference.median if len(known) == len(values) else None


def _people_score(attempts: Sequence[Attempt]) -> PeopleScore:
    """People's score, in points if every attempt has points."""
    points = [attempt.points for attempt in attempts if attempt.points is not None]
    if len(points) == len(attempts):
        return PeopleScore(median(points), points=True)
    return PeopleScore(median(each.score for each in attempts if each.score is not None), points=False)


class InvalidReferences(AgentError):
    """A folder of references has none, or one that is not a pair of scores."""

    code = "references_unreadable"


class ReferenceScore(FrozenModel):
    """The reference of a task's normalised score."""

    kind: str = "expert"
    score: float = Field(allow_inf_nan=False)
    random: float = Field(allow_inf_nan=False)

    def normalised(self, score: float) -> float | None:
        """0: like random acts; 1: like the reference; may lie outside. None if the reference is not above the random
        score."""
        return None if self.score <= self.random else (score - self.random) / (self.score - self.random)


ReferenceScores = dict[tuple[str, str], ReferenceScore]
"""By suite and name."""


def read_references(folder: Path) -> ReferenceScores:
    """The references in SUITE/NAME/manifest.json; tasks whose manifest has none are left out. Raises
    InvalidReferences."""
    references: ReferenceScores = {}
    for path in sorted(folder.glob("*/*/manifest.json")):
        try:
            found = json.loads(path.read_bytes()).get("reference")
            if found is not None:
                references[path.parts[-3], path.parts[-2]] = ReferenceScore.model_validate(found)
        except (ValidationError, ValueError, AttributeError) as error:
            raise InvalidReferences(f"{path}: {error}") from None
    if not references:
        raise InvalidReferences(f"{folder} has no SUITE/NAME/manifest.json with a reference")
    return references


@dataclass(frozen=True, slots=True)
class Baselines:
    """The baselines of scores: scripted experts, and people."""

    references: Mapping[tuple[str, str], ReferenceScore] = field(default_factory=dict)
    people: Mapping[TaskKey, PeopleScore] = field(default_factory=dict)


NO_BASELINES = Baselines()


def read_baselines(references: Path | None, people: Sequence[Path] | None) -> Baselines:
    """Read the requested baselines. Raises InvalidReferences and InvalidFolder."""
    return Baselines(
        references=read_references(references) if references is not None else {},
        people=read_people(people) if people else {},
    )


def task_results(attempts: Attempts, baselines: Baselines) -> tuple[TaskResult, ...]:
    """The result of each task, in order of suite, name and level."""
    return tuple(
        TaskResult(suite=task.suite, name=task.name, level=task.level, **_result((tries,), baselines))
        for task, tries in attempts.by_task().items()
    )


def suite_results(attempts: Attempts, baselines: Baselines) -> tuple[SuiteResult, ...]:
    """The result of each suite."""
    suites: dict[str, list[list[Attempt]]] = {}
    for task, tries in attempts.by_task().items():
        suites.setdefault(task.suite, []).append(tries)
    return tuple(
        SuiteResult(
            suite=suite,
            tasks=measure_spread([_rate(tries).rate for tries in tasks]),
            runs=measure_spread([_rate(run).rate for run in zip(*tasks, strict=False)]),
            **_result(tasks, baselines),
        )
        for suite, tasks in suites.items()
    )


def category_results(attempts: Attempts, baselines: Baselines) -> tuple[CategoryResult, ...]:
    """The result of each category, in order of their names."""
    categories: dict[str, list[list[Attempt]]] = {}
    for tries in attempts.by_task().values():
        categories.setdefault(tries[0].category, []).append(tries)
    return tuple(
        CategoryResult(
            category=category,
            tasks=measure_spread([_rate(tries).rate for tries in tasks]),
            **_result(tasks, baselines),
        )
        for category, tasks in sorted(categories.items())
    )


def _rate(tries: Sequence[Attempt]) -> Rate:
    return wilson_rate(sum(attempt.success for attempt in tries), len(tries))


def _result(tasks: Sequence[Sequence[Attempt]], baselines: Baselines) -> dict[str, Any]:
    """The fields of `Result`, over the attempts at these tasks."""
    tries = [attempt for task in tasks for attempt in task]
    steps = sum(attempt.steps for attempt in tries)
    replies = sum(attempt.replies for attempt in tries)
    normalised = [value for attempt in tries if (value := _normalised(attempt, baselines.references)) is not None]
    scores = [attempt.score for attempt in tries if attempt.score is not None]
    points = [attempt.points for attempt in tries if attempt.points is not None]
    low, high = mean_interval(scores) or (None, None)
    return {
        "successes": _rate(tries),
        "score": _mean(scores),
        "score_low": None if low is None else max(0.0, low),
        "score_high": None if high is None else min(1.0, high),
        "points": _mean(points) if len(points) == len(tries) else None,
        "human": _mean([value for task in tasks if (value := human_percent(task, baselines.people)) is not None]),
        "normalised": _mean(normalised),
        "normalised_attempts": len(normalised),
        "steps": steps / len(tries),
        "steps_of_successes": _mean([attempt.steps for attempt in tries if attempt.success]),
        "think_characters": sum(attempt.think_characters for attempt in tries) / steps if steps else 0,
        "reply_tokens": sum(attempt.reply_tokens for attempt in tries) / replies if replies else None,
        "pass_at": _pass_at_rates(tasks),
        "scaling": tuple(
            _result_within(tries, bound) for bound in powers_of_two(max(attempt.steps for attempt in tries))
        ),
    }


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _normalised(attempt: Attempt, references: Mapping[tuple[str, str], ReferenceScore]) -> float | None:
    reference = references.get(attempt.task[:2])
    return None if reference is None or attempt.score is None else reference.normalised(attempt.score)


def powers_of_two(most: int) -> tuple[int, ...]:
    """1, 2, 4, … and `most` itself; nothing below 1."""
    powers = [1 << power for power in range(most.bit_length()) if 1 << power < most]
    return (*powers, most) if most > 0 else ()


def _pass_at_rates(tasks: Sequence[Sequence[Attempt]]) -> tuple[PassAt, ...]:
    found = []
    for k in powers_of_two(max(len(tries) for tries in tasks)):
        enough = [tries for tries in tasks if len(tries) >= k]
        rates = [pass_at_k(sum(attempt.success for attempt in tries), len(tries), k) for tries in enough]
        found.append(PassAt(k=k, tasks=len(enough), rate=fmean(rates)))
    return tuple(found)


def _result_within(tries: Sequence[Attempt], bound: int) -> StepLimitResult:
    """The result of the same attempts if they were stopped after `bound` steps. No prompt contains the number of
    allowed steps, so the first steps would be the same."""
    scores = [_score_after(attempt, bound) for attempt in tries]
    known = [score for score in scores if score is not None]
    return StepLimitResult(
        steps=bound,
        successes=wilson_rate(sum(attempt.success and attempt.steps <= bound for attempt in tries), len(tries)),
        score=fmean(known) if len(known) == len(tries) else None,
        cut_off=sum(attempt.truncated and not attempt.success and attempt.steps < bound for attempt in tries),
    )


def _score_after(attempt: Attempt, bound: int) -> float | None:
    """The verifier's score of an attempt that had ended by then, else the last score of its page, clipped to 0 to 1."""
    if attempt.steps <= bound:
        return attempt.score
    page_scores = [score for score in attempt.scores[:bound] if score is not None]
    return min(1.0, max(0.0, page_scores[-1])) if page_scores else None


def task_label(task: TaskResult | TaskChange) -> str:
    """A task's name for people."""
    return str(TaskKey(task.suite, task.name, task.level))
