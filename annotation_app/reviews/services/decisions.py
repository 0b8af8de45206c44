"""Claims, decisions, and resubmission of returned episodes."""

from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.episodes.models import Episode, Review
from annotation_app.episodes.selectors import episode_of
from annotation_app.episodes.services import episode_review
from annotation_app.episodes.services.events import episode_lock
from annotation_app.episodes.services.reviews import decision_check
from annotation_app.errors import Conflict, Forbidden
from annotation_app.reviews.models import Claim, Decision, Fix, Opinion, Round, ThoughtRevision
from annotation_app.reviews.schemas import DecisionWord
from annotation_app.reviews.selectors.opinions import INDEPENDENT, open_opinions
from annotation_app.reviews.selectors.queue import Direction, QueueFilters, reviewable_by, unclaimed_for
from annotation_app.reviews.selectors.speech import thoughts_of
from annotation_app.reviews.services.access import claim_make, claimed_episode, current_round, reviewer_check
from annotation_app.tasks.models import Assignment, AssignmentState
from annotation_app.tasks.services import assignment_end, gold_adopt
from protocol.trajectory.speech import is_same, speech_of


@transaction.atomic(durable=True)
def review_claim(*, user: User, episode_id: UUID) -> Claim:
    """Claim an episode, or extend the claim. Raises NotFound, Forbidden and Conflict."""
    return claim_make(user=user, episode=claimed_episode(user=user, episode_id=episode_id))


@transaction.atomic(durable=True)
def review_release(*, user: User, episode_id: UUID) -> None:
    """Release a claim. Does nothing if this person has none. Raises NotFound and Forbidden."""
    episode_of(user=user, episode_id=episode_id)
    reviewer_check(user)
    Claim.objects.filter(episode_id=episode_id, reviewer=user).delete()


@transaction.atomic(durable=True)
def review_next(
    *, user: User, filters: QueueFilters, after: UUID | None = None, direction: Direction = "next"
) -> Episode | None:
    """Claim the oldest that waits, or the one nearest behind (before) the episode given, which is left to others.
    Two reviewers at once get two episodes. Raises Forbidden."""
    reviewer_check(user)
    waiting = unclaimed_for(user, reviewable_by(user, filters))
    place = Episode.objects.filter(pk=after).values_list("finished_at", "id").first() if after else None
    if place is not None:
        moment, key = place
        beyond = "gt" if direction == "next" else "lt"
        waiting = waiting.filter(
            Q(**{f"finished_at__{beyond}": moment}) | Q(finished_at=moment, **{f"id__{beyond}": key})
        )
    order = ("finished_at", "id") if direction == "next" else ("-finished_at", "-id")
    episode = _claimed(user, waiting.select_for_update(skip_locked=True, of=("self",)).order_by(*order))
    if episode is not None and after is not None:
        Claim.objects.filter(episode_id=after, reviewer=user).delete()
    return episode


def _claimed(user: User, waiting: QuerySet[Episode]) -> Episode | None:
    """The first of these that is still free, claimed: one that another reviewer claimed between the query's look and
    the row's lock is passed over."""
    passed: list[UUID] = []
    while (episode := waiting.exclude(pk__in=passed).first()) is not None:
        try:
            claim_make(user=user, episode=episode)
        except Conflict:
            passed.append(episode.pk)
        else:
            return episode
    return None


@transaction.atomic(durable=True)
def review_decide(*, user: User, episode_id: UUID, decision: DecisionWord, reason: str) -> Round | None:
    """Accept an episode, send it back to its annotator, or reject it; the last two with a reason. Where its pool wants
    two reviewers, the first decision, and the second where it is another, are stored as opinions: None, and the next
    reviewer decides. Raises NotFound, Forbidden, and Conflict where it runs, is somebody else's to review, or was
    decided before."""
    episode = claimed_episode(user=user, episode_id=episode_id)
    opinions: list[Opinion] = []
    if episode.task.pool.reviewers >= INDEPENDENT and episode.review == Review.PENDING:
        opinions = _opinion_add(user, episode, decision, reason)
        if not _is_final(episode, opinions):
            Claim.objects.filter(episode=episode).delete()
            return None
        if len(opinions) == INDEPENDENT:
            reason = "\n\n".join(dict.fromkeys(opinion.reason for opinion in opinions if opinion.reason))
    number = current_round(episode)
    episode_review(reviewer=user, episode_id=episode_id, decision=decision, reason=reason)
    if decision == "accept":
        gold_adopt(actor=user, task_id=episode.task_id, episode_id=episode_id)
    Claim.objects.filter(episode=episode).delete()
    made = Round.objects.create(
        episode=episode, number=number, decision=Decision(decision), reason=reason, reviewer=user
    )
    Opinion.objects.filter(pk__in=[opinion.pk for opinion in opinions]).update(round=made)
    return made


def _opinion_add(user: User, episode: Episode, decision: DecisionWord, reason: str) -> list[Opinion]:
    """Store what an independent reviewer decided; all that were stored since the last round, oldest first."""
    decision_check(reviewer=user, episode_id=episode.pk, decision=decision, reason=reason)
    found = thoughts_of(episode, user)
    Opinion.objects.create(
        episode=episode,
        reviewer=user,
        decision=Decision(decision),
        reason=reason,
        thoughts=None if found is None else found[1],
    )
    details = {"decision": decision, "reason": reason}
    audit_record(actor=user, verb="episode.opinion", subject=f"episode:{episode.id}", details=details)
    return list(open_opinions(episode))


def _is_final(episode: Episode, opinions: list[Opinion]) -> bool:
    """Two agree, or a third has adjudicated between them. Two who accept a recorded session with different thoughts
    disagree."""
    if len(opinions) != INDEPENDENT:
        return len(opinions) > INDEPENDENT
    one, other = opinions
    if one.decision != other.decision or one.decision != Decision.ACCEPT:
        return one.decision == other.decision
    if one.thoughts is None or other.thoughts is None:
        return True
    speech = speech_of(episode.source.head)
    return speech is None or is_same(speech.words, one.thoughts, other.thoughts)


@transaction.atomic(durable=True)
def review_resubmit(*, user: User, episode_id: UUID) -> Episode:
    """Resubmit a returned episode after corrections, without repeating the task. Raises NotFound, Forbidden, and
    Conflict if it was not returned, nothing was corrected (a thought of a recorded session counts), or the task is
    being repeated."""
    episode_of(user=user, episode_id=episode_id)
    episode = episode_lock(episode_id)
    if episode.annotator_id != user.pk:
        raise Forbidden("Only its annotator may submit it again.")
    if episode.review != Review.RETURNED:
        raise Conflict("It was not sent back.", code="not_returned")
    assignments = Assignment.objects.select_for_update(of=("self",)).select_related("task__pool")
    waiting = assignments.filter(task=episode.task, annotator=user, state=AssignmentState.RETURNED).first()
    if waiting is None:
        raise Conflict("You have started this task again.", code="begun_anew")
    edits = (Fix.objects.all(), ThoughtRevision.objects.filter(undone_at__isnull=True))
    if not any(rows.filter(episode=episode, round=current_round(episode)).exists() for rows in edits):
        raise Conflict("Change a step first, or do the task again.", code="nothing_mended")
    assignment_end(assignment=waiting, state=AssignmentState.DONE)
    episode.review, episode.review_reason = Review.PENDING, ""
    episode.save(update_fields=["review", "review_reason"])
    audit_record(actor=user, verb="episode.resubmitted", subject=f"episode:{episode.id}")
    return episode
