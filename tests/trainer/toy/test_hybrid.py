"""The experiment with two interfaces: every arm is played, measured on unseen attempts, and known the next time."""

import json
from pathlib import Path

import pytest

from protocol.dialects.families import get_dialect
from protocol.trajectory.proposals import PolicyRef
from trainer.data.rendering import Renderer
from trainer.data.trajectories import open_folder
from trainer.model.checkpoints import load_checkpoint
from trainer.rl.attempts import read_attempts
from trainer.rl.rewards import RewardShaping
from trainer.toy import hybrid
from trainer.toy.episodes import DIALECT
from trainer.toy.hybrid import ARMS, CRITICS, compare_arms, format_mean_and_range, table
from trainer.toy.rollouts import create_attempts

SMALL = ("--seeds", "1", "--sizes", "48", "--exam", "12", "--value-updates", "2", "--updates", "1")


def test_attempts_with_the_tool_are_learned_from_token_for_token(start: Path, tmp_path: Path) -> None:
    by = PolicyRef(name="toy", revision="start", dialect=DIALECT)
    folder = create_attempts(start, tmp_path / "helped", range(6), by=by, temperature=1.0, with_tool=True)
    renderer = Renderer(load_checkpoint(start), context=256)
    found, lost = read_attempts(
        open_folder(folder), get_dialect(DIALECT), renderer, shaping=RewardShaping(), temperature=1.0
    )
    trajectories = {one.id: one for one in open_folder(folder).trajectories()}
    assert not lost
    assert {one.interface for one in found} == {"functions"}
    for one in found:
        proposals = [row[0] for row in trajectories[one.id].proposals]
        assert [step.ids for step in one.steps] == [
            (*(said.prompt_token_ids or ()), *(said.completion_token_ids or ())) for said in proposals
        ]


@pytest.mark.timeout(1800)
def test_every_arm_is_run_once_and_read_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert hybrid.main([str(tmp_path), *SMALL]) == 0
    first = capsys.readouterr().out
    assert all(name in first for name in (*ARMS, *(f"48, {arm}" for arm in CRITICS)))
    made = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("figures.json")}
    assert len(made) == 3 + 4, "a shared critic and one for each; two policies by both ways and one for each"
    figures = json.loads((tmp_path / "0" / "ppo-1-gui-functions" / "figures.json").read_text())
    assert 0 <= figures["gui"] <= 1
    assert figures.keys() == {"gui", "functions", "all/gui", "all/functions", "cpu_seconds"}
    assert hybrid.main([str(tmp_path), *SMALL]) == 0
    assert capsys.readouterr().out == first
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("figures.json")} == made


def test_a_table_has_mean_and_range_and_what_one_has_more() -> None:
    one = [{"gui": 0.5, "cpu_seconds": 2.0}, {"gui": 1.0, "cpu_seconds": 4.0}]
    other = [{"gui": 0.75, "cpu_seconds": 1.0}, {"gui": 0.5, "cpu_seconds": 1.0}]
    assert format_mean_and_range([0.5, 1.0]) == "0.750 (0.500 to 1.000)"
    assert table({"arm": one}, ["gui"]).splitlines()[-1] == "| arm | 2 | 0.750 (0.500 to 1.000) | 3 |"
    assert compare_arms(one, other, ["gui"]) == "gui 0.125 (-0.250 to 0.500), more in 1 of 2"
