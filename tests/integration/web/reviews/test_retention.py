"""Rules of retention: looked at before they are switched on, carried out in pieces, and never upon what is needed."""

from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.audit.services import audit_record
from annotation_app.blobs.models import Blob
from annotation_app.blobs.selectors import blob_path
from annotation_app.blobs.services import blob_deletion_paused, blob_deletion_try_begin, blobs_delete
from annotation_app.episodes.models import Episode, EpisodeBlob, Step
from annotation_app.episodes.services import blob_link, blob_upload
from annotation_app.exports.models import Export, ExportState, Version, VersionMember
from annotation_app.exports.selectors import export_folder
from annotation_app.recordings.models import Recording, RecordingState
from annotation_app.recordings.schemas import StoredPart
from annotation_app.recordings.services import recording_register, recording_store
from annotation_app.retention.jobs import rules_run_job
from annotation_app.retention.models import Rule
from annotation_app.retention.services import rule_run
from protocol.blobs import BlobRef
from tests.contract.test_store import REF
from tests.integration.web.conftest import BOUND, PASSWORD, World
from tests.integration.web.exports.test_exports import finished
from tests.waiting import wait_until

JSON = "application/json"
LONG_AGO = timedelta(days=400)


@pytest.fixture
def alma(committed: World) -> User:
    return user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])


def keep(episode: Episode, data: bytes) -> Path:
    """A picture that the episode shows; where its bytes are."""
    ref = BlobRef.of(data, "image/jpeg")
    blob_upload(episode_id=episode.pk, ref=ref, data=data)
    return blob_path(ref.sha256)


def age(episode: Episode) -> Episode:
    """Let it have ended long ago."""
    Episode.objects.filter(pk=episode.pk).update(finished_at=timezone.now() - LONG_AGO, reviewed_at=None)
    return episode


def rule(world: World, alma: User, what: str = "unaccepted", days: int = 365, pool: int | None = None) -> Rule:
    """A rule that was looked at and is on."""
    client = world.client(alma)
    made = client.post("/api/retention/rules", {"what": what, "days": days, "pool": pool}, content_type=JSON).json()
    client.post(f"/api/retention/rules/{made['id']}/preview")
    assert client.post(f"/api/retention/rules/{made['id']}/active").json()["active"]
    return Rule.objects.get(pk=made["id"])


def test_it_says_what_it_would_delete_before_it_may_be_switched_on(committed: World, alma: User) -> None:
    keep(age(finished(committed, committed.ada, accept=False)), b"old and refused")
    keep(finished(committed, committed.ben, accept=False), b"young")
    client = committed.client(alma)
    made = client.post("/api/retention/rules", {"what": "unaccepted", "days": 365}, content_type=JSON).json()
    url = f"/api/retention/rules/{made['id']}"
    assert client.post(f"{url}/active").json()["code"] == "not_previewed"
    preview = client.post(f"{url}/preview").json()["preview"]
    assert (preview["items"], preview["files"], preview["bytes"]) == (1, 1, len(b"old and refused"))
    assert Blob.objects.count() == 3, "nothing was deleted"
    rules_run_job()
    assert Blob.objects.count() == 3, "a rule that is off deletes nothing"
    assert client.post(f"{url}/active").json()["active"]
    rules_run_job()
    told = client.get("/api/retention").json()["rules"][0]
    assert (told["removed"], told["freed"]) == (preview["items"], preview["bytes"])
    entry = AuditEntry.objects.get(verb="retention.ran")
    assert (entry.actor, entry.details["items"], entry.details["files"]) == (None, 1, 1)


def test_pictures_go_that_nobody_else_shows_and_steps_stay(committed: World, alma: User) -> None:
    old = age(finished(committed, committed.ada, accept=False))
    alone, shared = keep(old, b"alone"), blob_path(REF.sha256)
    finished(committed, committed.ben)
    rule_run(rule_id=rule(committed, alma).pk)
    assert not alone.exists()
    assert shared.exists(), "the accepted episode shows it too"
    assert Step.objects.filter(episode=old).count() == 1
    assert Episode.objects.get(pk=old.pk).emptied_at is not None
    picture = committed.client(alma).get(f"/api/episodes/{old.pk}/blobs/{REF.sha256}")
    assert picture.status_code == 404


