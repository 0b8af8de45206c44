"""The training loop of PPO and GRPO: wait for attempts, learn from them, save a checkpoint.

Each checkpoint is a version of the weights. Actors sample with the newest one and record its version with each reply.
An update starts when enough attempts are in the inbox; attempts that arrive later belong to a later update.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch

from trainer.data.inbox import AttemptBatch, Inbox
from trainer.errors import ConfigInvalid
from trainer.model.checkpoints import Checkpoint
from trainer.rl.attempts import Attempt, FlatBatch, flatten_attempts
from trainer.rl.config import OnPolicyConfig
from trainer.rl.rollout_source import AttemptReader, RolloutSource, mean_age, stale_versions
from trainer.runtime.distributed import broadcast_from_first, is_first, shard_model, world_size
from trainer.runtime.metrics import open_metrics
from trainer.runtime.runs import (
    RunState,
    create_optimiser,
    newest_checkpoint,
    open_checkpoint,
    remove_old_checkpoints,
    resume_state,
    save_checkpoint,
    trainable_weights,
)


class PolicyLearner(Protocol):
    """An algorithm that learns from the attempts of one update."""

    def learn(self, attempts: Sequence[Attempt], flat: FlatBatch, update: int) -> dict[str, float]:
        """Change the weights; returns the metrics of the update."""
        ...

    @property
    def place(self) -> dict[str, Any]:
        """State of the algorithm beside its weights, as JSON values."""
        ...

    @property
    def compared(self) -> Collection[str] | None:
        """Tasks with earlier attempts to compare new ones with; None if each attempt counts by itself."""
        ...

    def write(self, folder: Path) -> None:
        """Write its own files into a checkpoint, such as a critic."""
        ...


@dataclass(frozen=True)
class LearnerContext:
    """What an algorithm starts or resumes with."""

    checkpoint: Checkpoint
    optimiser: torch.optim.Optimizer
    state: RunState
    newest: Path | None
    """The checkpoint that the run resumes from; None at its start."""


def load_reference(config: OnPolicyConfig) -> Any | None:
    """The weights of the run's start, for the KL penalty; None without one."""
    if not config.kl:
        return None
    model = open_checkpoint(config.checkpoint, config).model
    shard_model(model)
    return model


def train(
    config: OnPolicyConfig, create_learner: Callable[[LearnerContext], PolicyLearner], rollouts: RolloutSource
) -> Path:
    """Train, or resume from the newest checkpoint.

    Returns:
        The folder of the last checkpoint.

    Raises:
        TrainerError: The settings, a checkpoint or the attempts cannot be used.
    """
    if world_size() > 1 and config.world != "inbox":
        raise ConfigInvalid(f"the world {config.world} is played by one process; several learn from an inbox")
    newest = newest_checkpoint(config.out)
    checkpoint = open_checkpoint(newest or config.checkpoint, config)
    shard_model(checkpoint.model)
    optimiser = create_optimiser(trainable_weights(checkpoint.model, vision=config.vision), config)
    state = resume_state(newest, config, "attempts", optimiser, {"taken": []})
    learner = create_learner(LearnerContext(checkpoint, optimiser, state, newest))

    def save(state: RunState) -> Path:
        def write(folder: Path) -> None:
            checkpoint.write(folder)
            learner.write(folder)

        folder = save_checkpoint(config.out, state, optimiser, write)
        remove_old_checkpoints(config.out, keep=config.versions_kept)
        return folder

    inbox = Inbox(config.inbox, patience=config.patience)
    discard_learned(inbox, state.place["taken"])
    reader = AttemptReader(config, checkpoint, inbox, rollouts)
    newest = newest or save(state)
    with open_metrics(config.out, state.update) as metrics:
        for update in range(state.update + 1, config.updates + 1):
            attempts = partial(reader.attempts, update, learner.place, learner.compared)
            taken = broadcast_from_first(attempts, config.patience)
            age = mean_age(taken.attempts, update, learner.place)
            flat = flatten_attempts(
                taken.attempts, stale=stale_versions(taken.attempts, update, learner.place, config.staleness)
            )
            figures = rollout_metrics(taken, flat) | {"age": age} | learner.learn(taken.attempts, flat, update)
            state = state.after(update, {**learner.place, "taken": list(taken.folders)})
            metrics.write(update, figures)
            newest = save(state)
            discard_learned(inbox, taken.folders)
    return newest


def discard_learned(inbox: Inbox, folders: Sequence[str]) -> None:
    """Move folders that were learned from out of the inbox; only the first rank does."""
    if is_first():
        inbox.mark_processed(folders)


def rollout_metrics(taken: AttemptBatch, flat: FlatBatch) -> dict[str, float]:
    """Metrics of the attempts of an update."""
    attempts = taken.attempts
    count = len(attempts)
    replies = max(1, sum(one.logprobs is not None for one in flat.samples))
    reply_tokens = float(flat.policy_mask.sum())
    met = Counter(one.interface for one in attempts)
    won = Counter(one.interface for one in attempts if one.success)
    apart = {f"success/{name}": won[name] / number for name, number in met.items()} if len(met) > 1 else {}
    return apart | {
        "success": sum(one.success for one in attempts) / count,
        "reward": sum(sum(one.rewards) for one in attempts) / count,
        "rounds": sum(one.rounds for one in attempts) / count,
        "thought": sum(one.thought for one in attempts) / count,
        "reply_tokens": reply_tokens / replies,
        "tokens": reply_tokens,
        "skipped": float((flat.policy_mask & flat.rollout_logprobs.isnan()).sum()) / max(1.0, reply_tokens),
        "truncated": sum(not one.terminated for one in attempts) / count,
        "judged": sum(one.judged for one in attempts) / count,
        "attempts": count,
        "versions": len({version for one in attempts for version in one.versions}),
        "refused": sum(taken.refused.values()),
    }
