"""Supervised fine-tuning: maximum likelihood of the reply of each step, by its weight.

It trains on folders of trajectories: the policy's own tokens, and the steps that people wrote. `weighting` sets the
weight of a person's corrections beside the rest.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from protocol.dialects.families import get_dialect
from trainer.config import DatasetTrainingConfig, DialectConfig
from trainer.data.batches import OrderLike, ShuffledOrder
from trainer.data.corrections import CLASS_WEIGHTS, Role, Weighting, step_weights
from trainer.data.packing import learned_logprobs, pack
from trainer.data.rendering import Renderer, TokenizedSample, VariantWeights, render_folder, report_left_out
from trainer.data.streaming import LEDGER, StreamingOrder, WaitPolicy
from trainer.data.trajectories import open_folders
from trainer.errors import ConfigInvalid, NothingToLearn
from trainer.model.checkpoints import Checkpoint
from trainer.rl.losses import likelihood_loss
from trainer.runtime.distributed import backward, padded_local_share, sum_metrics
from trainer.runtime.runs import newest_checkpoint, open_checkpoint, train


class Config(DatasetTrainingConfig, DialectConfig):
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
    variant_weights: VariantWeights = {}
    """How much variants of recorded thoughts weigh by their kind, beside `none`; 0 leaves them out, no number is 1."""


def run(config: Config) -> Path:
    """Train, or resume training; returns the last checkpoint's folder. Raises TrainerError."""
    if config.follow:
        return run_streaming(config)
    return fit(config, lambda checkpoint: read_samples(config, checkpoint))


def run_streaming(config: Config) -> Path:
    """The same on what comes while it trains."""
    if config.weighting in ("interventions", "shares"):
        raise ConfigInvalid(f"{config.weighting} weigh over the whole data, which a run that follows never has")
    newest = newest_checkpoint(config.out)
    checkpoint = open_checkpoint(newest or config.checkpoint, config)

    def read(path: Path) -> list[TokenizedSample]:
        return read_samples(config.model_copy(update={"folders": (path,)}), checkpoint)

    waits = WaitPolicy(config.passes, config.patience)
    order = StreamingOrder(config, config.folders, read, waits, config.out / LEDGER)
    return fit_in_order(config, checkpoint, newest, order.samples, order)


def read_samples(config: Config, checkpoint: Checkpoint) -> list[TokenizedSample]:
    """Every sample of the folders that counts for something. Raises NothingToLearn, FolderError."""
    left_out: Counter[str] = Counter()
    renderer, dialect = Renderer(checkpoint, context=config.tokens), get_dialect(config.dialect, config.prompt)
    folders = [*open_folders(config.folders)]
    everything = (one for folder in folders for one in folder.trajectories())
    weights = None if config.weighting == "none" else step_weights(everything, config.weighting, config.classes)
    samples = [
        sample
        for folder in folders
        for sample in render_folder(folder, dialect, renderer, left_out, weights, config.variant_weights)
    ]
    return drop_weightless(samples, left_out)


def drop_weightless(samples: Sequence[TokenizedSample], left_out: Counter[str]) -> list[TokenizedSample]:
    """Those that weigh anything, and a word on the others. Raises NothingToLearn where none is left."""
    weighing = [one for one in samples if any(one.weights)]
    left_out["sample_weightless"] += len(samples) - len(weighing)
    report_left_out(len(weighing), +left_out)
    if not weighing:
        raise NothingToLearn("the folders hold no sample that can be trained on")
    return weighing


def fit(config: DatasetTrainingConfig, load_samples: Callable[[Checkpoint], Sequence[TokenizedSample]]) -> Path:
    """Maximise the likelihood of samples; returns the last checkpoint's folder."""
    newest = newest_checkpoint(config.out)
    checkpoint = open_checkpoint(newest or config.checkpoint, config)
    samples = load_samples(checkpoint)
    order = ShuffledOrder([len(one.ids) for one in samples], tokens=config.tokens, seed=config.seed)
    return fit_in_order(config, checkpoint, newest, samples, order)


def fit_in_order(
    config: DatasetTrainingConfig,
    checkpoint: Checkpoint,
    newest: Path | None,
    samples: Sequence[TokenizedSample],
    order: OrderLike,
) -> Path:
    """The same in an order; `samples` may grow with it."""

    def gradients(sequences: list[Sequence[int]]) -> dict[str, float]:
        return likelihood_gradients(checkpoint.model, [[samples[one] for one in each] for each in sequences])

    return train(config, checkpoint, newest, order, gradients)


def likelihood_gradients(model: Any, sequences: Sequence[Sequence[TokenizedSample]]) -> dict[str, float]:
    """Gradients of one update, sequence by sequence: each token counts the same, whichever it is in."""
    samples = [one for each in sequences for one in each]
    count = sum(sum(one.weights) for one in samples)
    total = 0.0
    for each, counts in padded_local_share(sequences):
        there = pack(each, model).to(model.device)
        loss = likelihood_loss(learned_logprobs(model, there), there.weights * counts, count)
        backward(loss)
        total += float(loss.detach())
    tokens, learned = sum(len(one.ids) for one in samples), sum(sum(one.mask) for one in samples)
    return {**sum_metrics({"loss": total}), "tokens": tokens, "learned": learned, "weight": count}
