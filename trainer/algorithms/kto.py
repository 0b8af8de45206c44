"""Kahneman-Tversky optimisation (KTO): each reply that a person judged becomes likelier or less likely by itself.

It needs no pairs: an action that was done is good, one that was overridden or marked as wrong is bad. The reference is
the checkpoint the run started with. Replies paired with unrelated states estimate how far the policy has moved.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from pydantic import Field

from trainer.algorithms.preference_loop import train_against_reference
from trainer.data.packing import pack
from trainer.data.preferences import (
    JudgedReply,
    PreferenceConfig,
    read_judged_replies,
    reply_logprob_sums,
)
from trainer.model.checkpoints import Checkpoint
from trainer.rl.losses import desirability_loss
from trainer.runtime.distributed import backward, local_share, sum_metrics


class Config(PreferenceConfig):
    """How it is trained, and on what."""

    desirable_weight: float = Field(default=1.0, gt=0)
    """How much a good act weighs; its inventors keep weight times number of both sorts within 1 : 1 and 4 : 3."""
    undesirable_weight: float = Field(default=1.0, gt=0)
    """How much a bad one weighs."""


def run(
    config: Config, load_judged_replies: Callable[[Config, Checkpoint], Sequence[JudgedReply]] = read_judged_replies
) -> Path:
    """Train, or resume from the newest checkpoint; returns the last checkpoint's folder. Raises TrainerError."""
    return train_against_reference(config, load_judged_replies, _gradients)


def _gradients(
    model: Any, groups: Sequence[list[int]], judged: Sequence[JudgedReply], reference: torch.Tensor, config: Config
) -> dict[str, float]:
    """Compute the gradients of an update, relative to the drift over all its replies."""
    drift = _drift(model, groups, judged, reference)
    weights = [config.desirable_weight if one.desirable else config.undesirable_weight for one in judged]
    count = sum(weights[place] for group in groups for place in group)
    figures = {"loss": 0.0, "desirable": 0.0, "undesirable": 0.0}
    for group in local_share(groups):
        logprobs = reply_logprob_sums(model, pack([judged[place].reply for place in group], model).to(model.device))
        good = torch.tensor([judged[place].desirable for place in group], device=logprobs.device)
        loss = desirability_loss(
            logprobs,
            reference[group, 0],
            good,
            drift,
            count,
            beta=config.beta,
            desirable_weight=config.desirable_weight,
            undesirable_weight=config.undesirable_weight,
        )
        backward(loss)
        gained = config.beta * (logprobs.detach() - reference[group, 0])
        figures["loss"] += float(loss.detach())
        figures["desirable"] += float(gained[good].sum())
        figures["undesirable"] += float(gained[~good].sum())
    figures = sum_metrics(figures)
    goods = sum(judged[place].desirable for group in groups for place in group)
    replies = sum(map(len, groups))
    figures["desirable"] /= max(goods, 1)
    figures["undesirable"] /= max(replies - goods, 1)
    return {**figures, "drift": drift, "replies": replies}


def _drift(model: Any, groups: Sequence[list[int]], judged: Sequence[JudgedReply], reference: torch.Tensor) -> float:
    """Mean log-ratio of replies paired with unrelated states, at least 0."""
    total = 0.0
    with torch.no_grad():  # inference mode would spoil what processes share
        for group in local_share(groups):
            one = pack([judged[place].unrelated_reply for place in group], model).to(model.device)
            total += float((reply_logprob_sums(model, one) - reference[group, 1]).sum())
    return max(0.0, sum_metrics({"": total})[""] / sum(map(len, groups)))
