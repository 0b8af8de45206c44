"""Reviewers' decisions."""

from typing import Literal
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.audit.verbs import Verb
from annotation_app.episodes.models import Episode, Review
from annotation_app.episodes.services.events import episode_lock
from annotation_app.errors import Conflict, Forbidden
from annotation_app.notifications.schemas import NoticeKind
from annotation_app.notifications.services.notices import notice_create
from annotation_app.notifications.services.webhooks import event_emit
from annotation_app.notifications.webhook_events import ReviewDecided
from annotation_app.tasks.services import assignment_return

DecisionName = Literal["accept", "return", "reject"]
NOTICES: dict[str, NoticeKind] = {"return": "review.returned", "reject": "review.rejected"}
DECIDED_VERBS: dict[DecisionName, Verb] = {
    "accept": "episode.accepted",
    "return": "episode.returned",
    "reject": "episode.rejected",
}
DECIDED: dict[str, Review] = {"accept": Review.ACCEPTED, "return": Review.RETURNED, "reject": Review.REJECTED}


@transaction.atomic
def episode_review(*, reviewer: User, episode_id: UUID, decision: DecisionName, reason: str = "") -> Episode:
    """Accept a finished episode, return it to its annotator, or reject it. The last two need a reason, and the
    annotator is notified. Raises Conflict, Forbidden."""
    episode = decision_check(reviewer=reviewer, episode_id=episode_id, decision=decision, reason=reason)
    episode.review = DECIDED[decision]
    episode.review_reason = reason
    episode.reviewer = reviewer
    episode.reviewed_at = timezone.now()
    episode.save(update_fields=["review", "review_reason", "reviewer", "reviewed_at"])
    if decision == "return":
        assignment_return(assignment=episode.assignment)
    kind = NOTICES.get(decision)
    if kind is not None:
        notice_create(user=episode.annotator, kind=kind, subject=f"episode:{episode.id}", details={"reason": reason})
    details = {"reason": reason}
    audit_record(actor=reviewer, verb=DECIDED_VERBS[decision], subject=f"episode:{episode.id}", details=details)
    event_emit(ReviewDecided(episode=str(episode.id), decision=episode.review))
    return episode


def decision_check(*, reviewer: User, episode_id: UUID, decision: DecisionName, reason: str) -> Episode:
    """The locked row of an episode on which this person may make this decision. Raises Conflict, Forbidden."""
    if not reviewer.has_role("reviewer", "admin"):
        raise Forbidden("Only reviewers decide this.")
    episode = episode_lock(episode_id)
    if episode.annotator_id == reviewer.pk:
        raise Forbidden("You cannot review your own work.", code="own_work")
    if episode.task.pool.practice:
        raise Conflict("Practice is not reviewed.", code="practice")
    if episode.status != "finished":
        raise Conflict("Only finished episodes are reviewed.", code="not_finished")
    if episode.review != Review.PENDING:
        raise Conflict("This episode was reviewed before.", code="already_reviewed")
    if decision == "return" and hasattr(episode, "source"):
        raise Conflict("It was imported, so it has no annotator to send it back to.", code="imported")
    if decision != "accept" and not reason.strip():
        raise Conflict("Say why.", code="reason_required")
    return episode
