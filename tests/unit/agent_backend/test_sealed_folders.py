"""Folders of attempts at sealed tasks: nothing of their words on the disk, everything when they are read."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_backend.trajectory_folders import InvalidFolder, TrajectoryFolderWriter, read_trajectories
from protocol.actions.types import Finish, TypeText
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import trajectory

NOW = datetime(2026, 1, 2, tzinfo=UTC)
TASK = Task(
    id="q/1",
    instruction="Which bird nests on the third pillar of the bridge at Quarrymouth?",
    parameters={"sealed": {"password": "own"}, "reference_answer": "Grey wagtail"},
)
ATTEMPT: Trajectory = trajectory(TypeText(text="bird nests on the third pillar of the bridge"), Finish()).model_copy(
    update={"task": TASK, "answer": "It is the grey wagtail."}
)


def written(folder: Path) -> TrajectoryFolderWriter:
    writer = TrajectoryFolderWriter(folder, {})
    writer.add(ATTEMPT, lambda ref: None)
    return writer


@pytest.fixture(autouse=True)
def _no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_backend.trajectory_folders._referenced_blobs", lambda _: iter(()))


def test_an_attempt_is_written_without_the_words_and_read_with_them(tmp_path: Path) -> None:
    written(tmp_path / "out").finish(at=NOW)
    for path in (tmp_path / "out").rglob("*"):
        data = path.read_bytes().lower() if path.is_file() else b""
        assert not any(word in data for word in (b"quarrymouth", b"third pillar", b"wagtail")), path
    ((_, found),) = read_trajectories([tmp_path / "out"])
    assert (found.task, found.answer, found.steps) == (ATTEMPT.task, ATTEMPT.answer, ATTEMPT.steps)


def test_a_command_that_goes_on_knows_what_is_done(tmp_path: Path) -> None:
    written(tmp_path / "out")
    again = TrajectoryFolderWriter(tmp_path / "out", {})
    assert again.tasks_by_id[ATTEMPT.id] == TASK


def test_a_folder_whose_seal_was_changed_is_refused(tmp_path: Path) -> None:
    writer = written(tmp_path / "out")
    lines = next(tmp_path.rglob("trajectories.jsonl"))
    lines.write_bytes(lines.read_bytes().replace(b'"password": "own"', b'"password": "oth"'))
    writer.finish(at=NOW)
    with pytest.raises(InvalidFolder, match="line 1"):
        list(read_trajectories([tmp_path / "out"]))
