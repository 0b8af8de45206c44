"""The loop that PPO and GRPO share: attempts come in, an update learns from them, a whole checkpoint goes out.

Each checkpoint is a version of the weights: whoever plays takes the newest, and tells it with what it drew. An update
begins when enough attempts are there; those that are on their way come to a later one.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, Protocol

import torch
from pydantic import Field

from trainer.config import DialectConfig, PackingConfig, TrainingConfig
from trainer.data.inbox import AttemptBatch, Inbox
from trainer.data.rendering import Renderer
from trainer.data.trajectories import open_folder
from trainer.errors import AttemptStale, ConfigInvalid
from trainer.model.checkpoints import Checkpoint
from trainer.rl.attempts import Attempt, FlatBatch, flatten_attempts, read_attempts
from trainer.rl.rewards import RewardShaping
from trainer.runtime.distributed import broadcast_from_first, is_first, shard_model, world_size
from trainer.runtime.metrics import open_metrics
from trainer.runtime.runs import (
    RunState,
    create_optimiser,
    newest_checkpoint,
    open_checkpoint,
    resume_state,
    save_checkpoint,
    trainable_weights,
)
from vocabulary.dialects import dialect_named

VERSION = "update-"


class OnPolicyConfig(TrainingConfig, PackingConfig, DialectConfig):
    """How attempts are taken in, and what both algorithms are told."""

    world: Literal["inbox", "lights", "lights helped", "lights both"] = "inbox"
    """Who plays: others, through the inbox, or the trainer itself in its toy world, between two updates: by its screen
    alone, with a tool beside it, or half and half."""
    inbox: Path
    """Where folders of trajectories come in."""
    attempts: int = Field(default=32, ge=1)
    """An update begins when so many are there; the others stay for the next."""
    staleness: int = Field(default=4, ge=0)
    """By how many updates weights may be older than the newest when they drew. What older ones drew is not learned by
    the policy; attempts with nothing else are set aside."""
    patience: float = Field(default=3600.0, gt=0)
    """Seconds that are waited for attempts."""
    versions_kept: int = Field(default=3, ge=1)
    """Checkpoints of a run that stay, the newest."""
    temperature: float = Field(default=1.0, gt=0)
    """At which the policy draws; what was drawn at another is set aside."""
    shaping: RewardShaping = RewardShaping()
    """What an attempt is rewarded for."""
    epochs: int = Field(default=1, ge=1)
    """How often an update goes over its attempts."""
    clip_low: float = Field(default=0.2, gt=0, lt=1)
    """How far a token's ratio may fall before it is held."""
    clip_high: float = Field(default=0.28, gt=0)
    """How far it may rise; wider than `clip_low` it lets rare words grow (clip-higher)."""
    dual_clip: float | None = Field(default=None, gt=1)
    """Bounds the loss of tokens that were bad and became likelier."""
    correction: float | None = Field(default=2.0, ge=1)
    """The most that a token weighs for being likelier now than when it was drawn (truncated importance sampling); null
    for no correction."""
    entropy: float = Field(default=0.0, ge=0)
    """How much an undecided policy is worth."""
    kl: float = Field(default=0.0, ge=0)
    """How much it costs to go away from the weights the run began with."""
    human: float = Field(default=1.0, ge=0)
    """How much the likelihood of a person's words weighs: nobody drew them, so they have no ratio."""
    group: int = Field(default=1, ge=1)
    """Attempts at each task, where the trainer itself plays."""


class PolicyLearner(Protocol):
    """What an algorithm does with the attempts of one update."""

    def learn(self, attempts: Sequence[Attempt], flat: FlatBatch, update: int) -> dict[str, float]:
        """Change the weights; the figures of the update."""
        ...

    @property
    def place(self) -> dict[str, Any]:
        """Where it is, beside its weights."""
        ...

    def write(self, folder: Path) -> None:
        """Keep what else it needs in a checkpoint."""
        ...


@dataclass(frozen=True)
class LearnerContext:
    """What an algorithm begins or goes on with."""

    checkpoint: Checkpoint
    optimiser: torch.optim.Optimizer
    state: RunState
    newest: Path | None
    """The checkpoint it goes on from; None for a run that begins."""


def load_reference(config: OnPolicyConfig) -> Any | None:
    """The weights the run began with, where it costs to go away from them."""
    if not config.kl:
        return None
    model = open_checkpoint(config.checkpoint, config).model
    shard_model(model)
    return model


