"""Attempts at sealed benchmark tasks teach no model."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_backend.trajectory_folders import TrajectoryFolderWriter
from protocol.trajectory.tasks import Task
from tests.unit.protocol.examples import trajectory
from trainer.data.trajectories import open_folder
from trainer.errors import TrajectoryUnreadable

SEALED = Task(id="q/1", instruction="Which bird nests there?", parameters={"sealed": {"password": "own"}})


def test_a_folder_with_a_sealed_task_is_refused(tmp_path: Path) -> None:
    writer = TrajectoryFolderWriter(tmp_path / "out", {})
    writer.add(trajectory().model_copy(update={"task": SEALED}), lambda ref: None)
    writer.finish(at=datetime(2026, 1, 2, tzinfo=UTC))
    with pytest.raises(TrajectoryUnreadable, match="sealed task"):
        list(open_folder(tmp_path / "out").trajectories())
