"""A run that went on from a checkpoint goes on after it has cleared that one away."""

from collections.abc import Callable
from typing import Any

from trainer import ppo
from trainer.checkpoints import checkpoint_load
from trainer.critic import critic_load

Told = Callable[..., dict[str, Any]]


def test_what_a_run_went_on_from_may_be_gone(told: Told) -> None:
    settings = {"attempts": 2, "versions_kept": 1, "alpha": 0.5}
    first = ppo.run(ppo.Config(**told(updates=1, **settings)))
    last = ppo.run(ppo.Config(**told(updates=3, **settings)))
    assert not first.exists()
    assert [folder.name for folder in last.parent.glob("update-??????")] == [last.name] == ["update-000003"]
    assert checkpoint_load(last).beside == checkpoint_load(told()["checkpoint"]).beside
    assert critic_load(last / "critic").checkpoint.beside == checkpoint_load(last).beside
