"""What people come to at tasks, by themselves: the 100 that policies are measured against."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from agent_backend.evaluation.attempts import Attempt, TaskKey, summarize_attempt
from agent_backend.trajectory_folders import read_trajectories
from protocol.evaluation.records import record_attempt

MIN_EPISODES = 3
"""Fewer of people's own episodes at a task say nothing of people."""


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
    """100 times the mean over people's median. None where people's is not known or not above 0, or an attempt's is not
    known."""
    reference = people.get(attempts[0].task)
    if reference is None or reference.median <= 0:
        return None
    values = [each.points if reference.points else each.score for each in attempts]
    known = [value for value in values if value is not None]
    return 100 * fmean(known) / reference.median if len(known) == len(values) else None


def _people_score(attempts: Sequence[Attempt]) -> PeopleScore:
    """In points where every attempt has some."""
    points = [attempt.points for attempt in attempts if attempt.points is not None]
    if len(points) == len(attempts):
        return PeopleScore(median(points), points=True)
    return PeopleScore(median(each.score for each in attempts if each.score is not None), points=False)
