"""Supervised fine-tuning: the likelihood of what was said at each step, by its weight.

`python -m trainer.sft CHECKPOINT FOLDER… --out RUN [--config FILE]` trains on folders of trajectories. RUN gets
`update-000050/`, a whole checkpoint each, and `log.jsonl`. Ended at any moment and started again, it goes on from the
newest checkpoint, bit for bit as if it had never ended.
"""

import argparse
import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import torch
from pydantic import Field, ValidationError

from trainer.batches import Batch, Order, Place
from trainer.checkpoints import Checkpoint, checkpoint_load
from trainer.errors import CheckpointMismatched, TrainerError
from trainer.losses import likelihood_loss
from trainer.packing import learned_logprobs, pack
from trainer.rendering import Rendered, Renderer, rendered_of
from trainer.trajectories import folder_open
from vocabulary.base import Frozen
from vocabulary.dialects import dialect_named

STATE, OPTIMISER, LOG = "trainer.json", "optimiser.pt", "log.jsonl"


class Sft(Frozen):
    """How it is trained."""

    dialect: str = "ui_tars_1_5"
    """The words of the steps that a person worded."""
    updates: int = Field(default=100, ge=1)
    """How many there are in all."""
    sequences: int = Field(default=8, ge=1)
    """Sequences an update."""
    tokens: int = Field(default=8192, ge=2)
    """How many a sequence holds; a longer sample is left out and counted."""
    learning_rate: float = Field(default=1e-5, gt=0)
    warmup: int = Field(default=10, ge=0)
    """Updates over which the learning rate grows; it stays where it is after them."""
    weight_decay: float = Field(default=0.0, ge=0)
    largest_gradient: float = Field(default=1.0, gt=0)
    """The norm a gradient is scaled down to."""
    vision: bool = False
    """Whether the vision tower learns too. Servers keep what it made of pictures."""
    keep_every: int = Field(default=50, ge=1)
    """Updates between two checkpoints; the last is always kept."""
    seed: int = 0


class State(Frozen):
    """Where a run is, and of what."""

    update: int
    epoch: int
    batch: int
    order: str
    config: Sft


def train(base: Path, samples_for: Callable[[Checkpoint], Sequence[Rendered]], config: Sft, out: Path) -> Path:
    """Train from `base`, or on from the newest checkpoint in `out`; returns the last one's folder.

    Raises CheckpointError, and ValueError where nothing can be trained on.
    """
    out.mkdir(parents=True, exist_ok=True)
    newest = max(out.glob("update-??????"), default=None)
    checkpoint = checkpoint_load(newest or base)
    samples = samples_for(checkpoint)
    order = Order([len(one.ids) for one in samples], tokens=config.tokens, seed=config.seed)
    weights = _learning(checkpoint.model, config)
    optimiser = torch.optim.AdamW(weights, lr=config.learning_rate, weight_decay=config.weight_decay)
    state = State(update=0, epoch=0, batch=0, order=order.fingerprint, config=config)
    if newest is not None:
        state = _resumed(newest, state, optimiser)
    batches = order.batches(Place(state.epoch, state.batch))
    with _log(out, state.update) as log:
        for update in range(state.update + 1, config.updates + 1):
            began, taken = time.monotonic(), list(islice(batches, config.sequences))
            figures = _update(checkpoint.model, [[samples[one] for one in batch.samples] for batch in taken], config)
            figures["gradient"] = float(torch.nn.utils.clip_grad_norm_(weights, config.largest_gradient))
            figures["learning_rate"] = rate = config.learning_rate * min(1.0, update / max(config.warmup, 1))
            for group in optimiser.param_groups:
                group["lr"] = rate
            optimiser.step()
            optimiser.zero_grad()
            log.write(json.dumps({"update": update, **figures, "seconds": time.monotonic() - began}) + "\n")
            log.flush()
            state = _moved(state, update, taken)
            if update % config.keep_every == 0 or update == config.updates:
                newest = _keep(out, checkpoint, optimiser, state)
    return newest or base


