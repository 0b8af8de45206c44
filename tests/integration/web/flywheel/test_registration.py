"""Weights that a cycle trained are registered by hand: as a revision that proposes nowhere."""

from pathlib import Path

import pytest

from annotation_app.accounts.models import User
from annotation_app.flywheel.models import Checkpoint
from annotation_app.flywheel.services import training
from annotation_app.policies.models import PolicyRevision
from tests.integration.web.conftest import World
from tests.integration.web.flywheel.flywheel_helpers import (
    create_wheel,
    run_turn,
    stop_after_stage,
    write_fake_trainer,
)


def test_a_checkpoint_becomes_a_revision_once(
    world: World, admin: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "trainer_python", lambda: write_fake_trainer(tmp_path / "trainer"))
    stop_after_stage(monkeypatch, "train")
    turn = run_turn(create_wheel(admin, tmp_path), admin)
    (checkpoint,) = Checkpoint.objects.filter(turn=turn)
    client, path = world.client(admin), f"/api/checkpoints/{checkpoint.pk}/register"
    body = {"revision": "by-hand", "base_url": "http://models.test/v1", "model": "toy"}

    wrong = client.post(path, {**body, "base_url": ""}, content_type="application/json")
    assert (wrong.status_code, wrong.json()["extra"]["fields"][0]["field"]) == (422, "base_url")
    assert world.client(world.ravi).post(path, body, content_type="application/json").status_code == 403
    assert not PolicyRevision.objects.filter(name="toy").exists()

    made = client.post(path, body, content_type="application/json").json()
    revision = PolicyRevision.objects.get(pk=made["revision"])
    assert (made["new"], str(revision), revision.checkpoint) == (True, "toy by-hand", checkpoint.path)
    assert not revision.pools.exists()
    assert not revision.tried_in.exists()
    checkpoint.refresh_from_db()
    assert checkpoint.revision == revision
    again = client.post(path, {**body, "revision": "other"}, content_type="application/json")
    assert (again.status_code, again.json()["code"]) == (409, "checkpoint_registered")
