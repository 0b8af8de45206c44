"""Adjudication between several attempts at one task."""

from uuid import UUID

from django.db import transaction

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import NO_EPISODE
from annotation_app.errors import Conflict, Forbidden, NotFound
from annotation_app.reviews.models import Adjudication
from annotation_app.reviews.services.access import reviewer_check


@transaction.atomic(durable=True)
def task_adjudicate(*, user: User, chosen: UUID, reason: str) -> Adjudication:
    """Say which of a task's attempts counts; said again, the later word holds. Raises NotFound, Forbidden, and Conflict
    where it is not finished, or the only one."""
    reviewer_check(user)
    episode = Episode.objects.select_related("task").filter(pk=chosen).first()
    if episode is None:
        raise NotFound(NO_EPISODE, field="chosen")
    attempts = Episode.objects.filter(task=episode.task, status="finished")
    if attempts.filter(annotator=user).exists():
        raise Forbidden("One of the attempts is your own.", code="own_work")
    if episode.status != "finished":
        raise Conflict("Only finished attempts count.", code="not_finished")
    if attempts.values("annotator").distinct().count() < 2:
        raise Conflict("No other person has done this task.", code="only_one")
    made = Adjudication.objects.create(task=episode.task, chosen=episode, reason=reason, adjudicator=user)
    details = {"chosen": str(chosen), "reason": reason}
    audit_record(actor=user, verb="task.adjudicated", subject=f"task:{episode.task_id}", details=details)
    return made
