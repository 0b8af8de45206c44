"""Exports: asked for, written aside, checked by their manifest, downloaded, deterministic."""

import asyncio
import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.episodes import services
from annotation_app.episodes.models import Episode
from annotation_app.exports import selectors
from annotation_app.exports.jobs import exports_requeue_job
from annotation_app.exports.models import Export
from annotation_app.exports.services import MAX_ATTEMPTS, export_write
from annotation_app.heartbeats import LOST_AFTER
from annotation_app.live.store import run_in_db_thread
from protocol.trajectory.trajectories import Trajectory
from tests.contract.test_store import PICTURE, POLICY, REF, proposal, step
from tests.integration.web.conftest import World


def finished(world: World, user: User, *, accept: bool = True, practice: bool = False) -> Episode:
    """An episode of one step with two offers, finished and perhaps accepted."""
    episode = services.episode_next(user=user, practice=practice)
    assert episode is not None
    own: dict[str, Any] = {
        "episode_id": episode.id,
        "token": services.runner_take_over(episode_id=episode.id, runner="h:1:a", seconds=60),
    }
    services.blob_add(**own, ref=REF, data=PICTURE)
    services.proposals_add(**own, proposals=(proposal(1), proposal(2)), policy=POLICY)
    services.step_append(**own, step=step(command_id=f"command-{episode.id}"))
    services.episode_change(**own, fields={"status": "finished", "outcome": "success"})
    if accept:
        services.episode_review(reviewer=world.rosa, episode_id=episode.id, decision="accept")
    return episode


@pytest.fixture
def accepted(committed: World) -> Episode:
    """One accepted episode among some that must not be exported."""
    episode = finished(committed, committed.ada)
    finished(committed, committed.ben, accept=False)
    finished(committed, committed.ben, accept=False, practice=True)
    return episode


def ask(world: World, **body: object) -> dict[str, object]:
    response = world.client(world.ravi).post("/api/exports", body, content_type="application/json")
    answer: dict[str, object] = response.json()
    return answer


