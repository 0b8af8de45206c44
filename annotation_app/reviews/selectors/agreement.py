"""How far people agree: over the attempts several made at one task, the verdicts several gave, and gold tasks."""

from collections import defaultdict
from itertools import combinations
from statistics import fmean
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from annotation_app.accounts.models import User
from annotation_app.episodes.models import Episode, Review
from annotation_app.episodes.selectors import NO_EPISODE, episode_summaries, steps_of
from annotation_app.errors import Conflict, NotFound
from annotation_app.reviews.models import Adjudication, Remark
from annotation_app.reviews.schemas import Agreement, Attempt, GoldScore, SideBySide, TaskAgreement
from annotation_app.reviews.selectors.queue import readers_check
from annotation_app.reviews.selectors.views import reviews_of
from annotation_app.tasks.models import Task
from vocabulary.agreement import aligned, alpha, step_agreement
from vocabulary.steps import Step, policies_of, standing

TASKS = 100
"""Tasks that are compared for one answer: those finished last."""


def agreement(*, user: User, pool_id: int | None = None) -> Agreement:
    """How far people agree, in one pool or in all. Raises Forbidden."""
    readers_check(user)
    units = _verdicts(pool_id)
    tasks = tuple(filter(None, map(_task_agreement, _tasks_done_twice(pool_id))))
    return Agreement(
        alpha=alpha(units),
        steps_judged_together=sum(len(unit) > 1 for unit in units),
        mean_agreement=fmean(task.agreement for task in tasks) if tasks else None,
        tasks=tuple(sorted(tasks, key=lambda task: task.agreement)),
        gold=_gold(pool_id),
    )


def comparison(*, user: User, one: UUID, other: UUID) -> SideBySide:
    """Two attempts at one task beside each other. Raises Forbidden, NotFound, and Conflict where they are at two
    tasks, or one is not finished."""
    readers_check(user)
    found = Episode.objects.select_related("task").in_bulk([one, other])
    if len(found) < 2:
        raise NotFound(NO_EPISODE)
    left, right = found[one], found[other]
    if left.task_id != right.task_id:
        raise Conflict("These are attempts at two tasks.", code="two_tasks")
    if {left.status, right.status} != {"finished"}:
        raise Conflict("Only finished attempts are compared.", code="episode_running")
    steps, beside = counting_steps(left), counting_steps(right)
    pairs = aligned(steps, beside)
    ruling = Adjudication.objects.select_related("adjudicator").filter(task_id=left.task_id).first()
    return SideBySide(
        task=left.task_id,
        one=_attempt(left, steps),
        other=_attempt(right, beside),
        pairs=pairs,
        divergence=next((place for place, pair in enumerate(pairs) if not pair.same), None),
        agreement=step_agreement(steps, beside),
        chosen=ruling.chosen_id if ruling else None,
        reason=ruling.reason if ruling else "",
        adjudicator=ruling.adjudicator.name if ruling else "",
    )


def counting_steps(episode: Episode) -> tuple[Step, ...]:
    """The steps that count as they were executed: nothing taken back, nothing cut away."""
    reviewed = reviews_of([episode.pk]).get(episode.pk)
    parts = reviewed.segments if reviewed else ()
    return tuple(
        step
        for step in standing(steps_of(episode))
        if not parts or any(part.first <= step.index <= part.last for part in parts)
    )


def _attempt(episode: Episode, steps: tuple[Step, ...]) -> Attempt:
    (summary,) = episode_summaries(ids=[episode.pk])
    return Attempt(episode=summary, policies=tuple(f"{policy.name} {policy.revision}" for policy in policies_of(steps)))


def _verdicts(pool_id: int | None) -> list[list[str]]:
    """For each step, what each reviewer called it last."""
    said = Remark.objects.exclude(verdict="").order_by("round", "id")
    if pool_id is not None:
        said = said.filter(episode__task__pool_id=pool_id)
    by_step: defaultdict[tuple[UUID, int], dict[int, str]] = defaultdict(dict)
    for episode, index, reviewer, verdict in said.values_list("episode_id", "index", "reviewer_id", "verdict"):
        by_step[episode, index][reviewer] = verdict
    return [list(verdicts.values()) for verdicts in by_step.values()]


def _finished(pool_id: int | None) -> QuerySet[Episode]:
    """What people did and nobody sent back."""
    found = Episode.objects.filter(status="finished", task__pool__practice=False).exclude(review=Review.RETURNED)
    return found if pool_id is None else found.filter(task__pool_id=pool_id)


def _tasks_done_twice(pool_id: int | None) -> list[int]:
    by_task = _finished(pool_id).order_by().values("task").annotate(people=Count("annotator", distinct=True))
    return list(by_task.filter(people__gt=1).order_by("-task").values_list("task", flat=True)[:TASKS])


def _task_agreement(task_id: int) -> TaskAgreement | None:
    """How far the two attempts furthest apart agree; the last one of each person counts."""
    rows = _finished(None).filter(task_id=task_id).select_related("task__pool", "annotator").order_by("created_at")
    latest = {row.annotator_id: row for row in rows}
    if len(latest) < 2:
        return None
    attempts = list(latest.values())
    steps = {row.pk: counting_steps(row) for row in attempts}
    worst = min(combinations(attempts, 2), key=lambda pair: step_agreement(steps[pair[0].pk], steps[pair[1].pk]))
    pair = (*worst, *(row for row in attempts if row not in worst))
    return TaskAgreement(
        task=task_id,
        instruction=attempts[0].task.definition.instruction,
        pool=attempts[0].task.pool.name,
        episodes=tuple(row.pk for row in pair),
        annotators=tuple(row.annotator.username for row in pair),
        agreement=step_agreement(steps[worst[0].pk], steps[worst[1].pk]),
        outcomes_agree=len({row.outcome for row in attempts}) == 1,
        adjudicated=Adjudication.objects.filter(task_id=task_id).exists(),
    )


def _gold(pool_id: int | None) -> tuple[GoldScore, ...]:
    """How each person did at tasks whose right way is known, the reference's own maker left out."""
    tasks = Task.objects.filter(gold__isnull=False).select_related("gold__task")
    if pool_id is not None:
        tasks = tasks.filter(pool_id=pool_id)
    scores: defaultdict[str, list[tuple[float, bool]]] = defaultdict(list)
    for task in tasks:
        reference = task.gold
        if reference is None:
            continue
        right = counting_steps(reference)
        attempts = Episode.objects.filter(Q(task=task) & ~Q(pk=reference.pk), status="finished")
        for row in attempts.exclude(annotator_id=reference.annotator_id).select_related("annotator"):
            same_end = row.outcome == reference.outcome
            scores[row.annotator.username].append((step_agreement(counting_steps(row), right), same_end))
    return tuple(
        GoldScore(
            annotator=name,
            episodes=len(found),
            agreement=fmean(score for score, _ in found),
            outcomes=fmean(ended for _, ended in found),
        )
        for name, found in sorted(scores.items())
    )
