"""Uploads in parts: resumed after any interruption, bounded by person and disk, shown to their owner alone."""

import base64
import hashlib
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation_app.accounts.services import user_ensure
from annotation_app.imports.jobs import uploads_expire_job
from annotation_app.imports.models import Import, Upload
from annotation_app.imports.selectors import PART_BYTES, import_folder, upload_file
from annotation_app.imports.services import jobs as services_jobs
from annotation_app.imports.services import uploads as services_uploads
from annotation_app.imports.uploads_api import PART_MEDIA_TYPE, TUS_VERSION
from tests.integration.web.conftest import PASSWORD, World
from tests.integration.web.imports.import_helpers import lines

VERSION = {"Tus-Resumable": TUS_VERSION}
DATA = lines({"format": "unknown", "text": "one"}, {"format": "unknown", "text": "two"})
HALF = len(DATA) // 2


def create(client: Client, size: int, **metadata: str) -> Any:
    pairs = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in metadata.items())
    return client.post(
        "/api/imports/uploads", headers={**VERSION, "Upload-Length": str(size), "Upload-Metadata": pairs}
    )


def part(client: Client, url: str, offset: int, data: bytes, **headers: str) -> Any:
    given = {**VERSION, "Upload-Offset": str(offset), **headers}
    return client.patch(url, data, content_type=PART_MEDIA_TYPE, headers=given)


def finish(client: Client, url: str, **wish: str) -> Any:
    return client.post(f"{url}/import", wish, content_type="application/json")


@pytest.fixture
def ravi(world: World) -> Client:
    return world.client(world.ravi)


@pytest.fixture
def url(ravi: Client) -> str:
    """An upload that waits for its first part."""
    made = create(ravi, len(DATA), filename="rows.jsonl", sha256=hashlib.sha256(DATA).hexdigest(), fingerprint="f")
    assert made.status_code == 201, made.content
    assert made.headers["Upload-Offset"] == "0"
    return str(made.headers["Location"])


def bounded(monkeypatch: pytest.MonkeyPatch, **fields: int) -> None:
    """The settings with other bounds."""
    monkeypatch.setattr(settings, "ENV", settings.ENV.model_copy(update=fields))


def test_parts_become_an_import(ravi: Client, url: str) -> None:
    assert part(ravi, url, 0, DATA[:HALF]).headers["Upload-Offset"] == str(HALF)
    listed = ravi.get("/api/imports/uploads").json()
    assert [(one["offset"], one["fingerprint"], one["name"]) for one in listed] == [(HALF, "f", "rows.jsonl")]
    assert finish(ravi, url).json()["code"] == "upload_incomplete"
    assert part(ravi, url, HALF, DATA[HALF:]).status_code == 204
    begun = finish(ravi, url, pool="Old work")
    assert begun.status_code == 202, begun.content
    assert (begun.json()["name"], begun.json()["pool"]) == ("rows.jsonl", "Old work")
    assert finish(ravi, url).json()["id"] == begun.json()["id"], "repeated, it is the same import"
    assert ravi.get("/api/imports/uploads").json() == []
    told = ravi.get(f"/api/imports/{begun.json()['id']}").json()
    assert (told["code"], told["refused"]) == ("all_refused", 2), "both rows were read, and were no trajectories"


def test_a_killed_server_goes_on_where_it_wrote_last(ravi: Client, url: str) -> None:
    """Bytes that were written but never counted are written again; counted bytes that are gone are asked for again."""
    part(ravi, url, 0, DATA[:HALF])
    file = upload_file(Upload.objects.get().pk)
    file.write_bytes(DATA[:HALF] + b"killed before these were counted")
    head = ravi.head(url)
    assert (head.status_code, head.headers["Upload-Offset"]) == (200, str(HALF))
    file.write_bytes(DATA[: HALF - 3])
    assert ravi.head(url).headers["Upload-Offset"] == str(HALF - 3)
    assert part(ravi, url, HALF - 3, DATA[HALF - 3 :]).status_code == 204
    assert file.read_bytes() == DATA


