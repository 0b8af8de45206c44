"""Keeping recordings: the only writers of their table."""

from uuid import UUID

from django.db import transaction

from annotation_app.blobs.services import blob_write
from annotation_app.episodes.services import blob_link
from annotation_app.recordings.models import Recording, RecordingState
from annotation_app.recordings.schemas import StoredPart


def recording_note(*, episode_id: UUID, key: str, host_url: str) -> None:
    """Remember where an episode is being recorded. Idempotent."""
    Recording.objects.get_or_create(key=key, defaults={"episode_id": episode_id, "host_url": host_url})


def recording_store(*, key: str, parts: tuple[StoredPart, ...], data: tuple[bytes, ...]) -> None:
    """Keep a recording's files, each the bytes of its part. Idempotent. Raises Invalid and TooLarge."""
    for part, content in zip(parts, data, strict=True):
        blob_write(ref=part.blob, data=content)
    with transaction.atomic(durable=True):
        recording = Recording.objects.select_for_update().get(key=key)
        for part in parts:
            blob_link(episode_id=recording.episode_id, ref=part.blob)
        recording.parts, recording.state = parts, RecordingState.STORED
        recording.save(update_fields=["parts", "state"])


def recording_lose(*, key: str) -> None:
    """No bridge has it any more."""
    Recording.objects.filter(key=key).update(state=RecordingState.LOST)
