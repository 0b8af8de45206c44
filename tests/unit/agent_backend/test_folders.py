"""Folders on their way: one that was cut off anywhere goes on after its last whole trajectory."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_backend.folders import FolderUnusable, FolderWriter, manifest_read, trajectories_read
from tests.unit.agent_backend.evaluate.tries import tried
from vocabulary.blobs import BlobRef
from vocabulary.exports import IMAGES, TRAJECTORIES
from vocabulary.trajectories import Trajectory

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FIRST, SECOND = tried("snake", True, steps=2), tried("maze", False, steps=1)
PICTURES = {
    BlobRef.of(f"screen-{number}".encode(), "image/png").sha256: f"screen-{number}".encode() for number in range(4)
}


def content(ref: BlobRef) -> bytes | None:
    return PICTURES.get(ref.sha256)


def begun(tmp_path: Path, *trajectories: Trajectory) -> Path:
    """What a writer leaves that is killed after these; the unfinished folder."""
    writer = FolderWriter(tmp_path / "out", {"of": "r1"})
    for trajectory in trajectories:
        writer.add(trajectory, content)
    return tmp_path / "out.tmp"


@pytest.mark.parametrize("cut", [1, 200])
def test_a_line_that_was_cut_off_is_written_again(tmp_path: Path, cut: int) -> None:
    lines = begun(tmp_path, FIRST, SECOND) / TRAJECTORIES
    lines.write_bytes(lines.read_bytes()[:-cut])
    writer = FolderWriter(tmp_path / "out", {"of": "r1"})
    assert list(writer.kept) == [FIRST.id]
    writer.add(SECOND, content)
    counts = writer.finish(at=NOON).counts
    assert (counts.trajectories, counts.steps, counts.images) == (2, 3, 3)
    assert [one for _, one in trajectories_read([tmp_path / "out"])] == [FIRST, SECOND]


def test_a_trajectory_without_its_pictures_is_not_there(tmp_path: Path) -> None:
    aside = begun(tmp_path, FIRST)
    next((aside / IMAGES).iterdir()).unlink()
    assert not FolderWriter(tmp_path / "out", {"of": "r1"}).kept


def test_the_beginning_of_another_folder_is_not_gone_on_with(tmp_path: Path) -> None:
    begun(tmp_path, FIRST)
    with pytest.raises(FolderUnusable, match="another"):
        FolderWriter(tmp_path / "out", {"of": "r2"})
    assert list(FolderWriter(tmp_path / "out", {"of": "r1"}).kept) == [FIRST.id]


def test_what_is_said_at_the_end_stands_in_the_manifest(tmp_path: Path) -> None:
    writer = FolderWriter(tmp_path / "out", {"of": "r1"})
    writer.add(FIRST, content)
    assert writer.finish(at=NOON, pool="Desktop", lost=["a"]) == manifest_read(tmp_path / "out")
    assert manifest_read(tmp_path / "out").filters == {"of": "r1", "lost": ["a"]}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    with pytest.raises(FolderUnusable, match="exists"):
        FolderWriter(tmp_path / "out", {"of": "r1"})


@pytest.mark.parametrize(("given", "why"), [(None, "missing"), (b"another", "altered")])
def test_pictures_are_what_they_are_called(tmp_path: Path, given: bytes | None, why: str) -> None:
    writer = FolderWriter(tmp_path / "out", {})
    with pytest.raises(FolderUnusable, match=why):
        writer.add(FIRST, lambda _: given)
    assert not writer.kept
    writer.drop()
    assert not list(tmp_path.iterdir())