def test_a_server_killed_at_the_end_finishes_once(
    world: World, ravi: Client, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part(ravi, url, 0, DATA)

    def killed(**_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(services_uploads, "audit_record", killed)
        with pytest.raises(KeyboardInterrupt):
            finish(ravi, url)
    assert Upload.objects.count() == 1
    assert ravi.head(url).headers["Upload-Offset"] == str(len(DATA))
    services_uploads.upload_append(user=world.ravi, upload_id=Upload.objects.get().pk, offset=len(DATA), data=b"")
    assert finish(ravi, url).status_code == 202
    assert (import_folder(Import.objects.get().pk) / "upload").read_bytes() == DATA
    assert (Import.objects.count(), Upload.objects.count()) == (1, 0)


def test_the_same_part_again_changes_nothing_and_another_offset_says_where_to_go_on(ravi: Client, url: str) -> None:
    part(ravi, url, 0, DATA[:HALF])
    again = part(ravi, url, 0, DATA[:HALF])
    assert (again.status_code, again.headers["Upload-Offset"]) == (204, str(HALF))
    for offset, data in ((0, b"x" * HALF), (HALF - 1, DATA[HALF - 1 :]), (HALF + 1, DATA[HALF + 1 :])):
        refused = part(ravi, url, offset, data)
        assert (refused.status_code, refused.json()["code"]) == (409, "upload_offset")
        assert refused.json()["extra"] == {"offset": HALF}
    assert upload_file(Upload.objects.get().pk).read_bytes() == DATA[:HALF]


@pytest.mark.django_db(transaction=True)
def test_two_browsers_at_one_upload_write_each_byte_once(committed: World) -> None:
    clients = [committed.client(committed.ravi) for _ in range(2)]
    url = create(clients[0], len(DATA), filename="rows.jsonl").headers["Location"]

    def send(client: Client) -> None:
        """Follow the server's word on where to go on, as both browsers do."""
        at = 0
        try:
            while at < len(DATA):
                answer = part(client, url, at, DATA[at : at + 8])
                assert answer.status_code in {204, 409}
                at = (
                    int(answer.headers["Upload-Offset"])
                    if answer.status_code == 204
                    else answer.json()["extra"]["offset"]
                )
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(send, clients))
    assert clients[0].head(url).headers["Upload-Offset"] == str(len(DATA))
    assert upload_file(Upload.objects.get().pk).read_bytes() == DATA


def test_damage_and_excess_write_nothing(ravi: Client, url: str) -> None:
    digest = base64.b64encode(hashlib.sha256(DATA).digest()).decode()
    damaged = part(ravi, url, 0, DATA[:HALF], **{"Upload-Checksum": f"sha256 {digest}"})
    assert (damaged.status_code, damaged.json()["code"]) == (460, "checksum_mismatch")
    assert part(ravi, url, 0, DATA + b"x").json()["code"] == "too_large", "more than was announced"
    assert part(ravi, url, 0, b"x" * (PART_BYTES + 1)).json()["code"] == "too_large"
    assert not upload_file(Upload.objects.get().pk).exists()
    assert part(ravi, url, 0, DATA, **{"Upload-Checksum": f"sha256 {digest}"}).status_code == 204


def test_a_file_that_is_not_the_announced_one_is_not_imported(ravi: Client, url: str) -> None:
    part(ravi, url, 0, b"x" * len(DATA))
    told = ravi.get(f"/api/imports/{finish(ravi, url).json()['id']}").json()
    assert (told["status"], told["code"]) == ("failed", "upload_damaged")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 412),
        ({"Tus-Resumable": "0.2.2", "Upload-Length": "1"}, 412),
        (VERSION, 422),
        ({**VERSION, "Upload-Length": "-1"}, 422),
        ({**VERSION, "Upload-Length": "９"}, 422),
        ({**VERSION, "Upload-Length": "1", "Upload-Metadata": "filename %%%"}, 422),
        ({**VERSION, "Upload-Length": "1", "Upload-Metadata": "sha256 Zm9v"}, 422),
        ({**VERSION, "Upload-Length": str(10**15)}, 413),
    ],
)
def test_what_is_not_understood_creates_nothing(ravi: Client, headers: dict[str, str], status: int) -> None:
    assert (
        ravi.post(
            "/api/imports/uploads", headers={k: v.encode().decode("latin-1") for k, v in headers.items()}
        ).status_code
        == status
    )
    assert not Upload.objects.exists()


