"""How far people agree: over the attempts several made at one task, the verdicts several gave, and gold tasks."""

from collections import defaultdict
from collections.abc import Collection
from itertools import combinations
from statistics import fmean
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, F, Max, QuerySet

from annotation_app.accounts.models import User
from annotation_app.episodes.models import Episode, Review
from annotation_app.episodes.models import Step as StepRow
from annotation_app.episodes.selectors import NO_EPISODE
from annotation_app.errors import Conflict, NotFound
from annotation_app.reviews.models import Adjudication, Cut, Remark
from annotation_app.reviews.schemas import Agreement, GoldScore, SideBySide, TaskAgreement
from annotation_app.reviews.selectors.opinions import decision_agreement
from annotation_app.reviews.selectors.queue import review_reader_check
from annotation_app.reviews.selectors.shared_tasks import attempt_rows
from protocol.evaluation.agreement import align_steps, krippendorff_alpha, step_agreement
from protocol.trajectory.steps import Step

TASKS = 100
"""Tasks that are compared for one answer: the last ones that several people did."""
PEOPLE = 6
"""People whose attempts at one task are compared, each with each: those who did it last."""
JUDGED = 20_000
"""Steps that several reviewers judged which make up alpha: the last ones."""
GOLD = 500
"""Attempts at gold tasks that are scored: the last ones."""


def agreement(*, user: User, pool_id: int | None = None) -> Agreement:
    """How far people agree, in one pool or in all. Raises Forbidden."""
    review_reader_check(user)
    units = _verdicts(pool_id)
    tasks = _tasks(pool_id)
    return Agreement(
        decisions=decision_agreement(pool_id),
        alpha=krippendorff_alpha(units),
        steps_judged_together=len(units),
        mean_agreement=fmean(task.agreement for task in tasks) if tasks else None,
        tasks=tuple(sorted(tasks, key=lambda task: task.agreement)),
        gold=_gold(pool_id),
    )


def comparison(*, user: User, one: UUID, other: UUID) -> SideBySide:
    """Two attempts at one task beside each other. Raises Forbidden, NotFound, and Conflict where they are at two
    tasks, or one is not finished."""
    review_reader_check(user)
    found = Episode.objects.select_related("task").in_bulk([one, other])
    if len(found) < 2:
        raise NotFound(NO_EPISODE)
    left, right = found[one], found[other]
    if left.task_id != right.task_id:
        raise Conflict("These are attempts at two tasks.", code="two_tasks")
    if {left.status, right.status} != {"finished"}:
        raise Conflict("Only finished attempts are compared.", code="episode_running")
    counted = counting_steps([one, other])
    steps, beside = counted[one], counted[other]
    pairs = align_steps(steps, beside)
    sides = {side.episode.id: side for side in attempt_rows([one, other])}
    ruling = Adjudication.objects.select_related("adjudicator").filter(task_id=left.task_id).first()
    return SideBySide(
        task=left.task_id,
        one=sides[one],
        other=sides[other],
        pairs=pairs,
        divergence=next((place for place, pair in enumerate(pairs) if not pair.same), None),
        agreement=step_agreement(steps, beside),
        chosen=ruling.chosen_id if ruling else None,
        reason=ruling.reason if ruling else "",
        adjudicator=ruling.adjudicator.name if ruling else "",
    )


def counting_steps(ids: Collection[UUID]) -> dict[UUID, tuple[Step, ...]]:
    """The steps of each of these episodes that count, as they were executed: nothing taken back, nothing cut away."""
    cuts = Cut.objects.filter(episode__in=ids, undone_at__isnull=True).order_by("revision")
    parts = {cut.episode_id: cut.segments for cut in cuts}
    found: dict[UUID, list[Step]] = {key: [] for key in ids}
    for row in StepRow.objects.filter(episode__in=ids, undoing__isnull=True).order_by("index"):
        segments = parts.get(row.episode_id, ())
        if not segments or any(part.first <= row.index <= part.last for part in segments):
            found[row.episode_id].append(row.document)
    return {key: tuple(steps) for key, steps in found.items()}


