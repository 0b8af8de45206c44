"""Supervised fine-tuning: the likelihood of what was said at each step, by its weight.

It trains on folders of trajectories, the policy's own tokens and what people worded. `weighting` says how much a
person's corrections weigh beside the rest.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from trainer.batches import Order
from trainer.checkpoints import Checkpoint
from trainer.config import InOrder, Said
from trainer.corrections import CLASS_WEIGHTS, Role, Weighting, step_weights
from trainer.errors import ConfigInvalid, NothingToLearn
from trainer.following import LEDGER, Following, Waits
from trainer.losses import likelihood_loss
from trainer.packing import learned_logprobs, pack
from trainer.ranks import added, backward, dealt
from trainer.rendering import Rendered, Renderer, folder_rendered, left_out_told
from trainer.runs import Ordered, checkpoint_open, newest_of, train
from trainer.trajectories import folders_open
from vocabulary.dialects import dialect_named


class Config(InOrder, Said):
    """How it is trained, and on what."""

    folders: tuple[Path, ...] = Field(min_length=1)
    """Trajectories, as exported or kept; or inboxes, of which every folder counts that has come by now."""
    follow: bool = False
    """Whether what comes into the inboxes later joins between two passes; `.ended` in each says that no more will."""
    passes: int = Field(default=1, ge=1)
    """How often a run that follows goes over what has come before it waits for more."""
    patience: float = Field(default=3600.0, gt=0)
    """Seconds that it waits; then it ends."""
    weighting: Weighting = "none"
    """interventions: corrections weigh as much as all else (IWR); shares: each role has its share (Sirius); classes:
    each role has the weight that `classes` gives it."""
    classes: Mapping[Role, float] = CLASS_WEIGHTS
    """Weights by role, for `classes`; a role that is not named has 1."""


def run(config: Config) -> Path:
    """Train, or go on training; returns the last checkpoint's folder. Raises TrainerError."""
    if config.follow:
        return followed(config)
    return fit(config, lambda checkpoint: samples_read(config, checkpoint))


def followed(config: Config) -> Path:
    """The same on what comes while it trains."""
    if config.weighting in ("interventions", "shares"):
        raise ConfigInvalid(f"{config.weighting} weigh over the whole data, which a run that follows never has")
    newest = newest_of(config.out)
    checkpoint = checkpoint_open(newest or config.checkpoint, config)

    def read(path: Path) -> list[Rendered]:
        return samples_read(config.model_copy(update={"folders": (path,)}), checkpoint)

    waits = Waits(config.passes, config.patience)
    order = Following(config, config.folders, read, waits, config.out / LEDGER)
    return fitted_in(config, checkpoint, newest, order.samples, order)


def samples_read(config: Config, checkpoint: Checkpoint) -> list[Rendered]:
    """Every sample of the folders that counts for something. Raises NothingToLearn, FolderError."""
    left_out: Counter[str] = Counter()
    renderer, dialect = Renderer(checkpoint, context=config.tokens), dialect_named(config.dialect)
    folders = [*folders_open(config.folders)]
    everything = (one for folder in folders for one in folder.trajectories())
    weights = None if config.weighting == "none" else step_weights(everything, config.weighting, config.classes)
    samples = [sample for folder in folders for sample in folder_rendered(folder, dialect, renderer, left_out, weights)]
    return something(samples, left_out)


def something(samples: Sequence[Rendered], left_out: Counter[str]) -> list[Rendered]:
    """Those that weigh anything, and a word on the others. Raises NothingToLearn where none is left."""
    weighing = [one for one in samples if any(one.weights)]
    left_out["sample_weightless"] += len(samples) - len(weighing)
    left_out_told(len(weighing), +left_out)
    if not weighing:
        raise NothingToLearn("the folders hold no sample that can be trained on")
    return weighing


def fit(config: InOrder, samples_for: Callable[[Checkpoint], Sequence[Rendered]]) -> Path:
    """Maximise the likelihood of samples; returns the last checkpoint's folder."""
    newest = newest_of(config.out)
    checkpoint = checkpoint_open(newest or config.checkpoint, config)
    samples = samples_for(checkpoint)
    order = Order([len(one.ids) for one in samples], tokens=config.tokens, seed=config.seed)
    return fitted_in(config, checkpoint, newest, samples, order)


def fitted_in(
    config: InOrder, checkpoint: Checkpoint, newest: Path | None, samples: Sequence[Rendered], order: Ordered
) -> Path:
    """The same in an order; `samples` may grow with it."""

    def gradients(sequences: list[Sequence[int]]) -> dict[str, float]:
        return likelihood_gradients(checkpoint.model, [[samples[one] for one in each] for each in sequences])

    return train(config, checkpoint, newest, order, gradients)


def likelihood_gradients(model: Any, sequences: Sequence[Sequence[Rendered]]) -> dict[str, float]:
    """Gradients of one update, sequence by sequence: each token counts the same, whichever it is in."""
    samples = [one for each in sequences for one in each]
    count = sum(sum(one.weights) for one in samples)
    total = 0.0
    for each, counts in dealt(sequences):
        there = pack(each, model).to(model.device)
        loss = likelihood_loss(learned_logprobs(model, there), there.weights * counts, count)
        backward(loss)
        total += float(loss.detach())
    tokens, learned = sum(len(one.ids) for one in samples), sum(sum(one.mask) for one in samples)
    return {**added({"loss": total}), "tokens": tokens, "learned": learned, "weight": count}
