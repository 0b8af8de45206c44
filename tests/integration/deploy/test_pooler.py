"""What programs do through pgbouncer, which gives connections out by transaction."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from annotation_app.blobs.services import DELETION_LOCK_KEY
from annotation_app.episodes.services import blob_upload
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.failover.pgbouncer import PGBOUNCER, run_pgbouncer
from protocol.blobs import BlobRef
from tests.integration.web.conftest import World, database_url
from tests.integration.web.exports.test_exports import finished

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(PGBOUNCER is None, reason="pgbouncer is not installed"),
]
HOLD = """
import django; django.setup()
from annotation_app.blobs.services import blob_deletion_paused
with blob_deletion_paused():
    print("held", flush=True)
    input()
print("free", flush=True)
input()
"""


@pytest.fixture
def pooled(committed: World, data: Path, settings: Any) -> Iterator[dict[str, str]]:
    """The surroundings of a program whose connections are shared: two for all."""
    direct = database_url()
    with run_pgbouncer(direct, size=2) as url:
        yield {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "annotation_app.settings.local",
            "PILOTHOUSE_DATABASE_URL": url,
            "PILOTHOUSE_DATABASE_DIRECT_URL": direct,
            "PILOTHOUSE_SECRET_KEY": settings.SECRET_KEY,
            "PILOTHOUSE_DATA": str(data),
        }


def deletable() -> bool:
    """Whether nobody holds blobs now, anywhere."""
    with psycopg.connect(database_url()) as connection:
        row = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [DELETION_LOCK_KEY]).fetchone()
    assert row is not None
    return bool(row[0])


def test_what_is_held_is_held_and_let_go_again(pooled: dict[str, str]) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD], cwd=ROOT, env=pooled, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        assert not deletable()
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "free\n"
        assert deletable(), "while the program and the pooler's connections live on"
        process.communicate("\n", timeout=60)


def test_reading_row_by_row_outlives_its_transactions(committed: World, pooled: dict[str, str], tmp_path: Path) -> None:
    """Every iterator of the commands reads in pieces, with other queries between them."""
    for user in (committed.ada, committed.ben):
        episode = finished(committed, user)
        data = f"a picture of {user.username}".encode()
        blob_upload(episode_id=episode.pk, ref=BlobRef.of(data, "image/jpeg"), data=data)
    for words in (("export_trajectories", str(tmp_path / "export")), ("check_data",)):
        said = subprocess.run(
            [sys.executable, "manage.py", *words], cwd=ROOT, env=pooled, capture_output=True, text=True, check=False,
            timeout=300,
        )  # fmt: skip
        assert said.returncode == 0, said.stdout + said.stderr
    assert len((tmp_path / "export" / "trajectories.jsonl").read_text().splitlines()) == 2
    assert deletable()