def test_a_part_that_is_not_understood_writes_nothing(ravi: Client, url: str) -> None:
    assert ravi.patch(url, DATA, content_type=PART_MEDIA_TYPE, headers={"Upload-Offset": "0"}).status_code == 412
    assert (
        ravi.patch(url, DATA, content_type="text/plain", headers={**VERSION, "Upload-Offset": "0"}).status_code == 422
    )
    assert part(ravi, url, 0, DATA, **{"Upload-Checksum": "md5 Zm9v"}).status_code == 422
    assert ravi.head(url).headers["Upload-Offset"] == "0"


def test_an_upload_is_its_owners_alone(world: World, ravi: Client, url: str) -> None:
    """An admin may import, and still has no way to the upload of somebody else."""
    admin = world.client(user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"]))
    tries: list[Callable[[Client], Any]] = [
        lambda client: client.head(url),
        lambda client: part(client, url, 0, DATA),
        lambda client: finish(client, url),
        lambda client: client.delete(url),
    ]
    assert [one(admin).status_code for one in tries] == [404] * 4
    assert [one(world.client(world.ada)).status_code for one in tries] == [403] * 4
    assert [one(Client()).status_code for one in tries] == [401] * 4
    assert admin.get("/api/imports/uploads").json() == []
    part(ravi, url, 0, DATA)
    finish(ravi, url)
    assert finish(admin, url).status_code == 404, "the import it became was not asked for by them"


def test_a_person_and_the_disk_have_their_bounds(ravi: Client, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bounded(monkeypatch, uploads_per_person_bytes=len(DATA) + 10)
    over = create(ravi, 11)
    assert (over.status_code, over.json()["code"]) == (413, "upload_quota")
    assert create(ravi, 10).status_code == 201
    bounded(monkeypatch, uploads_per_person_bytes=10**9, uploads_total_bytes=len(DATA) + 20)
    assert (create(ravi, 11).status_code, create(ravi, 11).json()["code"]) == (507, "upload_space")
    bounded(monkeypatch, uploads_total_bytes=10**12)
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(
        shutil, "disk_usage", lambda _: usage._replace(free=services_uploads.MIN_FREE_BYTES + len(DATA))
    )
    assert create(ravi, 11).json()["code"] == "upload_space"
    monkeypatch.setattr(services_uploads, "MAX_OPEN_UPLOADS", 2)
    assert create(ravi, 0).json()["code"] == "upload_quota"


def test_unfinished_uploads_expire_and_cancelled_ones_are_removed(ravi: Client, url: str) -> None:
    part(ravi, url, 0, DATA[:HALF])
    upload = Upload.objects.get()
    uploads_expire_job()
    assert upload_file(upload.pk).exists()
    Upload.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert ravi.head(url).status_code == 404
    uploads_expire_job()
    assert not Upload.objects.exists()
    assert not upload_file(upload.pk).exists()
    second = create(ravi, len(DATA)).headers["Location"]
    part(ravi, second, 0, DATA[:HALF])
    assert ravi.delete(second).status_code == 204
    assert list(upload_file(upload.pk).parent.iterdir()) == []
    assert not Upload.objects.exists()


def test_a_taken_pool_is_told_before_and_after(world: World, ravi: Client, url: str) -> None:
    assert create(ravi, 1, pool=world.pool.name).json()["code"] == "pool_taken"
    part(ravi, url, 0, DATA)
    assert finish(ravi, url, pool=world.pool.name).json()["code"] == "pool_taken"
    assert finish(ravi, url).status_code == 202, "the upload stayed"
    assert import_folder(Import.objects.get().pk) != Path()


def test_a_large_file_needs_parts(ravi: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services_jobs, "WHOLE_FILE_BYTES", 8)
    refused = ravi.post("/api/imports", {"file": SimpleUploadedFile("rows.jsonl", DATA)})
    assert refused.status_code == 413
    assert "/api/imports/uploads" in refused.json()["message"]
