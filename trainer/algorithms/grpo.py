"""Group-relative policy optimisation (GRPO): the baseline without a critic, in the same loop as PPO.

The advantage of an attempt is its reward relative to the other attempts at the same task; all its tokens share it.
Groups whose rewards are all equal are skipped, as in DAPO: they carry no signal and are often the majority. A person's
replies in a skipped group are still learned.

Attempts of a group may arrive in different updates. One that is alone in an update is compared with the rewards of
attempts at its task in earlier updates. If there are none, it waits in the inbox.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import torch

from protocol.base import FrozenModel
from trainer.errors import ConfigInvalid
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


class LearnedReward(FrozenModel):
    """The reward of an attempt that an update learned from."""

    task: str
    update: int
    reward: float


class Grpo:
    """The policy, its optimiser, and the rewards of the last updates."""

    def __init__(self, context: LearnerContext, config: Config) -> None:
        self._policy, self._optimiser, self._config = context.checkpoint.model, context.optimiser, config
        self._reference = load_reference(config)
        self._learned = [LearnedReward.model_validate(one) for one in context.state.place.get("learned", ())]

    @property
    def place(self) -> dict[str, Any]:
        """The rewards of attempts in the last `staleness` updates."""
        return {"learned": [one.model_dump() for one in self._learned]}

    @property
    def compared(self) -> Collection[str]:
        """Tasks of attempts in the last `staleness` updates."""
        return {one.task for one in self._learned}

    def write(self, folder: Path) -> None:
        """No state beside the weights."""

    def learn(self, attempts: Sequence[Attempt], flat: FlatBatch, update: int) -> dict[str, float]:
        """One update."""
        config, count = self._config, len(attempts)
        came = [(attempt.task, sum(attempt.rewards)) for attempt in attempts]
        alone = {task for task, number in Counter(task for task, _ in came).items() if number == 1}
        known_rewards = [*came, *((one.task, one.reward) for one in self._learned if one.task in alone)]
        tasks = {task: number for number, task in enumerate(dict.fromkeys(task for task, _ in known_rewards))}
        rewards = torch.tensor([reward for _, reward in known_rewards])
        groups = torch.tensor([tasks[task] for task, _ in known_rewards])
        self._learned += [LearnedReward(task=task, update=update, reward=reward) for task, reward in came]
        self._learned = [one for one in self._learned if update + 1 - one.update <= config.staleness]
        varied = has_reward_variance(rewards, groups)[:count]
        metrics = {"varied": float(varied.float().mean())}
        teaching = varied.index_fill(0, flat.attempt_index[~flat.policy_mask], True)
        if not teaching.any():
            return metrics
        by_attempt = group_advantages(rewards, groups, scale=config.scale)[:count]
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
    if config.world != "inbox" and config.group < 2:
        raise ConfigInvalid("GRPO compares attempts at a task: `group` is at least 2")
    return train(config, lambda context: Grpo(context, config), rollouts)
