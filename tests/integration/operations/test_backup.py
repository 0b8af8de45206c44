"""A running installation is saved, and another made of it: the same rows, the same bytes, the same secrets."""

import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from annotation_app.operations.backup import DUMP_NAME, MANIFEST_NAME, backup, restore
from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform, temporary_platform

BYTES = b"\xff\xd8 a picture"
WEIGHTS, COPY = "train/sft/model.safetensors", "data/sft-fresh/trajectories.jsonl"
"""Of a turn of the flywheel."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TemporaryPlatform]:
    """An installation with a table and a file that it names."""
    with temporary_platform(tmp_path_factory.mktemp("original"), storage_only=True) as whole:
        with psycopg.connect(whole.environment["PILOTHOUSE_DATABASE_URL"]) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 'żółw' AS word")
        blob = whole.data / "blobs" / "ab" / "abcd"
        blob.parent.mkdir(parents=True)
        blob.write_bytes(BYTES)
        (blob.parent / "half.tmp").write_bytes(b"not whole")
        turn = whole.data / "flywheel" / "0c1d"
        for name in (WEIGHTS, COPY):
            (turn / name).parent.mkdir(parents=True)
            (turn / name).write_bytes(BYTES)
        yield whole


@pytest.fixture(scope="module")
def saved(original: TemporaryPlatform, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("saved") / "monday"
    manifest = backup(original.data, target, quiet())
    assert manifest.bytes > len(BYTES)
    return target


def quiet() -> Console:
    return Console(io.StringIO())


def test_what_was_saved_from_a_running_one_runs_again_elsewhere(
    original: TemporaryPlatform, saved: Path, tmp_path: Path
) -> None:
    assert not (saved / "blobs" / "ab" / "half.tmp").exists(), "what is still being written is not saved"
    assert (saved / "flywheel" / "0c1d" / WEIGHTS).read_bytes() == BYTES
    assert not (saved / "flywheel" / "0c1d" / COPY).exists(), "the database has it"
    restore(saved, tmp_path / "fresh", quiet())
    with temporary_platform(tmp_path / "fresh", storage_only=True) as again:
        with psycopg.connect(again.environment["PILOTHOUSE_DATABASE_URL"]) as connection:
            assert connection.execute("SELECT word FROM kept").fetchone() == ("żółw",)
        assert (again.data / "blobs" / "ab" / "abcd").read_bytes() == BYTES
        assert again.environment["PILOTHOUSE_SECRET_KEY"] == original.environment["PILOTHOUSE_SECRET_KEY"]


def test_one_that_is_stopped_is_saved_too(saved: Path, tmp_path: Path) -> None:
    restore(saved, tmp_path / "fresh", quiet())
    backup(tmp_path / "fresh", tmp_path / "again", quiet())
    restore(tmp_path / "again", tmp_path / "third", quiet())
    assert (tmp_path / "third" / "blobs" / "ab" / "abcd").read_bytes() == BYTES


@pytest.mark.parametrize("damage", ["cut", "no_manifest", "file_gone"])
def test_a_damaged_one_is_refused_and_leaves_nothing(saved: Path, tmp_path: Path, damage: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(saved, copy)
    if damage == "cut":
        (copy / DUMP_NAME).write_bytes((copy / DUMP_NAME).read_bytes()[:-1])
    elif damage == "no_manifest":
        (copy / MANIFEST_NAME).unlink()
    else:
        (copy / "blobs" / "ab" / "abcd").unlink()
    with pytest.raises(OperationsError):
        restore(copy, tmp_path / "fresh", quiet())
    assert not (tmp_path / "fresh" / "postgres").exists()


def test_nothing_is_written_over(original: TemporaryPlatform, saved: Path, tmp_path: Path) -> None:
    with pytest.raises(OperationsError, match="exists"):
        backup(original.data, saved, quiet())
    with pytest.raises(OperationsError, match="not empty"):
        restore(saved, original.data, quiet())
    with pytest.raises(OperationsError, match="no installation"):
        backup(tmp_path, tmp_path / "target", quiet())
