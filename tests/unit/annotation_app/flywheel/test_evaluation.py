"""The report on a candidate's attempts, made in the flywheel's own process."""

from pathlib import Path

import pytest

from annotation_app.flywheel.evaluation import evaluate_trials
from annotation_app.flywheel.programs import ProgramFailed
from tests.unit.annotation_app.flywheel.test_trials import attempts_write


def test_a_candidate_is_compared_with_the_revision_that_proposes(tmp_path: Path) -> None:
    attempts_write(tmp_path / "candidate", {1: True, 2: True})
    attempts_write(tmp_path / "active", {1: False, 2: True})
    report = evaluate_trials(tmp_path / "candidate", against=tmp_path / "active")
    assert (report.attempts, report.tasks[0].successes.successes) == (2, 2)
    assert report.comparison is not None
    (task,) = report.comparison.tasks
    assert (task.before.successes, task.after.successes) == (1, 2)


def test_attempts_that_cannot_be_read_fail_the_stage(tmp_path: Path) -> None:
    with pytest.raises(ProgramFailed, match="candidate"):
        evaluate_trials(tmp_path / "candidate", against=None)
