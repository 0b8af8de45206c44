"""Storing recordings. Only these services write to their table."""

from uuid import UUID

from django.db import transaction

from annotation_app.episodes.services import blob_link
from annotation_app.recordings.models import Recording, RecordingState
from annotation_app.recordings.schemas import StoredPart


def recording_register(*, episode_id: UUID, key: str, host_url: str) -> None:
    """Record where an episode is being recorded. Idempotent."""
    Recording.objects.get_or_create(key=key, defaults={"episode_id": episode_id, "host_url": host_url})


@transaction.atomic(durable=True)
def recording_store(*, key: str, parts: tuple[StoredPart, ...]) -> None:
    """Mark a recording as stored once its bytes are written. People who may see the episode may see them.
    Idempotent."""
    recording = Recording.objects.select_for_update().get(key=key)
    for part in parts:
        blob_link(episode_id=recording.episode_id, ref=part.blob)
    recording.parts, recording.state = parts, RecordingState.STORED
    recording.save(update_fields=["parts", "state"])


def recording_mark_lost(*, key: str) -> None:
    """Mark a recording as lost when no bridge has it any more. One that another worker stored meanwhile is not lost."""
    Recording.objects.filter(key=key, state=RecordingState.AT_BRIDGE).update(state=RecordingState.LOST)