@pytest.mark.parametrize("why", ["accepted", "version", "gold"])
def test_what_is_needed_stays(committed: World, alma: User, why: str) -> None:
    episode = age(finished(committed, committed.ada, accept=why == "accepted"))
    if why == "version":
        export = Export.objects.create(requested_by=committed.ravi, status=ExportState.DONE)
        version = Version.objects.create(name="kept", number=1, export=export, created_by=committed.ravi)
        VersionMember.objects.create(version=version, episode=episode.pk, split="train")
    if why == "gold":
        episode.task.gold = episode
        episode.task.save()
    Episode.objects.filter(pk=episode.pk).update(finished_at=timezone.now() - LONG_AGO)
    path = keep(episode, b"needed")
    assert rule_run(rule_id=rule(committed, alma).pk).items == 0
    assert path.exists()
    spared = Rule.objects.get().preview["spared"]
    assert spared == (0 if why == "accepted" else 1)


def test_practice_is_a_rule_of_its_own_and_a_pool_may_be_named(committed: World, alma: User) -> None:
    tried = age(finished(committed, committed.ada, accept=False, practice=True))
    path = keep(tried, b"tried")
    assert rule_run(rule_id=rule(committed, alma).pk).items == 0
    elsewhere = rule(committed, alma, "practice", pool=committed.pool.pk)
    assert rule_run(rule_id=elsewhere.pk).items == 0
    assert rule_run(rule_id=rule(committed, alma, "practice", pool=committed.practice.pk).pk).items == 1
    assert not path.exists()


def test_an_emptied_episode_is_in_no_export(committed: World, alma: User) -> None:
    age(finished(committed, committed.ada, accept=False))
    rule_run(rule_id=rule(committed, alma).pk)
    body = {"filters": {"review": None}}
    asked = committed.client(committed.ravi).post("/api/exports", body, content_type=JSON).json()
    told = committed.client(committed.ravi).get(f"/api/exports/{asked['id']}").json()
    assert (told["status"], told["trajectories"]) == ("done", 0)


def test_nothing_goes_while_an_export_waits_or_is_written(committed: World, alma: User) -> None:
    path = keep(age(finished(committed, committed.ada, accept=False)), b"being read")
    active = rule(committed, alma)
    export = Export.objects.create(requested_by=committed.ravi, status=ExportState.QUEUED)
    assert rule_run(rule_id=active.pk).items == 0
    export.delete()
    held, done = Event(), Event()

    def reads() -> None:
        with blob_deletion_paused():
            held.set()
            done.wait(BOUND)
        connections.close_all()

    reader = Thread(target=reads)
    reader.start()
    assert held.wait(BOUND)
    assert rule_run(rule_id=active.pk).items == 0
    done.set()
    reader.join(BOUND)
    assert path.exists()
    assert rule_run(rule_id=active.pk).items == 1
    assert not path.exists()


