"""PPO learns what its start did not know, GRPO takes the same steps, and a run that was ended goes on bit for bit."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from protocol.training.inbox import PROCESSED_FOLDER
from trainer.algorithms import grpo, ppo
from trainer.errors import CheckpointMismatched, ConfigInvalid, RolloutsMissing
from trainer.model.checkpoints import STATE, load_checkpoint
from trainer.toy.rollouts import LightsSource

Told = Callable[..., dict[str, Any]]
QUICK: dict[str, Any] = {"updates": 3, "attempts": 8, "critic_learning_rate": 3e-3, "alpha": 0.5, "value_updates": 1}


def log(run: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]


@pytest.mark.timeout(1200)
def test_ppo_learns(told: Told) -> None:
    # At 3e-3, with or without an end that falls, some seeds and processors unlearn again what they had learned.
    rates = {"learning_rate": 2e-3, "settle": 10, "critic_learning_rate": 3e-3}
    config = ppo.Config(**told(updates=18, attempts=32, alpha=0.5, value_updates=4, epochs=2, **rates))
    run = ppo.run(config, LightsSource()).parent
    success = [line["success"] for line in log(run)]
    assert sum(success[:4]) / 4 < 0.65, "the start knows half of it"
    assert sum(success[-4:]) / 4 > 0.85
    assert log(run)[-1]["tokens"] > 0
    assert log(run)[-1]["kl_rollout"] == pytest.approx(0, abs=1e-4), "who played and who learns are one"


BY_BOTH: dict[str, Any] = {"world": "lights both", "critics": "apart"}


@pytest.mark.parametrize(
    ("more", "critics"), [({}, ["critic"]), (BY_BOTH, ["critic/gui", "critic/functions"])], ids=["one", "apart"]
)
def test_a_run_that_was_ended_goes_on_bit_for_bit(
    more: dict[str, Any], critics: list[str], told: Told, tmp_path: Path
) -> None:
    settings = QUICK | more
    whole = ppo.run(ppo.Config(**told(**settings)), LightsSource())
    ended = tmp_path / "ended"
    shutil.copytree(whole.parent, ended)
    shutil.copytree(tmp_path / "inbox", tmp_path / "again")
    shutil.rmtree(ended / whole.name)
    (ended / f"{whole.name}.making").mkdir()
    shutil.rmtree(tmp_path / "again" / PROCESSED_FOLDER / "played-000003")
    again = ppo.run(ppo.Config(**told(**settings, out=ended, inbox=tmp_path / "again")), LightsSource())
    for folder in (".", *critics):
        first, second = (load_checkpoint(one / folder).model.state_dict() for one in (whole, again))
        assert all(torch.equal(first[name], second[name]) for name in first)
    assert [line["update"] for line in log(ended)] == [1, 2, 3]
    assert [{**line, "seconds": 0} for line in log(ended)] == [{**line, "seconds": 0} for line in log(whole.parent)]


def test_attempts_that_were_learned_from_are_not_learned_from_again(told: Told, tmp_path: Path) -> None:
    whole = ppo.run(ppo.Config(**told(**QUICK | {"updates": 1})), LightsSource())
    assert json.loads((whole / STATE).read_text())["place"]["taken"] == ["played-000001"]
    (tmp_path / "inbox" / PROCESSED_FOLDER / "played-000001").rename(
        tmp_path / "inbox" / "played-000001"
    )  # killed before it left
    elsewhere = told(**QUICK | {"updates": 2}, world="inbox", patience=0.01)
    with pytest.raises(CheckpointMismatched):
        ppo.run(ppo.Config(**elsewhere))
    ppo.run(ppo.Config(**told(**QUICK | {"updates": 2})), LightsSource())
    assert {one.name for one in (tmp_path / "inbox" / PROCESSED_FOLDER).iterdir()} == {"played-000001", "played-000002"}


def test_a_trainer_that_nobody_plays_for_says_so(told: Told) -> None:
    with pytest.raises(RolloutsMissing, match="0 of 8"):
        ppo.run(ppo.Config(**told(**QUICK, world="inbox", patience=0.01)))


def test_a_world_that_the_trainer_plays_needs_its_source(told: Told) -> None:
    with pytest.raises(ConfigInvalid, match="the world lights needs a rollout source"):
        ppo.run(ppo.Config(**told(**QUICK)))


def test_grpo_learns_from_groups(told: Told) -> None:
    config = grpo.Config(**told(updates=2, attempts=8, group=4, kl=0.01, entropy=0.01))
    run = grpo.run(config, LightsSource()).parent
    first, second = log(run)
    assert first["kl_loss"] == pytest.approx(0, abs=1e-6), "it is where it began"
    assert second["kl_loss"] > 0
    assert 0 <= first["varied"] <= 1
    assert not (run / "update-000002" / "critic").exists()
