"""The reading stages: which trajectories are new, what is known of them, their values, and their routes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet, Sum

from annotation_app.catalogue.models import Entry
from annotation_app.catalogue.schemas import Query
from annotation_app.catalogue.selectors import entries_matching, exportable_entries
from annotation_app.catalogue.services import entries_refresh
from annotation_app.episodes.models import Episode
from annotation_app.errors import Conflict
from annotation_app.flywheel.models import Played, Sample, Turn, Wheel
from annotation_app.flywheel.programs import TurnCancelled
from annotation_app.flywheel.recipe import Recipe
from annotation_app.flywheel.sample_rules import Grounds, RoutingInput, decide_route, is_worth_playing, value_of
from annotation_app.flywheel.selectors.people import people_counts
from annotation_app.flywheel.selectors.pools import pools_of, turn_pools
from annotation_app.flywheel.selectors.trials import held_out_episodes
from annotation_app.flywheel.selectors.turns import own_active
from annotation_app.flywheel.services.ledger import turn_running
from annotation_app.flywheel.services.pool_tasks import played_pool
from annotation_app.flywheel.services.replay_requests import checks_request, judgements_request
from annotation_app.judges.models import Judgement
from annotation_app.policies.selectors import evaluated_kinds
from annotation_app.reviews.models import Job, JobKind, JobState
from annotation_app.reviews.selectors.jobs import episodes_to_compare
from annotation_app.tasks.models import Tally

BATCH_SIZE = 500


def collect(turn: Turn) -> dict[str, Any]:
    """Collect finished trajectories of the flywheel's pools that it has not collected yet."""
    entries_refresh()
    Sample.objects.filter(wheel=turn.wheel_id, route="").update(turn=turn)  # of cycles that ended before routing them
    room = max(0, turn.recipe.most - _samples(turn).count())
    new = _new_entries(turn.wheel, turn.recipe).order_by("created_at", "episode_id")
    for batch in _batches(new.values_list("episode_id", flat=True)[:room]):
        rows = [Sample(wheel=turn.wheel, turn=turn, episode=episode) for episode in batch]
        Sample.objects.bulk_create(rows, ignore_conflicts=True)
    return {"samples": _samples(turn).count(), "people": people_counts(turn)}


def is_enough(wheel: Wheel) -> bool:
    """Whether a scheduled cycle would collect as many as the recipe requires. Also True if one of its pools is gone:
    the cycle then fails with that error."""
    with suppress(Conflict):
        return _has_enough(wheel)
    return True


def _has_enough(wheel: Wheel) -> bool:
    left = Sample.objects.filter(wheel=wheel, route="").count()
    wanted = max(0, wheel.recipe.least - left)
    return _new_entries(wheel, wheel.recipe)[:wanted].count() == wanted


def check(turn: Turn) -> dict[str, Any]:
    """Check whether acts can be replayed, with the same check as in reviews, and find near-duplicates of older
    attempts."""
    unchecked: tuple[str, ...] = ()
    if turn.recipe.replay:
        known = _executable([sample.episode for sample in _samples(turn)])
        unknown = [sample.episode for sample in _samples(turn) if sample.episode not in known]
        unchecked = checks_request(turn_id=turn.pk, user=turn.requested_by, episodes=unknown)
    executable_by_episode = _executable([sample.episode for sample in _samples(turn)])
    duplicates = _duplicates(turn)
    for batch in _batches(_samples(turn)):
        for sample in batch:
            sample.executable, sample.duplicate_of = (
                executable_by_episode.get(sample.episode),
                duplicates.get(sample.episode),
            )
        Sample.objects.bulk_update(batch, ["executable", "duplicate_of"])
    counted = Counter(executable_by_episode.values())
    return {
        "executable": counted[True],
        "not_executable": counted[False],
        "duplicates": len(duplicates),
        "unchecked": ", ".join(unchecked),
    }


def value(turn: Turn) -> dict[str, Any]:
    """Compute the value of each sample, with all verdicts on it."""
    if turn.recipe.judge:
        for pool in turn_pools(turn):
            judgements_request(turn_id=turn.pk, user=turn.requested_by, pool_id=pool.pk)
    counted: Counter[str] = Counter()
    for batch in _batches(_samples(turn)):
        grounds = _grounds([sample.episode for sample in batch])
        for sample in batch:
            sample.grounds = grounds.get(sample.episode, Grounds())
            found = value_of(sample.grounds)
            sample.value, sample.valued_by, sample.contested = found.value, found.by, found.contested
            counted[found.by] += 1
        Sample.objects.bulk_update(batch, ["grounds", "value", "valued_by", "contested"])
    return {"by": dict(counted)}


def route(turn: Turn) -> dict[str, Any]:
    """Choose the route of each sample, and the kinds of task that reinforcement plays."""
    counted: Counter[str] = Counter()
    for batch in _batches(_samples(turn)):
        ids = [sample.episode for sample in batch]
        there = set(entries_matching(Query()).filter(episode_id__in=ids).values_list("episode_id", flat=True))
        tried = held_out_episodes(turn, ids)
        for sample in batch:
            subject = RoutingInput(
                value=sample.value,
                turned_down=sample.valued_by == "review" and sample.value == 0,
                executable=sample.executable,
                duplicate=sample.duplicate_of is not None,
                held_out=sample.episode in tried,
                withdrawn=sample.episode not in there,
            )
            routed = decide_route(subject, passes=turn.recipe.passes)
            sample.route, sample.reason = routed.route, routed.reason
            counted[routed.route] += 1
        Sample.objects.bulk_update(batch, ["route", "reason"])
    return {"routes": dict(counted), "playing": _choose_kinds_to_play(turn)}


