"""Supervised fine-tuning: the likelihood of what was said at each step, by its weight.

It trains on folders of trajectories. Ended at any moment and started again, it goes on from the newest checkpoint,
bit for bit as if it had never ended.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from trainer.batches import Order
from trainer.checkpoints import Checkpoint, checkpoint_load
from trainer.config import InOrder, Said
from trainer.errors import NothingToLearn
from trainer.losses import likelihood_loss
from trainer.packing import learned_logprobs, pack
from trainer.rendering import Rendered, Renderer, folder_rendered, left_out_told
from trainer.runs import newest_of, train
from trainer.trajectories import folder_open
from vocabulary.dialects import dialect_named


class Config(InOrder, Said):
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
    left_out_told(len(samples), left_out)
    if not samples:
        raise NothingToLearn("the folders hold no sample that can be trained on")
    return samples


def run(config: Config, samples_for: Callable[[Config, Checkpoint], Sequence[Rendered]] = samples_read) -> Path:
    """Train, or go on training; returns the last checkpoint's folder. Raises TrainerError."""
    newest = newest_of(config.out)
    checkpoint = checkpoint_load(newest or config.checkpoint, device=config.device)
    samples = samples_for(config, checkpoint)
    order = Order([len(one.ids) for one in samples], tokens=config.tokens, seed=config.seed)

    def gradients(sequences: list[Sequence[int]]) -> dict[str, float]:
        return likelihood_gradients(checkpoint.model, [[samples[one] for one in each] for each in sequences])

    return train(config, checkpoint, newest, order, gradients)


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
