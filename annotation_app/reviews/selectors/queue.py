"""What waits for a reviewer, oldest first."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.episodes.models import Episode, Review
from annotation_app.episodes.selectors import episode_summaries
from annotation_app.errors import Forbidden, Invalid
from annotation_app.reviews.models import Claim, Opinion, Round
from annotation_app.reviews.schemas import ClaimOut, QueueItem, ReviewQueue
from annotation_app.reviews.selectors.opinions import INDEPENDENT, has_opinion
from annotation_app.tasks.models import Pool, ReviewMode
from annotation_app.tasks.selectors import review_wanted
from protocol.base import FrozenModel

PAGE_SIZE = 50
MAX_COUNTED = 1_000
"""Above this number the total is not counted, because counting reads every row."""
RECORDED = Q(source__head__contains='"origin":"recording"')
"""Of episodes: they are sessions of the recorder."""
Direction = Literal["next", "previous"]


class QueueFilters(FrozenModel):
    """What the queue is narrowed to; `returned`: only what comes back after it was sent back."""

    pool: int | None = None
    annotator: str | None = None
    outcome: str | None = None
    returned: bool = False


def review_reader_check(user: User) -> None:
    """Raises Forbidden for a person who may not read reviews."""
    if not user.has_role(Role.REVIEWER, Role.ADMIN, Role.RESEARCHER):
        raise Forbidden("Only reviewers see this.")


def reviewable_by(user: User, filters: QueueFilters) -> QuerySet[Episode]:
    """Finished episodes that wait for a decision of this person's: none of them their own, and none that they have
    decided and another reviewer has not. Of a pool that has a sample reviewed, only those in the sample."""
    wanted = Q(status="finished", review=Review.PENDING, task__pool__practice=False, withdrawal__isnull=True)
    if filters.pool is not None:
        wanted &= Q(task__pool_id=filters.pool)
    if filters.annotator:
        wanted &= Q(annotator__username=filters.annotator) | Q(annotator__first_name__iexact=filters.annotator)
    if filters.outcome:
        wanted &= Q(outcome=filters.outcome)
    if filters.returned:
        wanted &= Exists(Episode.objects.filter(_before(), review=Review.RETURNED)) | Exists(
            Round.objects.filter(episode=OuterRef("pk"))
        )
    found = Episode.objects.filter(wanted).exclude(annotator=user).exclude(has_opinion(user))
    return found.filter(Q(task__pool__review_mode=ReviewMode.ALL) | Q(pk__in=_sampled(found)))


def _before() -> Q:
    return Q(task=OuterRef("task"), annotator=OuterRef("annotator"), created_at__lt=OuterRef("created_at"))


def _sampled(found: QuerySet[Episode]) -> list[UUID]:
    pools = {pool.pk: pool for pool in Pool.objects.filter(review_mode=ReviewMode.SAMPLE)}
    rows = found.filter(task__pool__in=pools).values_list("pk", "task__pool_id")
    return [episode for episode, pool in rows if review_wanted(pools[pool], episode)]


def unclaimed_for(user: User, waiting: QuerySet[Episode]) -> QuerySet[Episode]:
    """Episodes that no other reviewer has claimed."""
    taken = Claim.objects.filter(episode=OuterRef("pk"), until__gt=timezone.now()).exclude(reviewer=user)
    return waiting.filter(~Exists(taken))


def review_queue(*, user: User, filters: QueueFilters, after: str | None = None) -> ReviewQueue:
    """A page of the queue. Raises Forbidden, and Invalid for an invalid cursor."""
    review_reader_check(user)
    waiting = reviewable_by(user, filters)
    counted = waiting.order_by()[: MAX_COUNTED + 1].count()
    if after is not None:
        moment, key = _place(after)
        waiting = waiting.filter(Q(finished_at__gt=moment) | Q(finished_at=moment, id__gt=key))
    rows = list(waiting.order_by("finished_at", "id").values_list("pk", "finished_at")[: PAGE_SIZE + 1])
    page_ids = [key for key, _ in rows[:PAGE_SIZE]]
    claims = {
        claim.episode_id: claim for claim in Claim.objects.select_related("reviewer").filter(episode__in=page_ids)
    }
    rounds = dict.fromkeys(page_ids, 1)
    for episode in Round.objects.filter(episode__in=page_ids).values_list("episode_id", flat=True):
        rounds[episode] += 1
    disputed = set(
        Opinion.objects.filter(episode__in=page_ids, round__isnull=True)
        .order_by()
        .values("episode")
        .annotate(given=Count("id"))
        .filter(given__gte=INDEPENDENT)
        .values_list("episode", flat=True)
    )
    recorded = recorded_among(page_ids)
    items = tuple(
        QueueItem(
            episode=summary,
            round=rounds[summary.id],
            claim=claim_out(claims.get(summary.id), user),
            adjudication=summary.id in disputed,
            recorded=summary.id in recorded,
        )
        for summary in episode_summaries(ids=page_ids)
    )
    return ReviewQueue(
        items=items,
        total=min(counted, MAX_COUNTED),
        capped=counted > MAX_COUNTED,
        next=_place_of(*rows[PAGE_SIZE - 1]) if len(rows) > PAGE_SIZE else None,
    )


def recorded_among(episodes: Sequence[UUID]) -> set[UUID]:
    """Which of these episodes are sessions of the recorder."""
    return set(Episode.objects.filter(RECORDED, pk__in=episodes).values_list("pk", flat=True))


def claim_out(claim: Claim | None, user: User) -> ClaimOut | None:
    """A claim that holds now, as it is shown."""
    if claim is None or claim.until <= timezone.now():
        return None
    return ClaimOut(reviewer=claim.reviewer.name, mine=claim.reviewer_id == user.pk, until=claim.until)


def _place_of(episode: UUID, finished: datetime | None) -> str | None:
    return None if finished is None else f"{finished.isoformat()}~{episode}"


def _place(after: str) -> tuple[datetime, UUID]:
    try:
        moment, key = after.split("~")
        return datetime.fromisoformat(moment), UUID(key)
    except ValueError:
        raise Invalid("This is no place in the queue.", code="bad_place", field="after") from None