def _learning(model: Any, config: Sft) -> list[torch.nn.Parameter]:
    """The weights that learn; the others want no gradient."""
    for name, weight in model.named_parameters():
        weight.requires_grad_(config.vision or ".visual." not in f".{name}")
    return [weight for weight in model.parameters() if weight.requires_grad]


def _update(model: Any, sequences: list[list[Rendered]], config: Sft) -> dict[str, float]:
    """Gradients of one update, sequence by sequence: each token counts the same, whichever it is in."""
    packs = [pack(samples, model) for samples in sequences]
    count = float(sum(one.weights.sum() for one in packs))
    total = 0.0
    for one in packs:
        there = one.to(model.device)
        loss = likelihood_loss(learned_logprobs(model, there), there.weights, count)
        loss.backward()
        total += float(loss.detach())
    learned = sum(len(one.places) for one in packs)
    return {"loss": total, "tokens": sum(sum(one.lengths) for one in packs), "learned": learned, "weight": count}


def _moved(state: State, update: int, taken: list[Batch]) -> State:
    return state.model_copy(update={"update": update, **asdict(taken[-1].after)})


def _resumed(folder: Path, fresh: State, optimiser: torch.optim.Optimizer) -> State:
    """Where a run was, with its optimiser; raises CheckpointMismatched for another run's."""
    state = State.model_validate_json((folder / STATE).read_bytes())
    wanted = fresh.config.model_copy(update={"updates": state.config.updates, "keep_every": state.config.keep_every})
    if (state.order, state.config) != (fresh.order, wanted):
        raise CheckpointMismatched(f"{folder.name} is of a run with other samples or settings")
    optimiser.load_state_dict(torch.load(folder / OPTIMISER, weights_only=True))
    return state


def _keep(out: Path, checkpoint: Checkpoint, optimiser: torch.optim.Optimizer, state: State) -> Path:
    """A whole checkpoint, written beside its name and renamed."""
    folder = out / f"update-{state.update:06}"
    making = folder.with_name(folder.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    for file in checkpoint.path.iterdir():
        if file.is_file() and ".safetensors" not in file.name and file.name not in (STATE, OPTIMISER):
            shutil.copy(file, making / file.name)
    checkpoint.model.save_pretrained(making)
    torch.save(optimiser.state_dict(), making / OPTIMISER)
    (making / STATE).write_text(state.model_dump_json())
    os.rename(making, folder)
    return folder


def _log(out: Path, done: int) -> TextIO:
    """The log, without what was done after the newest checkpoint and is done again."""
    path = out / LOG
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    path.write_text("".join(line for line in lines[:done] if line.endswith("\n")))
    return path.open("a")


def _samples(folders: list[Path], config: Sft, checkpoint: Checkpoint) -> list[Rendered]:
    left_out: Counter[str] = Counter()
    samples = list(_rendered(folders, config, Renderer(checkpoint, context=config.tokens), left_out))
    print(json.dumps({"samples": len(samples), "left_out": left_out}), file=sys.stderr)
    return samples


def _rendered(folders: list[Path], config: Sft, renderer: Renderer, left_out: Counter[str]) -> Iterator[Rendered]:
    for folder in map(folder_open, folders):
        for trajectory in folder.trajectories():
            yield from rendered_of(
                trajectory,
                dialect_named(config.dialect),
                renderer,
                read=lambda picture, folder=folder: folder.image(picture).read_bytes(),  # type: ignore[misc]
                prompts=folder.prompt,
                left_out=left_out,
            )


def main(arguments: list[str] | None = None) -> int:
    """Train, and print where the last checkpoint is."""
    parser = argparse.ArgumentParser(prog="python -m trainer.sft", description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--config", type=Path, help="JSON; what it does not name keeps its default")
    given = parser.parse_args(arguments)
    try:
        config = Sft.model_validate_json(given.config.read_bytes()) if given.config else Sft()
        print(train(given.checkpoint, lambda loaded: _samples(given.folders, config, loaded), config, given.out))
    except (TrainerError, ValidationError, ValueError, OSError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
