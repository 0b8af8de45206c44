"""A run that went on from a checkpoint goes on after it has cleared that one away."""

from collections.abc import Callable
from typing import Any

from trainer.algorithms import ppo
from trainer.model.checkpoints import load_checkpoint
from trainer.model.critic import load_critic
from trainer.toy.rollouts import LightsSource

Told = Callable[..., dict[str, Any]]


def test_what_a_run_went_on_from_may_be_gone(told: Told) -> None:
    settings = {"attempts": 2, "versions_kept": 1, "alpha": 0.5}
    first = ppo.run(ppo.Config(**told(updates=1, **settings)), LightsSource())
    last = ppo.run(ppo.Config(**told(updates=3, **settings)), LightsSource())
    assert not first.exists()
    assert [folder.name for folder in last.parent.glob("update-??????")] == [last.name] == ["update-000003"]
    assert load_checkpoint(last).beside == load_checkpoint(told()["checkpoint"]).beside
    assert load_critic(last / "critic").checkpoint.beside == load_checkpoint(last).beside
