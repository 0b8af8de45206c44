"""Direct preference optimisation (DPO): of two replies in one state, the preferred one becomes likelier.

Pairs come from corrections: the action that was done is preferred to each candidate that was not taken, and to an
action that was marked as wrong. The reference is the checkpoint the run started with; its log-probabilities are
computed once, before training.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from pydantic import Field

from trainer.algorithms.preference_loop import train_against_reference
from trainer.data.packing import pack
from trainer.data.preferences import (
    PreferenceConfig,
    PreferencePair,
    read_pairs,
    reply_logprob_sums,
)
from trainer.model.checkpoints import Checkpoint
from trainer.rl.losses import preference_loss
from trainer.runtime.distributed import backward, local_share, sum_metrics


class Config(PreferenceConfig):
    """How it is trained, and on what."""

    smoothing: float = Field(default=0.0, ge=0, lt=0.5)
    """How often a pair is thought to be the wrong way round (conservative DPO)."""


def run(config: Config, load_pairs: Callable[[Config, Checkpoint], Sequence[PreferencePair]] = read_pairs) -> Path:
    """Train, or resume from the newest checkpoint; returns the last checkpoint's folder. Raises TrainerError."""
    return train_against_reference(config, load_pairs, _gradients)


def _gradients(
    model: Any, groups: Sequence[list[int]], pairs: Sequence[PreferencePair], reference: torch.Tensor, config: Config
) -> dict[str, float]:
    """Compute the gradients of an update; every pair has the same weight."""
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
