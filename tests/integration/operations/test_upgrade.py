"""An installation of an older schema is saved, restored, migrated and checked: everything is found."""

import io
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from psycopg.conninfo import make_conninfo

from annotation_app.operations.backup import backup, restore
from annotation_app.operations.console import Console
from annotation_app.operations.runtime.postgres import binaries_folder
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform
from tests.contract.test_store import PICTURE, REF, step

OLD = {"accounts": "0002_tokens", "policies": "0002_revisions", "tasks": "0004_need", "episodes": "0004_step_refused"}
"""Before groups, overlap, figures of steps, rejected reviews, branches, exports' plans, judges, reviews, retention."""
CASTS = re.compile(r"::(text|character varying)(\[\])?|[()]")
FILL = """
import json
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
old, task, step, sha, size = json.loads(%r)
executor = MigrationExecutor(connection)
executor.loader.replace_migrations = False  # `manage.py migrate` takes no target that a squashed migration replaces
executor.loader.build_graph()
executor.migrate(list(map(tuple, old)))
apps = executor.loader.project_state(list(map(tuple, old))).apps
model = lambda app, name: apps.get_model(app, name).objects
person = model("accounts", "User").create(username="olga", roles=["annotator"], password="!")
pool = model("tasks", "Pool").create(name="old pool")
pool.members.add(person)
row = model("tasks", "Task").create(pool=pool, key="t-1", definition=task, state="done", done=1)
held = model("tasks", "Assignment").create(task=row, annotator=person, state="done", expires_at=timezone.now())
episode = model("episodes", "Episode").create(
    task=row, annotator=person, assignment=held, status="finished", outcome="success", desk="{}", version=3,
    finished_at=timezone.now(),
)
own = json.loads(step)
model("episodes", "Step").create(
    episode=episode, index=0, command_id=own["command_id"], actor=own["actor"], decision=own["decision"], document=step
)
blob = model("blobs", "Blob").create(sha256=sha, media_type="image/jpeg", size=size)
model("episodes", "EpisodeBlob").create(episode=episode, blob=blob)
model("audit", "AuditEntry").create(actor=person, verb="test.done", subject="episode:1")
"""
READ = """
import json
from annotation_app.episodes.models import Episode, Step
from annotation_app.episodes.selectors.trajectories import episode_trajectory
from annotation_app.audit.models import AuditEntry
episode = Episode.objects.get()
trajectory = episode_trajectory(episode_id=episode.pk)
task = episode.task
print("READ " + json.dumps({
    "person": episode.annotator.username, "pool": task.pool.name,
    "works": [one.username for one in task.pool.members.all()],
    "task": [task.definition.instruction, task.state, task.finished, task.kind], "outcome": trajectory.outcome,
    "thought": trajectory.steps[0].thought, "took": Step.objects.get().took_ms, "emptied": episode.emptied_at,
    "audit": AuditEntry.objects.filter(verb="test.done").count(),
}))
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A backup of an installation as it was before the newer migrations, with one finished episode."""
    with temporary_platform(tmp_path_factory.mktemp("old"), storage_only=True) as whole:
        definition = json.dumps({"id": "t-1", "instruction": "Rename it.", "suite": "desktop", "name": "rename"})
        done = step(command_id="command-old").model_dump_json()
        old = [*OLD.items(), ("audit", "0001_initial"), ("blobs", "0001_initial")]
        whole.manage("shell", "-c", FILL % json.dumps([old, definition, done, REF.sha256, len(PICTURE)]))
        blob = whole.data / "blobs" / REF.sha256[:2] / REF.sha256
        blob.parent.mkdir(parents=True)
        blob.write_bytes(PICTURE)
        target = tmp_path_factory.mktemp("saved") / "before"
        backup(whole.data, target, Console(io.StringIO()))
        yield target


@pytest.fixture
def upgraded(saved: Path, tmp_path: Path) -> Iterator[TemporaryPlatform]:
    """What was restored from it with the code of today, not migrated yet."""
    restore(saved, tmp_path / "fresh", Console(io.StringIO()))
    with temporary_platform(tmp_path / "fresh", storage_only=True) as whole:
        yield whole


def _new_database() -> str:
    """The database that the tests share, where the squashed migrations ran."""
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    return make_conninfo("", **{name: connection.settings_dict[key] or None for name, key in names.items()})


def _schema(database: str) -> list[str]:
    """The statements of a dump without rows. Casts in conditions are left out: restoring a dump moves them."""
    dump = subprocess.run(
        [binaries_folder() / "pg_dump", "--schema-only", "--no-owner", "--no-privileges", f"--dbname={database}"],
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    lines = [line for line in dump.splitlines() if line and not line.startswith(("--", "\\"))]
    return [CASTS.sub("", line) if line.startswith("CREATE") else line for line in lines]


@pytest.mark.django_db
def test_an_older_installation_is_found_whole_after_its_upgrade(upgraded: TemporaryPlatform) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        upgraded.manage("check_data")
    assert "tasks.0005_kinds" in json.loads(refused.value.stdout)["migrations_due"]
    upgraded.manage("migrate")
    assert _schema(upgraded.environment["PILOTHOUSE_DATABASE_URL"]) == _schema(_new_database()), "as in a new database"
    report = json.loads(upgraded.manage("check_data"))
    assert (report["episodes"], report["steps"], report["files"]) == (1, 1, 1)
    said = next(line for line in upgraded.manage("shell", "-c", READ).splitlines() if line.startswith("READ "))
    read = json.loads(said.removeprefix("READ "))
    assert read["task"] == ["Rename it.", "done", 1, "desktop/rename"], "counts and kinds are those of today"
    assert (read["person"], read["pool"], read["works"]) == ("olga", "old pool", ["olga"])
    assert (read["outcome"], read["emptied"], read["audit"]) == ("success", None, 1)
    assert read["thought"] == step(command_id="x").thought
    assert read["took"] is not None, "figures of steps that were there already are filled in"
    (upgraded.data / "blobs" / REF.sha256[:2] / REF.sha256).write_bytes(b"cut")
    with pytest.raises(subprocess.CalledProcessError) as damaged:
        upgraded.manage("check_data")
    assert json.loads(damaged.value.stdout)["missing"] == [REF.sha256]
