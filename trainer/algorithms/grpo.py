"""Group-relative policy optimisation (GRPO): the baseline without a critic, in the same loop as PPO.

The advantage of an attempt is its reward relative to the other attempts at the same task; all its tokens share it.
Groups whose rewards are all equal are skipped, as in DAPO: they carry no signal and are often the majority. A person's
replies in a skipped group are still learned.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from trainer.rl.advantages import group_advantages, has_reward_variance
from trainer.rl.attempts import Attempt, FlatBatch
from trainer.rl.config import OnPolicyConfig
from trainer.rl.policy_updates import (
    compute_token_statistics,
    mean_metrics,
    minibatches,
    policy_gradients,
    sequences,
    token_metrics,
)
from trainer.rl.rollout_source import InboxSource, RolloutSource
from trainer.rl.training_loop import LearnerContext, load_reference, train
from trainer.runtime.runs import optimiser_step


class Config(OnPolicyConfig):
    """How it is trained, and on what."""

    scale: bool = True
    """Whether advantages are divided by the deviation of their group (Dr. GRPO: no)."""


class Grpo:
    """The policy and its optimiser."""

    def __init__(self, context: LearnerContext, config: Config) -> None:
        self._policy, self._optimiser, self._config = context.checkpoint.model, context.optimiser, config
        self._reference = load_reference(config)

    @property
    def place(self) -> dict[str, Any]:
        """No state beside the weights."""
        return {}

    def write(self, folder: Path) -> None:
        """No state beside the weights."""

    def learn(self, attempts: Sequence[Attempt], flat: FlatBatch, update: int) -> dict[str, float]:
        """One update."""
        config = self._config
        rewards = torch.tensor([sum(attempt.rewards) for attempt in attempts])
        tasks = {task: number for number, task in enumerate(dict.fromkeys(attempt.task for attempt in attempts))}
        groups = torch.tensor([tasks[attempt.task] for attempt in attempts])
        metrics = {"varied": float(has_reward_variance(rewards, groups).float().mean())}
        teaching = has_reward_variance(rewards, groups).index_fill(0, flat.attempt_index[~flat.policy_mask], True)
        if not teaching.any():
            return metrics
        by_attempt = group_advantages(rewards, groups, scale=config.scale)
        advantages = by_attempt[flat.attempt_index][teaching[flat.attempt_index]]
        flat = flat.only(teaching)
        parts = sequences(flat, self._policy, config, update)
        known = compute_token_statistics(self._policy, self._reference, flat, parts, config)
        steps = [
            policy_gradients(self._policy, minibatch, flat, known, advantages, config)
            | optimiser_step(self._optimiser, update, config)
            for minibatch in minibatches(flat, self._policy, config, update)
        ]
        return token_metrics(flat, known) | mean_metrics(steps) | metrics


INBOX = InboxSource()


def run(config: Config, rollouts: RolloutSource = INBOX) -> Path:
    """Train, or resume from the newest checkpoint; returns the last checkpoint's folder. Raises TrainerError."""
    return train(config, lambda context: Grpo(context, config), rollouts)