def test_accepted_trajectories_come_out_whole(committed: World, accepted: Episode) -> None:
    asked = ask(committed)
    export = committed.client(committed.ravi).get(f"/api/exports/{asked['id']}").json()
    assert (export["status"], export["progress"], export["trajectories"]) == ("done", 1, 1)
    folder = selectors.export_folder(Export.objects.get().id)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["format"] == "pilothouse-export-1"
    assert manifest["counts"] == {"trajectories": 1, "steps": 1, "images": 1}
    for file in manifest["files"]:
        data = (folder / file["path"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (file["sha256"], file["size"])
    lines = (folder / "trajectories.jsonl").read_text().splitlines()
    trajectory = Trajectory.model_validate_json(lines[0])
    assert (trajectory.id, trajectory.outcome, len(trajectory.proposals[0])) == (str(accepted.id), "success", 2)
    assert "ada" not in lines[0]


def test_the_same_question_gets_the_same_bytes(committed: World, accepted: Episode) -> None:
    ask(committed)
    ask(committed)
    first, second = (
        (selectors.export_folder(export.id) / "trajectories.jsonl").read_bytes() for export in Export.objects.all()
    )
    assert first == second


def test_an_interrupted_job_goes_on_and_a_done_one_is_left_alone(committed: World, accepted: Episode) -> None:
    export = Export.objects.create(filters={}, requested_by=committed.ravi)
    folder = selectors.export_folder(export.id)
    half = folder.with_name(folder.name + ".tmp") / "images"
    half.mkdir(parents=True)
    (half / f"{REF.sha256}.jpg").write_bytes(b"half")
    export_write(export_id=export.id)
    assert (folder / "images" / f"{REF.sha256}.jpg").read_bytes() == PICTURE
    written = (folder / "manifest.json").stat().st_mtime_ns
    export_write(export_id=export.id)
    assert (folder / "manifest.json").stat().st_mtime_ns == written


def test_a_lost_picture_fails_the_job_and_leaves_no_folder(committed: World, accepted: Episode, data: Path) -> None:
    for blob in (data / "blobs").rglob(REF.sha256):
        blob.unlink()
    asked = ask(committed)
    export = Export.objects.get(pk=str(asked["id"]))
    assert export.status == "failed"
    assert (export.error, export.missing) == (
        "1 pictures are missing.",
        [{"sha256": REF.sha256, "episode": str(accepted.id)}],
    )
    assert not selectors.export_folder(export.id).exists()
    response = committed.client(committed.ravi).get(f"/api/exports/{export.id}/download")
    assert (response.status_code, response.json()["code"]) == (409, "not_finished")


async def test_a_download_is_one_zip(committed: World, accepted: Episode) -> None:
    asked = await run_in_db_thread(ask, world=committed)
    client = await run_in_db_thread(committed.client, user=committed.ravi)
    response: Any = await run_in_db_thread(client.get, path=f"/api/exports/{asked['id']}/download")
    async with asyncio.timeout(20):
        content = b"".join([part async for part in response])
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        assert archive.testzip() is None
    assert [name for name in names if name.endswith("trajectories.jsonl")]
    assert [name for name in names if name.endswith(".jpg")]


def test_filters(committed: World, accepted: Episode) -> None:
    asked = ask(committed, filters={"review": None})
    assert Export.objects.get(pk=str(asked["id"])).trajectories == 2, "practice is never exported"
    asked = ask(committed, filters={"outcome": "infeasible"})
    assert Export.objects.get(pk=str(asked["id"])).trajectories == 0
    assert ask(committed, pool_id=9_999)["code"] == "not_found"
    assert ask(committed, filters={"colour": "red"})["code"] == "invalid"


def test_the_command_writes_the_same_folder(committed: World, accepted: Episode, tmp_path: Path) -> None:
    target = tmp_path / "out"
    call_command("export_trajectories", str(target), "--pool", "real")
    assert (target / "manifest.json").is_file()
    with pytest.raises(CommandError, match="exists already"):
        call_command("export_trajectories", str(target))
    with pytest.raises(CommandError, match="no pool"):
        call_command("export_trajectories", str(tmp_path / "other"), "--pool", "nowhere")


@pytest.mark.parametrize("status", ["queued", "running"])
def test_an_export_nobody_works_on_is_written_after_all(committed: World, accepted: Episode, status: str) -> None:
    export = Export.objects.create(filters={}, requested_by=committed.ravi, status=status)
    exports_requeue_job()
    assert Export.objects.get(pk=export.pk).status == status, "somebody may be at it"
    Export.objects.filter(pk=export.pk).update(heard_at=timezone.now() - 2 * LOST_AFTER)
    exports_requeue_job()
    assert Export.objects.get(pk=export.pk).status == "done"


def test_an_export_that_breaks_every_time_has_failed(committed: World) -> None:
    export = Export.objects.create(
        filters={},
        requested_by=committed.ravi,
        status="running",
        attempts=MAX_ATTEMPTS,
        heard_at=timezone.now() - 2 * LOST_AFTER,
    )
    exports_requeue_job()
    export.refresh_from_db()
    assert (export.status, "broke off" in export.error) == ("failed", True)


def test_an_export_is_written_by_one_worker(committed: World) -> None:
    export = Export.objects.create(filters={}, requested_by=committed.ravi, status="running")
    export_write(export_id=export.pk)
    assert Export.objects.get(pk=export.pk).status == "running", "left to the other one"


def test_an_export_names_the_pool_it_is_of(committed: World, accepted: Episode) -> None:
    by_route = ask(committed, pool_id=committed.pool.pk)
    by_filter = ask(committed, filters={"pool": committed.pool.pk, "text": "nothing like it"})
    everything = ask(committed)
    assert [one["pool"] for one in (by_route, by_filter, everything)] == ["real", "real", ""]
    made = [Export.objects.get(pk=str(one["id"])).trajectories for one in (by_route, by_filter, everything)]
    assert made == [1, 0, 1]
