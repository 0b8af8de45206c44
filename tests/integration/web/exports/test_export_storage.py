"""Exports and imports where the ground gives way: a worker killed, storage that refuses, a full disk."""

import errno
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.conf import settings as django_settings
from django.db import connection
from moto.server import ThreadedMotoServer

from annotation_app.accounts.models import User
from annotation_app.exports import bucket_upload, folder_writer, part_writers
from annotation_app.exports.models import Export, ExportState
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.exports.selectors import export_folder
from annotation_app.exports.services import export_write
from annotation_app.imports.models import Import
from annotation_app.imports.services import import_run
from annotation_app.operations.runtime.stack import ROOT
from tests.integration.web.conftest import World
from tests.integration.web.exports.test_export_formats import attempt
from tests.integration.web.imports.import_helpers import empty_platform, write

KILLED = """
import os, signal, sys
import django
django.setup()
from {module} import services
from {module}.{place} import {of} as target
real, seen = target.{name}, []
def counted(*given, **named):
    seen.append(1)
    if len(seen) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*given, **named)
target.{name} = counted
{before}
services.{job}
"""


@pytest.fixture
def attempts(committed: World) -> list[str]:
    committed.pool.tasks.all().delete()
    return [attempt(committed.ada, number, committed.pool) for number in range(3)]


def in_a_worker(code: str) -> int:
    """Run code in a process of its own over this test's database and data; how it ended."""
    given = connection.settings_dict
    options = "&".join(f"{key}={value}" for key, value in given["OPTIONS"].items() if key != "pool")
    host = given["HOST"]
    url = (
        f"postgresql://{given['USER']}:{given['PASSWORD']}@/{given['NAME']}?host={host}&port={given['PORT']}&{options}"
    )
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "annotation_app.settings.test",
        "PILOTHOUSE_DATABASE_URL": url,
        "PILOTHOUSE_DATA": str(django_settings.ENV.data),
    }
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert run.returncode == -signal.SIGKILL, run.stderr[-2_000:]
    return run.returncode


def create_export(user: User, **fields: Any) -> Export:
    filters = ExportFilters(review=None).model_dump(mode="json")
    plan = ExportPlan().model_dump(mode="json")
    return Export.objects.create(requested_by=user, filters=filters, plan=plan, **fields)


def export_files(export: Export) -> dict[str, bytes]:
    """The files of a finished export, but for what says when it was asked for."""
    root = export_folder(export.pk)
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != "manifest.json"
    }


@pytest.mark.timeout(400)
def test_a_worker_that_is_killed_between_parts_is_taken_up_and_writes_the_same(
    attempts: list[str], committed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_writer, "PART_SIZE", 1)
    whole, broken = create_export(committed.ravi), create_export(committed.ravi)
    export_write(export_id=whole.pk)
    in_a_worker(
        KILLED.format(
            module="annotation_app.exports",
            place="journal",
            of="ExportJournal",
            name="part_add",
            before="from annotation_app.exports import folder_writer; folder_writer.PART_SIZE = 1",
            job=f"export_write(export_id='{broken.pk}')",
        )
    )
    broken.refresh_from_db()
    assert (broken.status, broken.attempts) == (ExportState.RUNNING, 1)
    assert not export_folder(broken.pk).exists(), "what is not whole is not there"
    written: list[int] = []
    part_write = folder_writer._write_part

    def noting(*given: Any) -> None:
        written.append(given[4])
        part_write(*given)

    monkeypatch.setattr(folder_writer, "_write_part", noting)
    Export.objects.filter(pk=broken.pk).update(status=ExportState.QUEUED)
    export_write(export_id=broken.pk)
    assert written == [1, 2], "the first part was kept"
    assert export_files(broken) == export_files(whole)


@pytest.mark.timeout(400)
def test_an_import_whose_worker_is_killed_goes_on_and_doubles_nothing(
    attempts: list[str], tmp_path: Path, data: Path
) -> None:
    before = write(tmp_path / "before")
    empty_platform(data)
    job = Import.objects.create(name="before", folder=str(before), pool_name="before")
    in_a_worker(
        KILLED.format(
            module="annotation_app.imports",
            place="services",
            of="jobs",
            name="store_rows",
            before="target.BATCH_ROWS = 1",
            job=f"import_run(import_id='{job.pk}')",
        )
    )
    job.refresh_from_db()
    assert (job.status, job.imported, job.line) == ("running", 1, 1)
    Import.objects.filter(pk=job.pk).update(status="queued")
    import_run(import_id=job.pk)
    job.refresh_from_db()
    assert (job.status, job.imported, job.known, job.attempts) == ("done", 3, 0, 2)
    after = (write(tmp_path / "after") / "trajectories.jsonl").read_bytes()
    assert after == (before / "trajectories.jsonl").read_bytes()


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An S3 server on this machine, with one bucket."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        _host, port = server.get_host_and_port()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setattr(bucket_upload, "CLIENT_SETTINGS", {"retries": {"max_attempts": 1}})
        client = boto3.client("s3")
        client.create_bucket(Bucket="kept")
        yield client
    finally:
        server.stop()


def keys(client: Any) -> list[str]:
    return [one["Key"] for one in client.list_objects_v2(Bucket="kept").get("Contents", [])]


def test_an_export_is_pushed_with_its_manifest_last(
    attempts: list[str], committed: World, bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = create_export(committed.ravi, destination="s3://kept/sets")
    sent: list[str] = []
    make = boto3.client

    class Client:
        """Passes on, and breaks off once it was given three files."""

        def __init__(self) -> None:
            self.real = make("s3")

        def head_object(self, **given: Any) -> Any:
            return self.real.head_object(**given)

        def upload_file(self, path: str, name: str, key: str) -> None:
            if len(sent) == 3:
                self.real.put_object(Bucket="nobody-s", Key=key, Body=b"")
            sent.append(key)
            self.real.upload_file(path, name, key)

    monkeypatch.setattr(boto3, "client", lambda *_, **__: Client())
    export_write(export_id=export.pk)
    export.refresh_from_db()
    assert (export.status, export.pushed) == (ExportState.FAILED, False)
    assert "NoSuchBucket" in export.error
    assert len(keys(bucket)) == 3
    assert not [key for key in keys(bucket) if key.endswith("manifest.json")], "where it lies, all lies"
    monkeypatch.setattr(boto3, "client", make)
    Export.objects.filter(pk=export.pk).update(status=ExportState.QUEUED)
    export_write(export_id=export.pk)
    export.refresh_from_db()
    assert (export.status, export.pushed) == (ExportState.DONE, True)
    base = f"sets/{export.pk}"
    found = bucket.get_object(Bucket="kept", Key=f"{base}/manifest.json")["Body"].read()
    listed = {f"{base}/{one['path']}" for one in json.loads(found)["files"]}
    assert set(keys(bucket)) == {*listed, f"{base}/manifest.json"}


def test_a_full_disk_fails_an_export_by_its_name_and_loses_nothing(
    attempts: list[str], committed: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = create_export(committed.ravi)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    kept = part_writers.copy_blob
    monkeypatch.setattr(part_writers, "copy_blob", full)
    export_write(export_id=export.pk)
    export.refresh_from_db()
    assert (export.status, export.error) == (ExportState.FAILED, "disk_full: No space left on device")
    assert not export_folder(export.pk).exists()
    monkeypatch.setattr(part_writers, "copy_blob", kept)
    Export.objects.filter(pk=export.pk).update(status=ExportState.QUEUED)
    export_write(export_id=export.pk)
    export.refresh_from_db()
    assert (export.status, export.trajectories) == (ExportState.DONE, 3)