def train(config: OnPolicyConfig, learner_of: Callable[[LearnerContext], PolicyLearner]) -> Path:
    """Train, or go on; returns the last checkpoint's folder. Raises TrainerError."""
    if world_size() > 1 and config.world != "inbox":
        raise ConfigInvalid(f"the world {config.world} is played by one process; several learn from an inbox")
    newest = newest_checkpoint(config.out)
    checkpoint = open_checkpoint(newest or config.checkpoint, config)
    shard_model(checkpoint.model)
    optimiser = create_optimiser(trainable_weights(checkpoint.model, vision=config.vision), config)
    state = resume_state(newest, config, "attempts", optimiser, {"taken": []})
    learner = learner_of(LearnerContext(checkpoint, optimiser, state, newest))

    def kept(state: RunState) -> Path:
        def write(folder: Path) -> None:
            checkpoint.write(folder)
            learner.write(folder)

        folder = save_checkpoint(config.out, state, optimiser, write)
        for old in sorted(config.out.glob(f"{VERSION}??????"))[: -config.versions_kept] if is_first() else ():
            shutil.rmtree(old)
        return folder

    inbox = Inbox(config.inbox, patience=config.patience)
    discard_learned(inbox, state.place["taken"])
    source = RolloutSource(config, checkpoint, inbox)
    newest = newest or kept(state)
    with open_metrics(config.out, state.update) as metrics:
        for update in range(state.update + 1, config.updates + 1):
            taken = broadcast_from_first(partial(source.attempts, update, learner.place), config.patience)
            flat = flatten_attempts(
                taken.attempts, stale=stale_versions(taken.attempts, update, learner.place, config.staleness)
            )
            figures = rollout_metrics(taken, flat) | learner.learn(taken.attempts, flat, update)
            state = state.after(update, {**learner.place, "taken": list(taken.folders)})
            metrics.write(update, figures)
            newest = kept(state)
            discard_learned(inbox, taken.folders)
    return newest


def discard_learned(inbox: Inbox, folders: Sequence[str]) -> None:
    """These were learned from; one process says so."""
    if is_first():
        inbox.discard(folders)


class RolloutSource:
    """Where an update's attempts come from."""

    def __init__(self, config: OnPolicyConfig, checkpoint: Checkpoint, inbox: Inbox) -> None:
        self._config, self._checkpoint, self._inbox = config, checkpoint, inbox
        self._renderer, self._dialect = Renderer(checkpoint, context=config.tokens), dialect_named(config.dialect)

    def attempts(self, update: int, place: dict[str, Any]) -> AttemptBatch:
        """What the next update learns from. Raises RolloutsMissing."""
        config, count = self._config, self._config.attempts
        if config.world != "inbox":
            from trainer.toy.rollout_source import play_lights

            play_lights(self._checkpoint, config, update)
            count = 1  # the folder it has played, whatever of it can be used
        return self._inbox.take(count, self._read, lambda one: check_fresh(one, update, place, config.staleness))

    def _read(self, path: Path) -> tuple[list[Attempt], Counter[str]]:
        config = self._config
        return read_attempts(
            open_folder(path), self._dialect, self._renderer, shaping=config.shaping, temperature=config.temperature
        )


def check_fresh(attempt: Attempt, update: int, place: dict[str, Any], staleness: int) -> None:
    """Raises AttemptStale for what was drawn by weights of no version of this run, or by none that are young enough.

    A part that is too old comes first in an attempt: what follows what young weights drew is theirs or younger ones'.
    """
    for version in attempt.versions:
        number = version.removeprefix(VERSION)
        if not (version.startswith(VERSION) and number.isdecimal() and int(number) < update):
            raise AttemptStale(f"{attempt.id}: {version} is no version of this run")
    if stale_versions([attempt], update, place, staleness).issuperset(attempt.versions):
        raise AttemptStale(f"{attempt.id}: {', '.join(attempt.versions)} are more than {staleness} updates old")


def stale_versions(attempts: Sequence[Attempt], update: int, place: dict[str, Any], staleness: int) -> set[str]:
    """The versions that are too old."""
    met = {version for one in attempts for version in one.versions}
    return {one for one in met if version_age(int(one.removeprefix(VERSION)), update, place) > staleness}


def version_age(version: int, update: int, place: dict[str, Any]) -> int:
    """How many updates have changed the policy since this version, before this update; those that left it as it was
    (`still`) made no weights older."""
    still = int(place.get("still", 0))
    return max(update - 1, still) - max(version, still)


def rollout_metrics(taken: AttemptBatch, flat: FlatBatch) -> dict[str, float]:
    """The figures of what came in."""
    attempts = taken.attempts
    count = len(attempts)
    replies = max(1, sum(one.logprobs is not None for one in flat.samples))
    written = float(flat.written.sum())
    met = Counter(one.interface for one in attempts)
    won = Counter(one.interface for one in attempts if one.success)
    apart = {f"success/{name}": won[name] / number for name, number in met.items()} if len(met) > 1 else {}
    return apart | {
        "success": sum(one.success for one in attempts) / count,
        "reward": sum(sum(one.rewards) for one in attempts) / count,
        "rounds": sum(one.rounds for one in attempts) / count,
        "thought": sum(one.thought for one in attempts) / count,
        "reply_tokens": written / replies,
        "skipped": float((flat.written & flat.drawn.isnan()).sum()) / max(1.0, written),
        "truncated": sum(not one.terminated for one in attempts) / count,
        "attempts": count,
        "versions": len({version for one in attempts for version in one.versions}),
        "refused": sum(taken.refused.values()),
    }
