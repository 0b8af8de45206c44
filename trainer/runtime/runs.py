"""Shared by all training runs: trainable weights, optimiser steps, checkpoints and resuming.

A run's folder holds one folder for each checkpoint, such as `update-000050/`, with the optimiser and the run's state.
"""

import os
import shutil
from collections.abc import Callable, Sequence, Set
from pathlib import Path
from typing import Any, Protocol

import torch
from pydantic import JsonValue

from protocol.base import FrozenModel
from protocol.training import checkpoints
from trainer.config import DatasetTrainingConfig, Settings, TrainingConfig, changed_fields
from trainer.data.batches import OrderLike
from trainer.errors import CheckpointMismatched, ConfigInvalid, TrainingDiverged
from trainer.model.checkpoints import STATE, Checkpoint, load_checkpoint
from trainer.model.forward import configure_compute
from trainer.runtime.distributed import (
    barrier,
    full_tensor,
    is_first,
    read_optimiser,
    shard_model,
    world_size,
    write_optimiser,
)
from trainer.runtime.metrics import open_metrics

MAY_CHANGE = {"out", "updates", "keep_every", "device", "recompute", "inbox", "patience", "versions_kept", "settle"}
"""Settings that may change when a run resumes."""


class RunState(FrozenModel):
    """Progress of a run, with what it trains on."""

    update: int = 0
    place: dict[str, Any] = {}
    """Position in the data and other progress; each command defines its own keys."""
    data: str
    """A fingerprint of what is trained on."""
    config: dict[str, JsonValue]

    def after(self, update: int, place: dict[str, Any]) -> "RunState":
        """The state after an update."""
        return self.model_copy(update={"update": update, "place": place})


def open_checkpoint(path: Path, config: TrainingConfig) -> Checkpoint:
    """A checkpoint for this run, computed as its settings say. Raises CheckpointUnusable."""
    checkpoint = load_checkpoint(path, device=config.device)
    configure_compute(checkpoint.model, config)
    return checkpoint


Gradients = Callable[[list[Sequence[int]]], dict[str, float]]
"""Computes the gradients of an update from the samples in each of its sequences; returns its figures."""


def train(
    config: DatasetTrainingConfig, checkpoint: Checkpoint, newest: Path | None, order: OrderLike, gradients: Gradients
) -> Path:
    """Update after update, in order; `checkpoint` is the newest where there is one. Returns the last one's folder."""
    check_even_split(config)
    shard_model(checkpoint.model)
    optimiser = create_optimiser(trainable_weights(checkpoint.model, vision=config.vision), config)
    state = resume_state(newest, config, order.fingerprint, optimiser)
    updates = zip(
        range(state.update + 1, config.updates + 1), order.updates(state.place, config.sequences), strict=False
    )
    with open_metrics(config.out, state.update) as metrics:
        for update, taken in updates:
            figures = gradients([batch.samples for batch in taken])
            metrics.write(update, {**figures, **optimiser_step(optimiser, update, config)})
            state = state.after(update, taken[-1].place)
            if is_checkpoint_due(update, config):
                newest = save_checkpoint(config.out, state, optimiser, checkpoint.write)
    if state.update > checkpoints.checkpoint_update(newest):
        newest = save_checkpoint(config.out, state, optimiser, checkpoint.write)
    return newest or config.checkpoint


def check_even_split(config: DatasetTrainingConfig) -> None:
    """Raises ConfigInvalid where the processes would not have the same number of an update's sequences."""
    if config.sequences % world_size():
        raise ConfigInvalid(f"{config.sequences} sequences cannot be dealt out evenly to {world_size()} processes")


def initial_state(config: TrainingConfig, data: str, place: dict[str, Any] | None = None) -> RunState:
    """A run before its first update."""
    saved_config = config.model_dump(mode="json", exclude=MAY_CHANGE)
    return RunState(data=data, config=saved_config, place=place or {})


def newest_checkpoint(out: Path) -> Path | None:
    """The newest checkpoint of a run; None where there is none yet. Makes the run's folder."""
    out.mkdir(parents=True, exist_ok=True)
    return checkpoints.newest_checkpoint(out)