def _verdicts(pool_id: int | None) -> list[list[str]]:
    """For each step that several reviewers judged, what each of them called it last."""
    remarks = Remark.objects.exclude(verdict="")
    if pool_id is not None:
        remarks = remarks.filter(episode__task__pool_id=pool_id)
    by_step = remarks.order_by().values("episode", "index").annotate(people=Count("reviewer", distinct=True))
    units = by_step.filter(people__gt=1).annotate(
        reviewers=ArrayAgg("reviewer", order_by=("round", "id")),
        verdicts=ArrayAgg("verdict", order_by=("round", "id")),
        last=Max("id"),
    )
    rows = units.order_by("-last").values_list("reviewers", "verdicts")[:JUDGED]
    return [list(dict(zip(reviewers, verdicts, strict=True)).values()) for reviewers, verdicts in rows]


def _finished(pool_id: int | None) -> QuerySet[Episode]:
    """Finished work that was not sent back."""
    found = Episode.objects.filter(status="finished", task__pool__practice=False).exclude(review=Review.RETURNED)
    return found if pool_id is None else found.filter(task__pool_id=pool_id)


def _tasks(pool_id: int | None) -> list[TaskAgreement]:
    """The tasks that several people did last, and how far the two attempts at each that are furthest apart agree."""
    # Few tasks are done more than once; to count the people of each takes a second among fifty thousand.
    again = _finished(pool_id).filter(task__done__gt=1).order_by()
    by_task = again.values("task").annotate(people=Count("annotator", distinct=True))
    several = list(by_task.filter(people__gt=1).order_by("-task").values_list("task", flat=True)[:TASKS])
    ruled = set(Adjudication.objects.filter(task__in=several).values_list("task", flat=True))
    latest: defaultdict[int, dict[int, Episode]] = defaultdict(dict)
    rows = _finished(None).filter(task__in=several).select_related("task__pool", "annotator")
    for row in rows.order_by("-created_at"):
        people = latest[row.task_id]
        if len(people) < PEOPLE:
            people.setdefault(row.annotator_id, row)
    steps = counting_steps([row.pk for people in latest.values() for row in people.values()])
    return [_furthest(list(people.values()), steps, ruled) for people in latest.values() if len(people) > 1]


def _furthest(attempts: list[Episode], steps: dict[UUID, tuple[Step, ...]], ruled: set[int]) -> TaskAgreement:
    shares = {(one, other): step_agreement(steps[one.pk], steps[other.pk]) for one, other in combinations(attempts, 2)}
    worst = min(shares, key=shares.__getitem__)
    row, pair = attempts[0], (*worst, *(row for row in attempts if row not in worst))
    return TaskAgreement(
        task=row.task_id,
        instruction=row.task.definition.instruction,
        pool=row.task.pool.name,
        episodes=tuple(row.pk for row in pair),
        annotators=tuple(row.annotator.name for row in pair),
        agreement=shares[worst],
        outcomes_agree=len({row.outcome for row in attempts}) == 1,
        adjudicated=row.task_id in ruled,
    )


def _gold(pool_id: int | None) -> tuple[GoldScore, ...]:
    """How each person did at tasks whose right way is known, the reference's own maker left out."""
    found = Episode.objects.filter(status="finished", task__gold__isnull=False).exclude(
        annotator=F("task__gold__annotator")
    )
    if pool_id is not None:
        found = found.filter(task__pool_id=pool_id)
    rows = list(found.select_related("annotator", "task__gold").order_by("-created_at")[:GOLD])
    steps = counting_steps({key for row in rows for key in (row.pk, row.task.gold_id) if key is not None})
    scores: defaultdict[User, list[tuple[float, bool]]] = defaultdict(list)
    for row in rows:
        if (reference := row.task.gold) is not None:
            share = step_agreement(steps[row.pk], steps[reference.pk])
            scores[row.annotator].append((share, row.outcome == reference.outcome))
    return tuple(
        GoldScore(
            annotator=person.name,
            episodes=len(made),
            agreement=fmean(score for score, _ in made),
            outcomes=fmean(ended for _, ended in made),
        )
        for person, made in sorted(scores.items(), key=lambda score: score[0].name)
    )
