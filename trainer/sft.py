"""Supervised fine-tuning: the likelihood of what was said at each step, by its weight.

It trains on folders of trajectories. Ended at any moment and started again, it goes on from the newest checkpoint,
bit for bit as if it had never ended.
"""

import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import Field

from trainer.batches import Order, Place
from trainer.checkpoints import Checkpoint, checkpoint_load
from trainer.config import Packing, Said, Training
from trainer.curves import curves_open
from trainer.errors import NothingToLearn
from trainer.losses import likelihood_loss
from trainer.packing import learned_logprobs, pack
from trainer.rendering import Rendered, Renderer, folder_rendered
from trainer.runs import is_kept, keep, learning, newest_of, optimiser_of, resumed, state_of, stepped
from trainer.trajectories import folder_open
from vocabulary.dialects import dialect_named


class Config(Training, Packing, Said):
    """How it is trained, and on what."""

    folders: tuple[Path, ...] = Field(min_length=1)
    """Trajectories, as exported or kept."""


def samples_read(config: Config, checkpoint: Checkpoint) -> list[Rendered]:
    """Every sample of the folders, and a word on what was left out. Raises NothingToLearn, FolderError."""
    left_out: Counter[str] = Counter()
    renderer, dialect = Renderer(checkpoint, context=config.tokens), dialect_named(config.dialect)
    samples = [
        sample
        for folder in map(folder_open, config.folders)
        for sample in folder_rendered(folder, dialect, renderer, left_out)
    ]
    print(json.dumps({"samples": len(samples), "left_out": left_out}), file=sys.stderr)
    if not samples:
        raise NothingToLearn("the folders hold no sample that can be trained on")
    return samples


def run(config: Config, samples_for: Callable[[Config, Checkpoint], Sequence[Rendered]] = samples_read) -> Path:
    """Train, or go on training; returns the last checkpoint's folder. Raises TrainerError."""
    newest = newest_of(config.out)
    checkpoint = checkpoint_load(newest or config.checkpoint, device=config.device)
    samples = samples_for(config, checkpoint)
    order = Order([len(one.ids) for one in samples], tokens=config.tokens, seed=config.seed)
    optimiser = optimiser_of(learning(checkpoint.model, vision=config.vision), config)
    state = resumed(newest, state_of(config, order.fingerprint, asdict(Place())), optimiser)
    batches = order.batches(Place(**state.place))
    with curves_open(config.out, state.update) as curves:
        for update in range(state.update + 1, config.updates + 1):
            taken = list(islice(batches, config.sequences))
            figures = likelihood_gradients(checkpoint.model, [[samples[one] for one in each.samples] for each in taken])
            curves.write(update, {**figures, **stepped(optimiser, update, config)})
            state = state.after(update, asdict(taken[-1].after))
            if is_kept(update, config):
                newest = keep(config.out, state, optimiser, checkpoint.write)
    return newest or config.checkpoint


def likelihood_gradients(model: Any, sequences: Sequence[Sequence[Rendered]]) -> dict[str, float]:
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
