"""Copy the recordings of ended episodes from their bridges into the store."""

import asyncio
import logging

from django.conf import settings

from annotation_app.blobs.services import blob_write
from annotation_app.live.store import run_in_db_thread
from annotation_app.recordings import services
from annotation_app.recordings.schemas import StoredPart
from annotation_app.recordings.selectors import PendingRecording, recordings_pending
from protocol.blobs import BlobRef
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, UnknownRecording

logger = logging.getLogger(__name__)

MEDIA_TYPE = "video/mp4"


async def recordings_collect() -> int:
    """Fetch the recordings that are ready. Returns how many were stored. Failures are retried on the next run."""
    stored = 0
    async with BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge:
        for waiting in await run_in_db_thread(recordings_pending):
            try:
                stored += await _collect(bridge, waiting)
            except UnknownRecording:
                await run_in_db_thread(services.recording_mark_lost, key=waiting.key)
            except BridgeError as error:
                logger.warning("recording %s could not be fetched: %s", waiting.key, error)
                if waiting.overdue:
                    await run_in_db_thread(services.recording_mark_lost, key=waiting.key)
            except OSError as error:
                logger.warning("recording %s could not be stored: %s", waiting.key, error)
    return stored


async def _collect(bridge: BridgeClient, waiting: PendingRecording) -> bool:
    """Whether the recording is stored now; False for one that is still running."""
    host_url, key = waiting.host_url, waiting.key
    recording = await bridge.recording(host_url, key)
    if recording.running:
        return False
    parts = []
    for part in recording.parts:
        data = await bridge.get_recording_part(host_url, key, part.number)
        blob = BlobRef.of(data, MEDIA_TYPE)
        await asyncio.to_thread(blob_write, ref=blob, data=data)
        parts.append(StoredPart(blob=blob, started_at=part.started_at, ended_at=part.ended_at))
    await run_in_db_thread(services.recording_store, key=key, parts=tuple(parts))
    await bridge.delete_recording(host_url, key)
    return True
