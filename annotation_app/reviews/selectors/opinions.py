"""Two independent reviews of an episode: what each reviewer would decide, and who may see it."""

from collections.abc import Iterable, Iterator

from django.db.models import Exists, OuterRef, Q, QuerySet

from annotation_app.accounts.models import Role, User
from annotation_app.episodes.models import Episode, Review
from annotation_app.reviews.models import Fix, Opinion, ThoughtRevision
from annotation_app.reviews.schemas import DecisionAgreement, OpinionOut
from protocol.evaluation.agreement import krippendorff_alpha
from protocol.trajectory.speech import steps_of_words

INDEPENDENT = 2
"""Opinions of a round that are given blind; a third one adjudicates."""
COMPARED = 5_000
"""Rounds over which agreement is measured: the last ones."""


def open_opinions(episode: Episode) -> QuerySet[Opinion]:
    """Opinions on an episode since its last decision, oldest first."""
    return Opinion.objects.filter(episode=episode, round__isnull=True)


def is_blind(user: User, episode: Episode) -> bool:
    """Whether this person may not see yet what other reviewers make of an episode: two review it, and neither this
    person nor both of them have decided."""
    if episode.task.pool.reviewers < INDEPENDENT or episode.review != Review.PENDING:
        return False
    if not user.has_role(Role.REVIEWER, Role.ADMIN):
        return False
    reviewers = list(open_opinions(episode).values_list("reviewer", flat=True))
    return user.pk not in reviewers and len(reviewers) < INDEPENDENT


def visible_fixes(episode: Episode, user: User) -> QuerySet[Fix]:
    """The corrections of an episode that this person may see: blind, none of this round by others."""
    found = episode.fixes.all()
    if is_blind(user, episode):
        found = found.filter(Q(round__lte=episode.rounds.count()) | Q(author=user))
    return found


def visible_revisions(episode: Episode, user: User) -> QuerySet[ThoughtRevision]:
    """The revisions of a recorded session's thoughts that this person may see: blind, none of this round by others."""
    found = episode.thought_revisions.all()
    if is_blind(user, episode):
        found = found.filter(Q(round__lte=episode.rounds.count()) | Q(author=user))
    return found


def has_opinion(user: User) -> Exists:
    """For a query over episodes: this person has decided, and others are still to."""
    return Exists(Opinion.objects.filter(episode=OuterRef("pk"), reviewer=user, round__isnull=True))


def opinions_of(user: User, episode: Episode) -> tuple[OpinionOut, ...]:
    """Opinions of independent reviewers on an episode that this person may see, oldest first."""
    found = episode.opinions.select_related("reviewer", "round")
    if is_blind(user, episode):
        found = found.filter(round__isnull=False)
    return tuple(
        OpinionOut(
            round=row.round.number if row.round else None,
            reviewer=row.reviewer.name,
            mine=row.reviewer_id == user.pk,
            decision=row.decision,
            reason=row.reason,
        )
        for row in found
    )


def decision_agreement(pool_id: int | None) -> DecisionAgreement:
    """How often the two independent reviewers of an episode decided alike, in one pool or in all."""
    wanted = Q() if pool_id is None else Q(episode__task__pool_id=pool_id)
    rows = Opinion.objects.filter(wanted).order_by("-id")[: COMPARED * 3]
    rounds: dict[tuple[object, int | None], list[Opinion]] = {}
    for row in reversed(rows):
        rounds.setdefault((row.episode_id, row.round_id), []).append(row)
    pairs = [opinions[:INDEPENDENT] for opinions in rounds.values() if len(opinions) >= INDEPENDENT][-COMPARED:]
    units = [[row.decision for row in pair] for pair in pairs]
    same = sum(one == other for one, other in units)
    words = list(_word_units(pairs))
    return DecisionAgreement(
        episodes=len(units),
        share=same / len(units) if units else None,
        alpha=krippendorff_alpha(units),
        words=len(words),
        words_alpha=krippendorff_alpha(words),
    )


def _word_units(pairs: Iterable[list[Opinion]]) -> Iterator[list[str]]:
    """For each word of the recorded sessions, to which steps either reviewer assigned it."""
    for pair in pairs:
        chosen = [row.thoughts for row in pair if row.thoughts is not None]
        if len(chosen) < INDEPENDENT:
            continue
        count = max((thought.words[1] + 1 for thoughts in chosen for thought in thoughts), default=0)
        for unit in zip(*(steps_of_words(count, thoughts) for thoughts in chosen), strict=True):
            yield list(unit)
