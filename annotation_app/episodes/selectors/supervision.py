"""Supervisors' notes to the annotator of an episode."""

from uuid import UUID

from annotation_app.accounts.models import User
from annotation_app.accounts.selectors import pseudonym
from annotation_app.episodes.models import Episode, SupervisorNote
from annotation_app.episodes.schemas import SupervisorNoteOut
from annotation_app.episodes.selectors import episode_of


def supervisor_notes_of(*, user: User, episode_id: UUID) -> tuple[SupervisorNoteOut, ...]:
    """The notes on an episode, oldest first. Raises NotFound."""
    episode: Episode = episode_of(user=user, episode_id=episode_id)
    return tuple(map(supervisor_note_out, episode.supervisor_notes.select_related("author")))


def supervisor_note_out(note: SupervisorNote) -> SupervisorNoteOut:
    """The output schema of a note."""
    return SupervisorNoteOut(
        id=note.pk,
        author=note.author.name,
        pseudonym=pseudonym(note.author_id),
        text=note.text,
        took_control=note.took_control,
        created_at=note.created_at,
    )
