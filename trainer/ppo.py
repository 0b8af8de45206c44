"""Proximal policy optimisation with a critic that sees the screenshots, as UI-TARS-2 trains.

Its advantages are decoupled and adapt to lengths, its clip is wider upwards, its losses count tokens. The critic
learns alone first, while the policy stands still; then both learn from each update's attempts. Started again, a run
goes on from its newest checkpoint.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field

from trainer.advantages import ALPHA, Advantages, adaptive_lambda, explained_variance, token_advantages, whiten
from trainer.attempts import Attempt, Flat
from trainer.critic import critic_open, learned_values
from trainer.improvement import (
    Minibatch,
    Part,
    averaged,
    known_of,
    known_told,
    minibatches,
    policy_gradients,
    sequences,
)
from trainer.losses import value_loss
from trainer.onpolicy import Given, OnPolicy, reference_of, train
from trainer.ranks import added, backward, gathered, is_first, meet, optimiser_read, optimiser_write, unlearning
from trainer.runs import optimiser_of, stepped

CRITIC = "critic"


class Config(OnPolicy):
    """How it is trained, and on what."""

    critic: Path | None = None
    """A critic that was trained before; without one it begins as the policy's own eyes, expecting nothing."""
    critic_learning_rate: float = Field(default=2e-5, gt=0)
    """Of the critic's AdamW."""
    value_updates: int = Field(default=0, ge=0)
    """At most so many updates, the first ones, teach the critic alone."""
    value_enough: float = Field(default=0.5, le=1)
    """The policy begins to learn as soon as the critic explains so much of the variance of what attempts came to."""
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
    """The policy, its critic and their optimisers."""

    def __init__(self, given: Given, config: Config) -> None:
        newest, state = given.newest, given.state
        self._policy, self._optimiser, self._config = given.checkpoint.model, given.optimiser, config
        source = newest / CRITIC if newest else config.critic or config.checkpoint
        self._critic = critic_open(source, config)
        self._critic_config = config.model_copy(update={"learning_rate": config.critic_learning_rate})
        self._critic_optimiser = optimiser_of(self._critic.learning(vision=config.vision), self._critic_config)
        if newest:
            optimiser_read(self._critic_optimiser, newest / CRITIC)
        self._reference = reference_of(config)
        self._still = int(state.place.get("still", 0))
        self._moves = bool(state.place.get("moves", not config.value_updates))

    @property
    def place(self) -> dict[str, Any]:
        """How many updates left the policy as it was, and whether it has begun to learn."""
        return {"still": self._still, "moves": self._moves}

    def write(self, folder: Path) -> None:
        """The critic, with its optimiser."""
        if is_first():
            (folder / CRITIC).mkdir()
        meet()
        self._critic.write(folder / CRITIC)
        optimiser_write(self._critic_optimiser, folder / CRITIC)

    def learn(self, attempts: Sequence[Attempt], flat: Flat, update: int) -> dict[str, float]:
        """One update: what is known first, then steps of the critic and, unless it stands still, of the policy."""
        config = self._config
        parts = sequences(flat, self._policy, config, update)
        known = known_of(self._policy, self._reference, flat, parts, config)
        values = self._values(flat, parts)
        gae = advantages_of(flat, values, config)
        advantages = whiten(gae.advantages, known.comparable) if config.whiten else gae.advantages
        anchors = flat.weights * gae.anchored
        explained = explained_variance(gae.returns, values, anchors)
        self._moves = self._moves or explained >= config.value_enough or update > config.value_updates
        self._still += not self._moves
        steps = []
        for minibatch in minibatches(flat, self._policy, config, update):
            figures = self._critic_step(minibatch, values, gae.returns, anchors, update)
            if self._moves:
                figures |= policy_gradients(self._policy, minibatch, flat, known, advantages, config, config.positive)
                figures |= stepped(self._optimiser, update, config)
            steps.append(figures)
        told = {"explained_variance": explained} | explained_apart(attempts, flat, gae.returns, values, anchors)
        told = {name: value for name, value in told.items() if not math.isnan(value)}
        return known_told(flat, known) | averaged(steps) | told | {"still": self._still}

    def _values(self, flat: Flat, parts: Sequence[Part]) -> torch.Tensor:
        values = torch.zeros(len(flat.owner))
        with unlearning():
            for part in parts:
                found = learned_values(self._critic, part.pack).cpu()
                if part.counts:
                    values[part.places] = found
        return gathered(values)

    def _critic_step(
        self, step: Minibatch, values: torch.Tensor, returns: torch.Tensor, anchors: torch.Tensor, update: int
    ) -> dict[str, float]:
        count = float(anchors[step.places].sum())
        total = 0.0
        for part in step.parts:
            one, places = part.pack, part.places
            old, wanted, weights = (
                each[places].to(one.ids.device) for each in (values, returns, anchors * part.counts)
            )
            loss = value_loss(
                learned_values(self._critic, one), old, wanted, weights, count, clip=self._config.value_clip
            )
            backward(loss)
            total += float(loss.detach())
        figures = stepped(self._critic_optimiser, update, self._critic_config)
        return {**added({"value_loss": total}), "value_gradient": figures["gradient"]}


def explained_apart(
    attempts: Sequence[Attempt], flat: Flat, returns: torch.Tensor, values: torch.Tensor, weights: torch.Tensor
) -> dict[str, float]:
    """What the one critic explains of each interface, where there are several."""
    names = sorted({one.interface for one in attempts})
    if len(names) < 2:
        return {}
    of = torch.tensor([names.index(one.interface) for one in attempts])[flat.owner]
    return {
        f"explained_variance/{name}": explained_variance(returns, values, weights * (of == number))
        for number, name in enumerate(names)
    }


def advantages_of(flat: Flat, values: torch.Tensor, config: Config) -> Advantages:
    """Decoupled advantages: one λ for the policy, which may follow from lengths, another for the critic."""
    rollout = flat.rollout(values)
    reach = config.policy_lambda
    return token_advantages(
        rollout,
        gamma=config.gamma,
        policy_lambda=adaptive_lambda(rollout, alpha=config.alpha, by=config.length_by) if reach is None else reach,
        critic_lambda=config.critic_lambda,
    )


def run(config: Config) -> Path:
    """Train, or go on training; returns the last checkpoint's folder. Raises TrainerError."""
    return train(config, lambda given: Ppo(given, config))
