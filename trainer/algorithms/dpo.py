"""Direct preference optimisation: of two acts in the same state, the one a person held for better becomes likelier.

Pairs come from corrections: what was done is above each candidate that was not taken, and above what was marked as
wrong. The reference is the checkpoint the run began with; what it says of every reply is computed once, before.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from pydantic import Field

from trainer.data.packing import pack
from trainer.data.preferences import (
    PreferenceConfig,
    PreferencePair,
    group_order,
    read_pairs,
    reference_logprobs,
    reply_logprob_sums,
)
from trainer.model.checkpoints import Checkpoint
from trainer.rl.losses import preference_loss
from trainer.runtime.distributed import backward, local_share, sum_metrics
from trainer.runtime.runs import newest_checkpoint, open_checkpoint, train


class Config(PreferenceConfig):
    """How it is trained, and on what."""

    smoothing: float = Field(default=0.0, ge=0, lt=0.5)
    """How often a pair is thought to be the wrong way round (conservative DPO)."""


def run(config: Config, load_pairs: Callable[[Config, Checkpoint], Sequence[PreferencePair]] = read_pairs) -> Path:
    """Train, or go on training; returns the last checkpoint's folder. Raises TrainerError."""
    newest = newest_checkpoint(config.out)
    checkpoint = open_checkpoint(config.checkpoint, config)
    pairs = load_pairs(config, checkpoint)
    reference = reference_logprobs(checkpoint.model, pairs)
    if newest is not None:
        checkpoint = open_checkpoint(newest, config)

    def gradients(sequences: list[Sequence[int]]) -> dict[str, float]:
        return _gradients(checkpoint.model, [list(one) for one in sequences], pairs, reference, config)

    return train(config, checkpoint, newest, group_order(pairs, config), gradients)


def _gradients(
    model: Any, groups: Sequence[list[int]], pairs: Sequence[PreferencePair], reference: torch.Tensor, config: Config
) -> dict[str, float]:
    """Gradients of one update: each pair counts the same, whichever sequence it is in."""
    count = sum(map(len, groups))
    totals = dict.fromkeys(("loss", "margin", "accuracy"), 0.0)
    for group in local_share(groups):
        one = pack([reply for place in group for reply in pairs[place].replies], model).to(model.device)
        chosen, rejected = reply_logprob_sums(model, one).view(-1, 2).T
        before = reference[group]
        found = preference_loss(
            chosen, rejected, before[:, 0], before[:, 1], count, beta=config.beta, smoothing=config.smoothing
        )
        backward(found.loss)
        for name in totals:
            totals[name] += float(getattr(found, name).detach())
    return {**sum_metrics(totals), "pairs": count}
