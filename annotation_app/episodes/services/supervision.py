"""Supervisors help with running episodes: they write notes, and take control when help was requested."""

from uuid import UUID

from django.db import transaction

from annotation_app.accounts.models import Role, User
from annotation_app.audit.services import audit_record
from annotation_app.episodes.models import OPEN_STATUSES, Episode, SupervisorNote
from annotation_app.episodes.selectors import episode_of
from annotation_app.errors import Conflict, Forbidden
from annotation_app.notifications.services.notices import notice_create


@transaction.atomic
def supervisor_note_add(*, user: User, episode_id: UUID, text: str) -> SupervisorNote:
    """Add a note that appears on the annotator's page. Raises NotFound, Forbidden, and Conflict if the episode has
    ended."""
    episode = _supervised_episode(user, episode_id)
    note = SupervisorNote.objects.create(episode=episode, author=user, text=text)
    subject = f"episode:{episode.id}"
    notice_create(user=episode.annotator, kind="help.note", subject=subject, details={"reason": text})
    audit_record(actor=user, verb="episode.note", subject=subject, details={"text": text})
    return note


@transaction.atomic
def supervisor_control_take(*, user_id: int, episode_id: UUID) -> None:
    """Record that a supervisor takes control of an episode. They cannot review it afterwards. Raises NotFound,
    Forbidden, and Conflict if the episode has ended or no help was requested."""
    user = User.objects.get(pk=user_id)
    episode = _supervised_episode(user, episode_id)
    if not episode.help_requested:
        raise Conflict("There is no open call for help.", code="no_help_requested")
    SupervisorNote.objects.create(episode=episode, author=user, took_control=True)
    audit_record(actor=user, verb="episode.control_taken", subject=f"episode:{episode.id}")


def _supervised_episode(user: User, episode_id: UUID) -> Episode:
    episode = episode_of(user=user, episode_id=episode_id)
    if not user.has_role(Role.REVIEWER, Role.ADMIN) or episode.annotator_id == user.pk:
        raise Forbidden("Only supervisors help with the episodes of others.")
    if episode.status not in OPEN_STATUSES:
        raise Conflict("The episode has ended.", code="episode_ended")
    return episode
