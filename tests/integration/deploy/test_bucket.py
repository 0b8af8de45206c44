"""Blobs in a bucket, on a real S3 server: hosts that share no folder see each other's pictures."""

import errno
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from django.db import transaction
from moto.server import ThreadedMotoServer

from annotation_app.accounts.services import user_ensure
from annotation_app.blobs.bucket import open_bucket
from annotation_app.blobs.models import Blob
from annotation_app.blobs.selectors import blob_path, blob_read, blob_size
from annotation_app.blobs.services import blob_record, blob_write, blobs_delete, local_blob_path
from annotation_app.episodes.models import Episode
from annotation_app.episodes.services import blob_upload, episode_next
from annotation_app.health.selectors import check_data
from protocol.blobs import BlobRef
from tests.integration.web.conftest import PASSWORD, World

DATA = b"a picture of ten thousand bytes" * 322
REF = BlobRef.of(DATA, "image/jpeg")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadedMotoServer]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "tests")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "tests")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    open_bucket.cache_clear()
    httpx.post(f"http://{host}:{port}/moto-api/reset", trust_env=False).raise_for_status()  # one state for all servers
    yield server
    server.stop()
    open_bucket.cache_clear()


@pytest.fixture
def bucket(server: ThreadedMotoServer, data: Path, settings: Any) -> Any:
    """A client of the server; blobs are kept below `here/` in its bucket from now on."""
    client = boto3.client("s3")
    client.create_bucket(Bucket="pictures")
    settings.ENV = settings.ENV.model_copy(update={"blobs_url": "s3://pictures/here"})
    return client


def keys(client: Any) -> list[str]:
    return [each["Key"] for each in client.list_objects_v2(Bucket="pictures").get("Contents", ())]


def elsewhere(settings: Any, folder: Path) -> None:
    """Go on as another host, with a folder of its own."""
    folder.mkdir()
    settings.ENV = settings.ENV.model_copy(update={"data": folder})


def test_what_one_host_keeps_another_reads(bucket: Any, data: Path, settings: Any) -> None:
    blob_write(ref=REF, data=DATA)
    blob_write(ref=REF, data=DATA)
    assert keys(bucket) == [f"here/{REF.sha256[:2]}/{REF.sha256}"]
    elsewhere(settings, data / "another")
    assert not local_blob_path(REF.sha256).exists()
    assert blob_size(REF.sha256) == len(DATA)
    assert blob_read(REF.sha256) == DATA
    assert [path.name for path in local_blob_path(REF.sha256).parent.iterdir()] == [REF.sha256]


@pytest.mark.usefixtures("bucket")
def test_what_nobody_keeps_is_not_there() -> None:
    assert blob_size(REF.sha256) is None
    assert not blob_path(REF.sha256).exists()
    with pytest.raises(FileNotFoundError):
        blob_read(REF.sha256)


@pytest.mark.django_db(transaction=True)
def test_a_copy_that_outlived_its_deletion_hides_nothing(bucket: Any, data: Path, settings: Any) -> None:
    blob_write(ref=REF, data=DATA)
    with transaction.atomic():
        blob_record(ref=REF, data=DATA)
    first = settings.ENV.data
    elsewhere(settings, data / "another")
    with transaction.atomic():
        assert blobs_delete([REF.sha256]) == (1, len(DATA))
    assert keys(bucket) == []
    settings.ENV = settings.ENV.model_copy(update={"data": first})
    assert local_blob_path(REF.sha256).exists(), "this host's copy is still there"
    blob_write(ref=REF, data=DATA)
    assert len(keys(bucket)) == 1, "the bucket has it again"


@pytest.mark.django_db(transaction=True)
def test_a_bucket_that_is_not_there_keeps_nothing(server: ThreadedMotoServer, data: Path, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"blobs_url": "s3://absent"})
    with pytest.raises(OSError, match="the bucket of blobs") as failed:
        blob_write(ref=REF, data=DATA)
    assert failed.value.errno == errno.EIO
    assert Blob.objects.count() == 0
    assert not local_blob_path(REF.sha256).exists()


def test_pictures_come_through_their_episode_alone(bucket: Any, committed: World, data: Path, settings: Any) -> None:
    episode = episode_next(user=committed.ada)
    assert episode is not None
    blob_upload(episode_id=episode.pk, ref=REF, data=DATA)
    elsewhere(settings, data / "another")
    url = f"/api/episodes/{episode.pk}/blobs/{REF.sha256}"
    assert committed.client(committed.ada).get(url).content == DATA
    part = committed.client(committed.ada).get(url, headers={"Range": "bytes=31-61"})
    assert (part.status_code, part.content) == (206, DATA[31:62])
    stranger = user_ensure(username="zoe", password=PASSWORD, name="Zoe", roles=["annotator"])
    assert committed.client(stranger).get(url).status_code == 404


def test_what_the_bucket_lost_is_found_out(bucket: Any, committed: World) -> None:
    episode = episode_next(user=committed.ada)
    assert episode is not None
    blob_upload(episode_id=episode.pk, ref=REF, data=DATA)
    assert Episode.objects.count() == 1
    assert check_data().missing == ()
    bucket.delete_object(Bucket="pictures", Key=keys(bucket)[0])
    assert check_data().missing == (REF.sha256,)
