"""A policy is taught its own successes, and nothing else of what lies in a folder."""

import json
from pathlib import Path
from typing import Any

import pytest

from protocol.trajectory.observations import Verdict
from protocol.trajectory.trajectories import Trajectory
from tests.trainer.examples import REPLY, accepted, write_attempt_folder
from tests.unit.protocol.examples import TASK
from trainer.__main__ import main
from trainer.algorithms.rft import Config, balance_tasks, read_samples
from trainer.errors import NothingToLearn
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.serve.prompt_encoder import PromptEncoder

TOKENS = 16_384


def mixed_trajectory(checkpoint: Checkpoint, success: bool | None = True, **fields: Any) -> Trajectory:
    """A step the policy drew and one that a person worded, with a verifier's word."""
    whole = accepted(PromptEncoder(checkpoint, max_images=5, context=TOKENS))
    verdict = None if success is None else Verdict(success=success, score=float(success))
    return whole.model_copy(update={"verdict": verdict, **fields})


def config_of(checkpoint: Checkpoint, *folders: Path, **more: Any) -> Config:
    return Config(checkpoint=checkpoint.path, out=Path("none"), folders=folders, tokens=TOKENS, **more)


def test_only_the_policys_own_tokens_are_learned(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_attempt_folder(tmp_path / "folder", mixed_trajectory(checkpoint))
    (sample,) = read_samples(config_of(checkpoint, folder), checkpoint)
    assert sample.ids[-len(REPLY) :] == REPLY
    assert '{"samples": 1, "left_out": {"step_of_a_person": 1}}' in capsys.readouterr().err


@pytest.mark.parametrize("success", [False, None])
def test_what_no_verifier_believed_is_left_out(
    checkpoint: Checkpoint, tmp_path: Path, success: bool | None, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_attempt_folder(tmp_path / "folder", mixed_trajectory(checkpoint, success, outcome="success"))
    with pytest.raises(NothingToLearn):
        read_samples(config_of(checkpoint, folder), checkpoint)
    assert '"attempt_unverified": 1' in capsys.readouterr().err


def test_tasks_weigh_the_same(checkpoint: Checkpoint, tmp_path: Path) -> None:
    other = TASK.model_copy(update={"name": "other"})
    attempts = [("a", TASK), ("b", TASK), ("c", other)]
    folders = [
        write_attempt_folder(tmp_path / name, mixed_trajectory(checkpoint, id=name, task=task))
        for name, task in attempts
    ]
    samples = read_samples(config_of(checkpoint, *folders, by_task=True), checkpoint)
    assert [one.trajectory_id for one in samples] == ["a", "b", "c"]
    first, second, third = (sum(one.weights) for one in samples)
    assert first + second == pytest.approx(third)
    assert first + second + third == pytest.approx(3 * len(REPLY)), "the mean stays"
    assert balance_tasks(samples, {"a": "x", "b": "x", "c": "x"})[0].weights == pytest.approx(samples[0].weights)


def test_the_command_trains(checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_attempt_folder(tmp_path / "folder", mixed_trajectory(checkpoint))
    settings = {"checkpoint": str(checkpoint.path), "folders": [str(folder)], "out": str(tmp_path / "run")}
    (tmp_path / "rft.json").write_text(json.dumps({**settings, "tokens": TOKENS, "sequences": 1, "updates": 2}))
    assert main(["rft", "--config", str(tmp_path / "rft.json")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'run' / 'update-000002'}\n"
    load_checkpoint(tmp_path / "run" / "update-000002")
