"""Folders on their way: one that was cut off anywhere goes on after its last whole trajectory."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_backend.trajectory_folders import InvalidFolder, TrajectoryFolderWriter, read_manifest, read_trajectories
from protocol.blobs import BlobRef
from protocol.trajectory.export_folders import IMAGES, TRAJECTORIES
from protocol.trajectory.trajectories import Trajectory
from tests.unit.agent_backend.evaluation.examples import example_attempt

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FIRST, SECOND = example_attempt("snake", True, steps=2), example_attempt("maze", False, steps=1)
PICTURES = {
    BlobRef.of(f"screen-{number}".encode(), "image/png").sha256: f"screen-{number}".encode() for number in range(4)
}


def content(ref: BlobRef) -> bytes | None:
    return PICTURES.get(ref.sha256)


def begun(tmp_path: Path, *trajectories: Trajectory) -> Path:
    """What a writer leaves that is killed after these; the unfinished folder."""
    writer = TrajectoryFolderWriter(tmp_path / "out", {"of": "r1"})
    for trajectory in trajectories:
        writer.add(trajectory, content)
    return tmp_path / "out.tmp"


@pytest.mark.parametrize("cut", [1, 200])
def test_a_line_that_was_cut_off_is_written_again(tmp_path: Path, cut: int) -> None:
    lines = begun(tmp_path, FIRST, SECOND) / TRAJECTORIES
    lines.write_bytes(lines.read_bytes()[:-cut])
    writer = TrajectoryFolderWriter(tmp_path / "out", {"of": "r1"})
    assert list(writer.tasks_by_id) == [FIRST.id]
    writer.add(SECOND, content)
    counts = writer.finish(at=NOON).counts
    assert (counts.trajectories, counts.steps, counts.images) == (2, 3, 3)
    assert [one for _, one in read_trajectories([tmp_path / "out"])] == [FIRST, SECOND]


def test_a_trajectory_without_its_pictures_is_not_there(tmp_path: Path) -> None:
    aside = begun(tmp_path, FIRST)
    next((aside / IMAGES).iterdir()).unlink()
    assert not TrajectoryFolderWriter(tmp_path / "out", {"of": "r1"}).tasks_by_id


def test_the_beginning_of_another_folder_is_not_gone_on_with(tmp_path: Path) -> None:
    begun(tmp_path, FIRST)
    with pytest.raises(InvalidFolder, match="another"):
        TrajectoryFolderWriter(tmp_path / "out", {"of": "r2"})
    assert list(TrajectoryFolderWriter(tmp_path / "out", {"of": "r1"}).tasks_by_id) == [FIRST.id]


def test_what_is_said_at_the_end_stands_in_the_manifest(tmp_path: Path) -> None:
    writer = TrajectoryFolderWriter(tmp_path / "out", {"of": "r1"})
    writer.add(FIRST, content)
    assert writer.finish(at=NOON, pool="Desktop", lost=["a"]) == read_manifest(tmp_path / "out")
    assert read_manifest(tmp_path / "out").filters == {"of": "r1", "lost": ["a"]}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    with pytest.raises(InvalidFolder, match="exists"):
        TrajectoryFolderWriter(tmp_path / "out", {"of": "r1"})


@pytest.mark.parametrize(("given", "why"), [(None, "missing"), (b"another", "altered")])
def test_pictures_are_what_they_are_called(tmp_path: Path, given: bytes | None, why: str) -> None:
    writer = TrajectoryFolderWriter(tmp_path / "out", {})
    with pytest.raises(InvalidFolder, match=why):
        writer.add(FIRST, lambda _: given)
    assert not writer.tasks_by_id
    writer.discard()
    assert not list(tmp_path.iterdir())
