"""Proximal policy optimisation (PPO) with a critic that sees the screenshots, as UI-TARS-2 trains.

Advantages are decoupled and length-adaptive, the clip range is wider upwards, and losses are averaged over tokens. The
critic trains alone first while the policy is fixed; then both learn from each update's attempts. A restarted run
resumes from its newest checkpoint.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field

from trainer.rl.advantages import ALPHA, Advantages, adaptive_lambda, explained_variance, token_advantages, whiten
from trainer.rl.attempts import Attempt, FlatBatch
from trainer.rl.config import OnPolicyConfig
from trainer.rl.critics import INTERFACES, CriticSet, CriticSharing, token_interfaces
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

CRITIC = "critic"


class Config(OnPolicyConfig):
    """How it is trained, and on what."""

    critic: Path | None = None
    """A critic that was trained before. Without one, the critic starts with the policy's weights and a value of 0."""
    critics: CriticSharing = "shared"
    """One critic for attempts by every interface, or one for each; these begin as the folders in `critic` named after
    them (`gui`, `functions`), or else all as the same."""
    critic_learning_rate: float = Field(default=2e-5, gt=0)
    """Of the critic's AdamW."""
    value_updates: int = Field(default=0, ge=0)
    """At most so many updates, the first ones, teach the critic alone."""
    value_enough: float = Field(default=0.5, le=1)
    """The policy begins to learn as soon as the critic explains this share of the returns' variance."""
    gamma: float = Field(default=1.0, gt=0, le=1)
    """What a reward is worth one token later."""
    policy_lambda: float | None = Field(default=None, ge=0, le=1)
    """How far credit reaches back for the policy; null lets it follow from lengths, 1 - 1/(alpha l)."""
    critic_lambda: float = Field(default=1.0, ge=0, le=1)
    """The same for what the critic learns; with 1 that is what attempts came to."""
    alpha: float = Field(default=ALPHA, gt=0)
    """Credit reaches back over this share of a length; 0.05 is for thousands of tokens."""
    length_by: Literal["step", "trajectory"] = "trajectory"
    """Whose length that is."""
    whiten: bool = True
    """Whether advantages are brought to mean 0 and deviation 1."""
    value_clip: float | None = Field(default=0.2, gt=0)
    """How far a value may move in one update without being held."""
    positive: float = Field(default=0.0, ge=0)
    """How much the likelihood of what led to success weighs beside the rest (VAPO: 0.1)."""


class Ppo:
    """The policy and its critics."""

    def __init__(self, context: LearnerContext, config: Config) -> None:
        newest, state = context.newest, context.state
        self._policy, self._optimiser, self._config = context.checkpoint.model, context.optimiser, config
        own = config.model_copy(update={"learning_rate": config.critic_learning_rate})
        source, saved = config.critic or config.checkpoint, newest / CRITIC if newest else None
        self._critics = CriticSet(source, saved, config.critics, own)
        self._reference = load_reference(config)
        self._still = int(state.place.get("still", 0))
        self._moves = bool(state.place.get("moves", not config.value_updates))

    @property
    def place(self) -> dict[str, Any]:
        """How many updates left the policy unchanged, and whether it has started to learn."""
        return {"still": self._still, "moves": self._moves}

    @property
    def compared(self) -> None:
        """Each attempt counts by itself: the critic is its baseline."""

    def write(self, folder: Path) -> None:
        """Write the critics and their optimisers."""
        self._critics.write(folder / CRITIC)

    def learn(self, attempts: Sequence[Attempt], flat: FlatBatch, update: int) -> dict[str, float]:
        """Compute token statistics, then step the critic and, once it learns, the policy; returns metrics."""
        config = self._config
        parts = sequences(flat, self._policy, config, update)
        known = compute_token_statistics(self._policy, self._reference, flat, parts, config)
        interfaces = token_interfaces(attempts, flat)
        values = self._critics.values(parts, interfaces)
        gae = decoupled_advantages(flat, values, config)
        advantages = whiten(gae.advantages, known.comparable) if config.whiten else gae.advantages
        anchors = flat.weights * flat.policy_mask
        explained = explained_variance(gae.returns, values, anchors)
        self._moves = self._moves or explained >= config.value_enough or update > config.value_updates
        self._still += not self._moves
        steps = []
        for minibatch in minibatches(flat, self._policy, config, update):
            figures = self._critics.learn(
                minibatch, values, gae.returns, anchors, interfaces, update, clip=config.value_clip
            )
            if self._moves:
                figures |= policy_gradients(self._policy, minibatch, flat, known, advantages, config, config.positive)
                figures |= optimiser_step(self._optimiser, update, config)
            steps.append(figures)
        metrics = {"explained_variance": explained} | explained_variance_by_interface(
            interfaces, gae.returns, values, anchors
        )
        metrics = {name: value for name, value in metrics.items() if not math.isnan(value)}
        return token_metrics(flat, known) | mean_metrics(steps) | metrics | {"still": self._still}


def explained_variance_by_interface(
    interfaces: torch.Tensor, returns: torch.Tensor, values: torch.Tensor, weights: torch.Tensor
) -> dict[str, float]:
    """Explained variance for each interface; empty when the attempts have only one."""
    met = interfaces.unique().tolist()
    if len(met) < 2:
        return {}
    return {
        f"explained_variance/{INTERFACES[number]}": explained_variance(
            returns, values, weights * (interfaces == number)
        )
        for number in met
    }


def decoupled_advantages(flat: FlatBatch, values: torch.Tensor, config: Config) -> Advantages:
    """Decoupled advantages: one λ for the policy, which may depend on lengths, and one for the critic."""
    rollout = flat.rollout(values)
    reach = config.policy_lambda
    return token_advantages(
        rollout,
        gamma=config.gamma,
        policy_lambda=adaptive_lambda(rollout, alpha=config.alpha, by=config.length_by) if reach is None else reach,
        critic_lambda=config.critic_lambda,
    )


INBOX = InboxSource()


def run(config: Config, rollouts: RolloutSource = INBOX) -> Path:
    """Train, or resume from the newest checkpoint; returns the last checkpoint's folder. Raises TrainerError."""
    return train(config, lambda context: Ppo(context, config), rollouts)
