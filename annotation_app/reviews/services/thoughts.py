"""Changing the thoughts of recorded sessions: every change is a revision over what came in, which stays as it was."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.episodes.models import Episode
from annotation_app.errors import Conflict, Invalid, NotFound
from annotation_app.reviews.models import EditKind, ThoughtRevision
from annotation_app.reviews.selectors.opinions import is_blind, visible_revisions
from annotation_app.reviews.selectors.speech import head_revision, recorded_session, step_spans
from annotation_app.reviews.services.access import correctable_episode, current_round
from annotation_app.reviews.speech_schemas import ThoughtEditIn
from protocol.trajectory.speech import (
    InvalidThoughts,
    SpeechRecord,
    Thoughts,
    assign_thought,
    merge_thoughts,
    split_thought,
    write_thought,
)


@transaction.atomic(durable=True)
def thoughts_edit(*, user: User, episode_id: UUID, edit: ThoughtEditIn) -> None:
    """Change one thought of a recorded session, or take the last change back. Raises NotFound, Forbidden, Invalid, and
    Conflict where another reviewer has it or somebody changed the thoughts meanwhile."""
    episode = correctable_episode(user=user, episode_id=episode_id)
    trajectory, speech = recorded_session(episode_id)
    head = head_revision(episode, user)
    if edit.base != (0 if head is None else head.number):
        raise Conflict("Another person has changed the thoughts; reload the page.", code="thoughts_conflict")
    if edit.do == "undo":
        _undo(user, episode, head)
        return
    thoughts = speech.thoughts if head is None else head.thoughts
    try:
        changed = (
            _restored(user, episode, speech, edit.revision)
            if edit.do == "restore"
            else _changed(speech, thoughts, edit, step_spans(trajectory))
        )
    except InvalidThoughts as error:
        raise Invalid(f"This cannot be changed: {error}.", code="bad_thought") from None
    about = edit.revision if edit.do == "restore" else edit.thought
    revision_add(user=user, episode=episode, kind=EditKind(edit.do), thought=about, thoughts=changed)


def revision_add(*, user: User, episode: Episode, kind: EditKind, thought: int, thoughts: Thoughts) -> None:
    """Store the thoughts as a new revision. Runs inside the caller's transaction, with the episode locked."""
    last = episode.thought_revisions.values_list("number", flat=True).last() or 0
    ThoughtRevision.objects.create(
        episode=episode,
        number=last + 1,
        kind=kind,
        thought=thought,
        thoughts=thoughts,
        round=current_round(episode),
        author=user,
    )


def _changed(
    speech: SpeechRecord, thoughts: Thoughts, edit: ThoughtEditIn, spans: Sequence[tuple[float, float]]
) -> Thoughts:
    match edit.do:
        case "split":
            return split_thought(speech.words, thoughts, edit.thought, edit.word)
        case "merge":
            return merge_thoughts(speech.words, thoughts, edit.thought)
        case "assign":
            return assign_thought(thoughts, edit.thought, edit.steps, spans)
        case _:
            return write_thought(thoughts, edit.thought, edit.text)


def _restored(user: User, episode: Episode, speech: SpeechRecord, number: int) -> Thoughts:
    if number == 0:
        return speech.thoughts
    row = visible_revisions(episode, user).filter(number=number).first()
    if row is None:
        raise NotFound("There is no such revision.")
    return row.thoughts


def _undo(user: User, episode: Episode, head: ThoughtRevision | None) -> None:
    """One of two independent reviewers takes back only what they changed themselves: the other one would see it."""
    if head is None or (is_blind(user, episode) and head.round < current_round(episode)):
        raise Conflict("Nothing was changed.", code="nothing_changed")
    head.undone_at = timezone.now()
    head.save(update_fields=["undone_at"])