def resume_state(
    newest: Path | None,
    config: TrainingConfig,
    data: str,
    optimiser: torch.optim.Optimizer,
    place: dict[str, Any] | None = None,
) -> RunState:
    """Where the run was at its newest checkpoint, with its optimiser; before its first update, at `place`, where there
    is none.

    Raises CheckpointMismatched for a run of other data or settings.
    """
    if newest is None:
        return initial_state(config, data, place)
    state = read_state(newest, config, data, MAY_CHANGE)
    read_optimiser(optimiser, newest)
    return state


def read_state(folder: Path, config: Settings, data: str, may_change: Set[str]) -> RunState:
    """The state that a checkpoint was saved with.

    Raises CheckpointMismatched for a run of other data, or of settings that differ beyond `may_change`.
    """
    state = RunState.model_validate_json((folder / STATE).read_bytes())
    if state.data != data:
        raise CheckpointMismatched(f"{folder.name} is of a run with other data")
    if differ := changed_fields(config, state.config, may_change):
        raise CheckpointMismatched(f"{folder.name} is of a run with another {', '.join(differ)}")
    return state


def save_checkpoint(
    out: Path, state: RunState, optimiser: torch.optim.Optimizer, write: Callable[[Path], None]
) -> Path:
    """Save a checkpoint with its optimiser; `write` puts the weights into a folder."""

    def write_all(folder: Path) -> None:
        write(folder)
        write_optimiser(optimiser, folder)

    return write_checkpoint(out, state, write_all)


def write_checkpoint(out: Path, state: RunState, write: Callable[[Path], None]) -> Path:
    """Write a checkpoint into a temporary folder and rename it, so that a checkpoint is whole or absent.

    Every rank calls this; `write` writes everything but the state, each rank its own part.
    """
    folder = out / checkpoints.checkpoint_name(state.update)
    making = folder.with_name(folder.name + ".making")
    if is_first():
        shutil.rmtree(making, ignore_errors=True)
        making.mkdir()
    barrier()
    write(making)
    barrier()
    if is_first():
        (making / STATE).write_text(state.model_dump_json())
        os.rename(making, folder)
    barrier()
    return folder


def remove_old_checkpoints(out: Path, *, keep: int) -> None:
    """Remove all but the newest `keep` checkpoints of a run; only the first rank does."""
    for old in sorted(out.glob(checkpoints.CHECKPOINTS))[:-keep] if is_first() else ():
        shutil.rmtree(old)


class CheckpointSchedule(Protocol):
    """Settings of when a run saves a checkpoint."""

    @property
    def updates(self) -> int: ...

    @property
    def keep_every(self) -> int: ...


def is_checkpoint_due(update: int, config: CheckpointSchedule) -> bool:
    """Whether a checkpoint follows this update."""
    return update % config.keep_every == 0 or update == config.updates


def trainable_weights(model: Any, *, vision: bool) -> list[torch.nn.Parameter]:
    """The weights that learn; the others want no gradient."""
    for name, weight in model.named_parameters():
        weight.requires_grad_(vision or ".visual." not in f".{name}")
    return [weight for weight in model.parameters() if weight.requires_grad]


def create_optimiser(weights: list[torch.nn.Parameter], config: TrainingConfig) -> torch.optim.Optimizer:
    """AdamW over these weights."""
    return torch.optim.AdamW(weights, lr=config.learning_rate, weight_decay=config.weight_decay)


def optimiser_step(optimiser: torch.optim.Optimizer, update: int, config: TrainingConfig) -> dict[str, float]:
    """One step on the gradients there are, which are gone after it. Raises TrainingDiverged."""
    weights = [weight for group in optimiser.param_groups for weight in group["params"]]
    norm = full_tensor(torch.nn.utils.clip_grad_norm_(weights, config.largest_gradient))
    if not torch.isfinite(norm):
        raise TrainingDiverged(f"the gradient of update {update} is {float(norm)}")
    rate = config.learning_rate * learning_rate_factor(update, config)
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.step()
    optimiser.zero_grad()
    return {"gradient": float(norm), "learning_rate": rate}


class ScheduleConfig(Protocol):
    """Settings of a learning rate that grows, stays, and falls at the end."""

    @property
    def updates(self) -> int: ...

    @property
    def warmup(self) -> int: ...

    @property
    def settle(self) -> int: ...


def learning_rate_factor(update: int, config: ScheduleConfig) -> float:
    """What the learning rate is multiplied by at an update."""
    grown = min(1.0, update / max(config.warmup, 1))
    left = config.updates - update
    return grown if left >= config.settle else grown * max(0.02, left / config.settle)
