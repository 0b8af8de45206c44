"""Removing words of a recorded session for good: from what was heard, from every thought and from every revision."""

from collections.abc import Collection
from uuid import UUID

from django.db import connection, transaction

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.episodes.models import Episode, Source, Step
from annotation_app.errors import Conflict, Invalid
from annotation_app.reviews.models import Fix, Job, Opinion, ThoughtRevision
from annotation_app.reviews.selectors.speech import recorded_session
from annotation_app.reviews.services.access import correctable_episode
from annotation_app.tasks.models import Task
from protocol.trajectory.elements import redact_elements
from protocol.trajectory.speech import (
    SpeechRecord,
    Thoughts,
    redact_refined,
    redact_text,
    redact_thoughts,
    redact_words,
    step_of_thought,
    step_thoughts,
    with_speech,
)
from protocol.trajectory.trajectories import Trajectory


@transaction.atomic(durable=True)
def words_redact(*, user: User, episode_id: UUID, words: Collection[int]) -> None:
    """Remove words of a recorded session from the database; this cannot be undone. Their times stay. Texts that
    reviewers wrote lose the words where they belong to a thought that held them. Raises NotFound, Forbidden, Invalid
    and Conflict."""
    episode = correctable_episode(user=user, episode_id=episode_id)
    trajectory, speech = recorded_session(episode_id)
    if any(place >= len(speech.words) for place in words):
        raise Invalid("There is no such word.", code="no_word")
    gone = {place for place in words if speech.words[place][2]}
    if not gone:
        raise Conflict("These words were redacted before.", code="already_redacted")
    secrets = [speech.words[place][2] for place in gone]
    revisions = list(episode.thought_revisions.all())
    touched = _affected_steps(gone, speech.thoughts, *(row.thoughts for row in revisions))
    redacted = speech.model_copy(
        update={
            "words": redact_words(speech.words, gone),
            "thoughts": redact_thoughts(speech.words, speech.thoughts, gone),
        }
    )
    _redact_source(episode, redacted, secrets)
    _redact_steps(trajectory, speech, redacted, secrets, touched)
    for fix in Fix.objects.filter(episode=episode, index__in=touched):
        fix.thought, fix.reason = redact_text(fix.thought, secrets), redact_text(fix.reason, secrets)
        fix.save(update_fields=["thought", "reason"])
    versions = (speech.thoughts, *(row.thoughts for row in revisions))
    for job in Job.objects.filter(episode=episode, refined__isnull=False):
        job.refined = redact_refined(speech.words, versions, job.refined or (), gone)
        job.save(update_fields=["refined"])
    for revision in revisions:
        revision.thoughts = redact_thoughts(speech.words, revision.thoughts, gone)
    ThoughtRevision.objects.bulk_update(revisions, ["thoughts"])
    for opinion in Opinion.objects.filter(episode=episode, thoughts__isnull=False):
        opinion.thoughts = redact_thoughts(speech.words, opinion.thoughts or (), gone)
        opinion.save(update_fields=["thoughts"])
    Episode.objects.filter(pk=episode.pk).update(catalogued=-1)
    audit_record(actor=user, verb="speech.redacted", subject=f"episode:{episode_id}", details={"words": len(gone)})


def _affected_steps(gone: Collection[int], *versions: Thoughts) -> set[int]:
    """The steps whose thought held one of these words, in any version."""
    return {
        step
        for thoughts in versions
        for thought in thoughts
        if (step := step_of_thought(thought)) is not None
        and any(thought.words[0] <= place <= thought.words[1] for place in gone)
    }


def _redact_source(episode: Episode, redacted: SpeechRecord, secrets: Collection[str]) -> None:
    """Both places where the words came in: the trajectory, and its task."""
    source = Source.objects.select_for_update().get(episode=episode)
    source.head = redact_elements(with_speech(source.head, redacted), secrets)
    source.save(update_fields=["head"])
    task = Task.objects.select_for_update().get(pk=episode.task_id)
    if isinstance(task.definition.parameters.get("recording"), dict):
        holder = source.head.model_copy(update={"task": task.definition})
        task.definition = redact_elements(with_speech(holder, redacted), secrets).task
        task.save(update_fields=["definition"])


def _redact_steps(
    trajectory: Trajectory, before: SpeechRecord, after: SpeechRecord, secrets: Collection[str], touched: set[int]
) -> None:
    """Stored steps are never changed but here: a trigger lets only their document change, and only in this block."""
    count = len(trajectory.steps)
    old, new = (step_thoughts(one.words, one.thoughts, count) for one in (before, after))
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('pilothouse.redaction', 'episodes_step', true)")
        for row in Step.objects.filter(episode_id=trajectory.id, index__in=touched):
            document = row.document
            thought = new[row.index] if document.thought == old[row.index] else redact_text(document.thought, secrets)
            if thought != document.thought:
                changed = document.model_copy(update={"thought": thought})
                Step.objects.filter(pk=row.pk).update(document=changed)
        cursor.execute("SELECT set_config('pilothouse.redaction', '', true)")