def test_what_was_paused_may_be_deleted_before_the_server_notices_a_closed_connection(
    committed: World, alma: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(age(finished(committed, committed.ada, accept=False)), b"being read")
    active = rule(committed, alma)
    left_open: list[BaseDatabaseWrapper] = []
    with monkeypatch.context() as patched:
        patched.setattr(BaseDatabaseWrapper, "close", lambda wrapper: left_open.append(wrapper))
        with blob_deletion_paused():
            assert rule_run(rule_id=active.pk).items == 0
    try:
        assert rule_run(rule_id=active.pk).items == 1
    finally:
        for one in left_open:
            one.close()


def test_bytes_stored_while_they_are_deleted_are_there_afterwards(committed: World) -> None:
    first, second = finished(committed, committed.ada), finished(committed, committed.ben)
    path = keep(first, b"the same again")
    digest = BlobRef.of(b"the same again", "image/jpeg").sha256

    def stores() -> None:
        keep(second, b"the same again")
        connections.close_all()

    writer = Thread(target=stores)
    with transaction.atomic():
        assert blob_deletion_try_begin()
        EpisodeBlob.objects.filter(blob_id=digest).delete()
        assert blobs_delete([digest]) == (1, len(b"the same again"))
        assert not path.exists()
        writer.start()
        wait_until(waiting, BOUND)
    writer.join(BOUND)
    assert path.read_bytes() == b"the same again"
    assert EpisodeBlob.objects.get(blob_id=digest).episode_id == second.pk


def test_bytes_that_are_being_stored_are_not_deleted(committed: World) -> None:
    first, second = finished(committed, committed.ada), finished(committed, committed.ben)
    path = keep(first, b"the same again")
    digest = BlobRef.of(b"the same again", "image/jpeg").sha256
    EpisodeBlob.objects.filter(blob_id=digest).delete()
    deleted: list[tuple[int, int]] = []

    def deletes() -> None:
        with transaction.atomic():
            blob_deletion_try_begin()
            deleted.append(blobs_delete([digest]))
        connections.close_all()

    with transaction.atomic():
        blob_link(episode_id=second.pk, ref=BlobRef.of(b"the same again", "image/jpeg"))
        deleter = Thread(target=deletes)
        deleter.start()
        deleter.join(BOUND)
    assert deleted == [(0, 0)]
    assert path.exists()


def waiting() -> int:
    """Transactions of this database that wait for another."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
        return int(cursor.fetchone()[0])


def test_recordings_go_and_say_so(committed: World, alma: User) -> None:
    episode = age(finished(committed, committed.ada))
    data = b"a video"
    ref = BlobRef.of(data, "video/mp4")
    blob_upload(episode_id=episode.pk, ref=ref, data=data)
    recording_register(episode_id=episode.pk, key="r-1", host_url="http://bridge")
    recording_store(key="r-1", parts=(StoredPart(blob=ref, started_at=timezone.now(), ended_at=None),))
    active = rule(committed, alma, "recordings")
    assert Rule.objects.get().preview["bytes"] == len(data)
    assert rule_run(rule_id=active.pk).files == 1
    assert not blob_path(ref.sha256).exists()
    assert Recording.objects.get().state == RecordingState.DELETED
    answer = committed.client(alma).get(f"/api/episodes/{episode.pk}/recording").json()
    assert answer == {"pending": False, "parts": []}


def test_exports_go_with_their_folders_and_versions_stay(committed: World, alma: User) -> None:
    ended: dict[str, Any] = {"requested_by": committed.ravi, "finished_at": timezone.now() - LONG_AGO}
    gone = Export.objects.create(status=ExportState.DONE, bytes=5, **ended)
    frozen = Export.objects.create(status=ExportState.DONE, **ended)
    Version.objects.create(name="kept", number=1, export=frozen, created_by=committed.ravi)
    for one in (gone, frozen):
        export_folder(one.pk).mkdir(parents=True)
    removed = rule_run(rule_id=rule(committed, alma, "exports").pk)
    assert (removed.items, removed.bytes) == (1, 5)
    assert not export_folder(gone.pk).exists()
    assert export_folder(frozen.pk).exists()
    assert list(Export.objects.all()) == [frozen]


def test_the_audit_log_is_kept_for_a_year_and_deleted_by_its_rule_alone(committed: World, alma: User) -> None:
    client = committed.client(alma)
    answer = client.post("/api/retention/rules", {"what": "audit", "days": 30}, content_type=JSON)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")
    audit_record(actor=alma, verb="task.reopened", subject="task:1")
    entry = AuditEntry.objects.get(verb="task.reopened")
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        entry.delete()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE audit_auditentry DISABLE TRIGGER never_changed")
        AuditEntry.objects.filter(verb="task.reopened").update(at=timezone.now() - LONG_AGO)
        cursor.execute("ALTER TABLE audit_auditentry ENABLE TRIGGER never_changed")
    assert rule_run(rule_id=rule(committed, alma, "audit").pk).items == 1
    assert not AuditEntry.objects.filter(verb="task.reopened").exists()


def test_steps_are_never_deleted_not_even_by_retention(committed: World) -> None:
    finished(committed, committed.ada)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT set_config('pilothouse.retention', 'episodes_step', true)")
        with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
            Step.objects.all()._raw_delete("default")