def _new_entries(wheel: Wheel, recipe: Recipe) -> QuerySet[Entry]:
    """Complete episodes of the recipe's pools that this flywheel has not collected."""
    asked = Query(review="accepted" if recipe.accepted_only else None)
    taken = Sample.objects.filter(wheel=wheel, episode=OuterRef("episode_id"))
    return exportable_entries(asked).filter(~Exists(taken), pool__in=pools_of(wheel, recipe))


def _samples(turn: Turn) -> QuerySet[Sample]:
    return Sample.objects.filter(turn=turn).order_by("id")


def _batches(found: Iterable[Any]) -> Iterable[list[Any]]:
    rows = iter(found)
    while batch := list(islice(rows, BATCH_SIZE)):
        yield batch


def _executable(episodes: Sequence[UUID]) -> dict[UUID, bool]:
    """The result of the newest finished check of each."""
    found = Job.objects.filter(kind=JobKind.CHECK, status=JobState.DONE, episode_id__in=episodes, report__isnull=False)
    return {
        job.episode_id: job.report.executable
        for job in found.order_by("created_at")
        if job.episode_id is not None and job.report is not None
    }


def _duplicates(turn: Turn) -> dict[UUID, UUID]:
    """Samples that are near-duplicates of an older attempt at the same task, each with that attempt. Tasks that differ
    in seed count as different, because their similarities are what should be learned."""
    from annotation_app.reviews.duplicates import (  # imports numpy, which no other program needs
        find_duplicates,
    )

    pairs: list[tuple[UUID, UUID]] = []
    for pool in turn_pools(turn):
        found_there = find_duplicates(
            episodes_to_compare(pool_id=pool.pk), should_continue=lambda _: turn_running(turn_id=turn.pk)
        )
        if found_there is None:
            raise TurnCancelled
        pairs += ((pair.one, pair.other) for pair in found_there)
    mine = {sample.episode for sample in _samples(turn)}
    found: dict[UUID, UUID] = {}
    for one, other in pairs:
        if other in mine and other not in found and _task_of(one) == _task_of(other):
            found[other] = one
    return found


def _task_of(episode: UUID) -> tuple[object, ...]:
    task = Episode.objects.select_related("task").get(pk=episode).task.definition
    return task.instruction, task.suite, task.name, task.seed


def _grounds(episodes: Sequence[UUID]) -> dict[UUID, Grounds]:
    """All verdicts on each. Of models, the newest that gave one counts."""
    scores: dict[UUID, float] = {}
    said = Judgement.objects.filter(episode_id__in=episodes, score__isnull=False).exclude(judge__kind="verifier")
    for episode, score in said.order_by("judge_id").values_list("episode_id", "score"):
        if score is not None:
            scores[episode] = score
    return {
        episode.pk: Grounds.model_validate(
            {
                "review": episode.review,
                "verifier": episode.desk.verdict.success if episode.desk.verdict else None,
                "outcome": episode.outcome,
                "judge": scores.get(episode.pk),
            }
        )
        for episode in Episode.objects.filter(pk__in=episodes)
    }


@transaction.atomic
def _choose_kinds_to_play(turn: Turn) -> list[str]:
    """Record the active revision's results at each kind of task, and which of these are worth playing."""
    rule = turn.recipe.rl
    if rule is None:
        return []
    rates = _rates(turn)
    Played.objects.filter(turn=turn).delete()
    rows = [
        Played(
            turn=turn,
            kind=kind,
            succeeded=succeeded,
            attempts=attempts,
            chosen=is_worth_playing(rule, succeeded=succeeded, attempts=attempts),
        )
        for kind, (succeeded, attempts) in sorted(rates.items())
    ]
    Played.objects.bulk_create(rows)
    return [row.kind for row in rows if row.chosen]


def _rates(turn: Turn) -> Mapping[str, tuple[int, int]]:
    """The active revision's successes and attempts by kind: its imported attempts in this cycle without human help,
    those counted from annotation, also in the pool that is played, and those of the last evaluation."""
    rates: defaultdict[str, tuple[int, int]] = defaultdict(lambda: (0, 0))

    def add(kind: str, succeeded: int, attempts: int) -> None:
        rates[kind] = rates[kind][0] + succeeded, rates[kind][1] + attempts

    ids = [sample.episode for sample in _samples(turn)]
    alone = entries_matching(Query()).filter(decisions=["auto"], episode__source__isnull=False, episode_id__in=ids)
    values = dict(Sample.objects.filter(turn=turn, value__isnull=False).values_list("episode", "value"))
    for episode, kind, policies in alone.values_list("episode_id", "kind", "policies"):
        worth = values.get(episode)
        if worth is not None and policies and all(_is_of(turn, label) for label in policies):
            add(kind, int(worth >= turn.recipe.passes), 1)
    pools = {*turn_pools(turn), played_pool(turn.recipe, turn.wheel.pool)} - {None}
    tallies = Tally.objects.filter(pool__in=pools, revision=own_active(turn)).values_list("kind")
    for kind, succeeded, failed in tallies.annotate(Sum("succeeded"), Sum("failed")):
        add(kind, succeeded, succeeded + failed)
    for kind, (succeeded, attempts) in evaluated_kinds(own_active(turn)).items():
        add(kind, succeeded, attempts)
    return rates


def _is_of(turn: Turn, label: str) -> bool:
    """Whether this is the active revision's label. If no revision of the flywheel's policy is active, any label of that
    policy matches."""
    active = own_active(turn)
    return label == str(active) if active else label.startswith(f"{turn.recipe.policy} ")
