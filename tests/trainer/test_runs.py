"""A learning rate grows, stays, and falls at the end."""

from pathlib import Path

import pytest

from trainer.config import TrainingConfig
from trainer.runtime.runs import learning_rate_factor


def test_a_rate_grows_stays_and_falls() -> None:
    config = TrainingConfig(checkpoint=Path("start"), out=Path("run"), updates=10, warmup=4, settle=3)
    paces = [learning_rate_factor(update, config) for update in range(1, 11)]
    assert paces == pytest.approx([0.25, 0.5, 0.75, 1, 1, 1, 1, 2 / 3, 1 / 3, 0.02])


def test_a_rate_that_does_not_settle_stays() -> None:
    config = TrainingConfig(checkpoint=Path("start"), out=Path("run"), updates=5, warmup=0)
    assert [learning_rate_factor(update, config) for update in range(1, 6)] == [1] * 5
