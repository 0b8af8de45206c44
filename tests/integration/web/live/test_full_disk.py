"""A disk that really is full: what was asked for fails by its name, leaves no half file, and goes on with room."""

import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotation_app.blobs.selectors import blob_path
from annotation_app.blobs.services import blob_write
from annotation_app.episodes.models import Step
from annotation_app.exports.models import Export, ExportState
from annotation_app.exports.selectors import export_folder
from annotation_app.exports.services import export_write
from annotation_app.live import store
from annotation_app.live.recordings import recordings_collect
from annotation_app.live.store import run_in_db_thread
from annotation_app.recordings.models import Recording, RecordingState
from protocol.blobs import BlobRef
from tests.integration.web.conftest import Stack, World
from tests.integration.web.exports.test_export_storage import attempts as attempts
from tests.integration.web.exports.test_export_storage import create_export
from tests.integration.web.live.test_machine_api import BYTES, ask
from tests.integration.web.live.test_recordings import act, collected, finish, get, record_all, recorded
from tests.small_disks import Mount, small_disks


@pytest.fixture
def mount() -> Iterator[Mount]:
    """Puts a small disk of its own where a folder is, or gives one that is there another size."""
    with small_disks() as mount_at:
        yield mount_at


@pytest.mark.parametrize("size", ["16k", "48k", "72k"], ids=["for its journal", "for its plan", "for its pictures"])
def test_an_export_fails_by_its_name_and_is_written_when_there_is_room(
    attempts: list[str], committed: World, mount: Mount, size: str
) -> None:
    export = create_export(committed.ravi)
    disk = export_folder(export.pk).parent
    mount(disk, size)
    export_write(export_id=export.pk)
    export.refresh_from_db()
    assert (export.status, export.error) == (ExportState.FAILED, f"disk_full: {os.strerror(errno.ENOSPC)}")
    assert not export_folder(export.pk).exists()
    mount(disk, "32m")
    Export.objects.filter(pk=export.pk).update(status=ExportState.QUEUED)
    export_write(export_id=export.pk)
    export.refresh_from_db()
    assert (export.status, export.trajectories) == (ExportState.DONE, len(attempts))


@pytest.mark.django_db
def test_a_picture_is_kept_whole_or_not_at_all(mount: Mount) -> None:
    data = secrets.token_bytes(256 * 1024)
    ref = BlobRef.of(data, "image/png")
    disk = blob_path(ref.sha256).parent
    mount(disk, "64k")
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        blob_write(ref=ref, data=data)
    assert list(disk.iterdir()) == []
    mount(disk, "8m")
    blob_write(ref=ref, data=data)
    assert blob_path(ref.sha256).read_bytes() == data


async def test_a_recording_stays_at_its_bridge_until_there_is_room(stack: Stack, mount: Mount, data: Path) -> None:
    await run_in_db_thread(record_all)
    desk = await stack.deciding()
    await act(desk, kind="type_text", text="one")
    await finish(desk)
    key = await run_in_db_thread(lambda: Recording.objects.get(episode_id=desk.episode_id).key)
    await recorded(stack, key)
    mount(data / "blobs", "4k")
    assert await recordings_collect() == 0
    assert [file for file in (data / "blobs").rglob("*") if file.is_file()] == []
    assert await run_in_db_thread(lambda: Recording.objects.get(key=key).state) == RecordingState.AT_BRIDGE
    assert (await get(stack, desk, "recording")).json() == {"pending": True, "parts": []}
    mount(data / "blobs", "64m")
    await collected()
    (part,) = (await get(stack, desk, "recording")).json()["parts"]
    assert (await get(stack, desk, f"blobs/{part['sha256']}")).status_code == 200


async def test_a_picture_that_is_sent_in_is_refused_by_its_name(stack: Stack, mount: Mount, data: Path) -> None:
    desk = await stack.deciding()
    ref = BlobRef.of(BYTES * 20, "image/png")
    disk = data / "blobs" / ref.sha256[:2]

    def picture() -> dict[str, SimpleUploadedFile]:
        return {"file": SimpleUploadedFile("picture.png", BYTES * 20, content_type="image/png")}

    mount(disk, "8k")
    refused = await ask(stack, desk, "post", "uploads", data=picture())
    assert (refused.status_code, refused.json()["code"]) == (507, "disk_full")
    assert list(disk.iterdir()) == []
    assert (await ask(stack, desk, "get", f"blobs/{ref.sha256}")).status_code == 404
    mount(disk, "8m")
    assert (await ask(stack, desk, "post", "uploads", data=picture())).status_code == 200
    assert (await ask(stack, desk, "get", f"blobs/{ref.sha256}")).content == BYTES * 20


async def test_a_step_waits_for_room_and_is_done_once(
    stack: Stack, mount: Mount, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its annotator keeps control and is told why it waits."""
    monkeypatch.setattr(store, "DISK_POLL_SECONDS", 0.05)
    desk = await stack.deciding()
    mount(data / "blobs", "4k")
    (data / "blobs" / "filler").write_bytes(bytes(4096))
    command = uuid4().hex
    await desk.send(type="act", command_id=command, action={"kind": "type_text", "text": "one"}, thought="Why.")
    assert (await desk.until(type="storage.changed"))["full"]
    assert (await desk.until(type="storage.changed"))["full"], "it is told again to whoever comes later"
    mount(data / "blobs", "64m")
    await desk.until(type="storage.changed", full=False)
    step = (await desk.until(type="step.added"))["step"]
    assert step["command_id"] == command
    assert [event for event in desk.heard if event["type"] == "control.changed" and event["control"] != "mine"] == []
    done = await run_in_db_thread(lambda: list(Step.objects.filter(episode_id=desk.episode_id)))
    assert len(done) == 1
