"""The pictures and files of an episode."""

from collections.abc import Collection, Mapping
from uuid import UUID

from django.db import transaction

from annotation_app.blobs.services import blob_record, blob_write
from annotation_app.episodes.models import EpisodeBlob
from annotation_app.episodes.services.locking import episode_lock
from protocol.blobs import BlobRef


def blob_add(*, episode_id: UUID, token: int, ref: BlobRef, data: bytes) -> None:
    """Store bytes and let whoever sees this episode see them. Raises Invalid, TooLarge, RunnerFenced."""
    blob_write(ref=ref, data=data)
    with transaction.atomic(durable=True):
        episode_lock(episode_id, token)
        blob_link(episode_id=episode_id, ref=ref, data=data)


def blob_upload(*, episode_id: UUID, ref: BlobRef, data: bytes) -> None:
    """Store bytes a person brought, and let whoever sees this episode see them. Raises Invalid, TooLarge."""
    blob_write(ref=ref, data=data)
    with transaction.atomic(durable=True):
        blob_link(episode_id=episode_id, ref=ref, data=data)


def blob_link(*, episode_id: UUID, ref: BlobRef, data: bytes | None = None) -> None:
    """Let whoever sees this episode see stored bytes. Runs inside the caller's transaction."""
    blob_record(ref=ref, data=data)
    _linked(episode_id, [ref])


def blobs_link(*, episode_id: UUID, blobs: Mapping[BlobRef, bytes]) -> None:
    """The same of several, whose bytes were written. Runs inside the caller's transaction."""
    for ref in sorted(blobs, key=lambda ref: ref.sha256):  # in one order, so that two do not wait for each other
        blob_record(ref=ref, data=blobs[ref])
    _linked(episode_id, blobs)


def _linked(episode_id: UUID, refs: Collection[BlobRef]) -> None:
    links = (EpisodeBlob(episode_id=episode_id, blob_id=ref.sha256) for ref in refs)
    EpisodeBlob.objects.bulk_create(links, ignore_conflicts=True)
