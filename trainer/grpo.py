"""Group-relative policy optimisation: the baseline without a critic, over the same loop as PPO.

An attempt is as good as its reward is above that of the others at the same task; all its tokens share that. Attempts
of a group that all came to the same are not computed: they teach nothing (DAPO), and often they are most. Only what a
person said in one of them is learned.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from trainer.advantages import group_advantages, varied
from trainer.attempts import Attempt, Flat
from trainer.improvement import averaged, known_of, known_told, minibatches, policy_gradients, sequences
from trainer.onpolicy import Given, OnPolicy, reference_of, train
from trainer.runs import stepped


class Config(OnPolicy):
    """How it is trained, and on what."""

    scale: bool = True
    """Whether advantages are divided by the deviation of their group (Dr. GRPO: no)."""


class Grpo:
    """The policy and its optimiser."""

    def __init__(self, given: Given, config: Config) -> None:
        self._policy, self._optimiser, self._config = given.checkpoint.model, given.optimiser, config
        self._reference = reference_of(config)

    @property
    def place(self) -> dict[str, Any]:
        """There is nothing beside the weights."""
        return {}

    def write(self, folder: Path) -> None:
        """There is nothing beside the weights."""

    def learn(self, attempts: Sequence[Attempt], flat: Flat, update: int) -> dict[str, float]:
        """One update."""
        config = self._config
        rewards = torch.tensor([sum(attempt.rewards) for attempt in attempts])
        tasks = {task: number for number, task in enumerate(dict.fromkeys(attempt.task for attempt in attempts))}
        groups = torch.tensor([tasks[attempt.task] for attempt in attempts])
        told = {"varied": float(varied(rewards, groups).float().mean())}
        teaching = varied(rewards, groups).index_fill(0, flat.owner[~flat.written], True)
        if not teaching.any():
            return told
        advantages = group_advantages(rewards, groups, scale=config.scale)[flat.owner][teaching[flat.owner]]
        flat = flat.only(teaching)
        parts = sequences(flat, self._policy, config, update)
        known = known_of(self._policy, self._reference, flat, parts, config)
        steps = [
            policy_gradients(self._policy, minibatch, flat, known, advantages, config)
            | stepped(self._optimiser, update, config)
            for minibatch in minibatches(flat, self._policy, config, update)
        ]
        return known_told(flat, known) | averaged(steps) | told


def run(config: Config) -> Path:
    """Train, or go on training; returns the last checkpoint's folder. Raises TrainerError."""
    return train(config, lambda given: Grpo(given, config))
