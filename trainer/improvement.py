"""Steps of the policy on tokens whose advantages are known: the part that PPO and GRPO share.

Three policies are told apart: the one that drew (what the server said), the trainer's own when the update began
(`old`), and the one that is being trained. The ratio is between the last two; how far the first two are apart is
corrected for, or at least told.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from trainer.attempts import Flat
from trainer.batches import Order
from trainer.losses import (
    importance_weights,
    kl_estimates,
    kl_loss,
    likelihood_loss,
    policy_loss,
    positive_example_loss,
    token_entropies,
    token_logprobs,
    weighted_sum,
)
from trainer.onpolicy import OnPolicy
from trainer.packing import Pack, learned_logits, pack

Part = tuple[Pack, Tensor]
"""A sequence, and where its learned tokens are among all."""


@dataclass(frozen=True)
class Known:
    """What is known of every token before the first step; each has shape (T,)."""

    old: Tensor
    """Its log-probability when the update began."""
    entropy: Tensor
    comparable: Tensor
    """Whether the policy drew it and its ratio means something: 1 or 0, times its weight."""
    correction: Tensor
    """How much likelier it is to the trainer than to who drew it; 1 where that is not corrected for."""
    reference: Tensor | None
    """Its log-probability under the weights the run began with."""


def known_of(model: Any, reference: Any | None, flat: Flat, parts: Sequence[Part], config: OnPolicy) -> Known:
    """One pass without gradients."""
    old, entropy = torch.zeros(len(flat.owner)), torch.zeros(len(flat.owner))
    held = None if reference is None else torch.zeros(len(flat.owner))
    with torch.inference_mode():
        for one, places in parts:
            logits = learned_logits(model, one)
            old[places] = token_logprobs(logits, one.learned, temperature=config.temperature).cpu()
            entropy[places] = token_entropies(logits, temperature=config.temperature).cpu()
            if held is not None:
                held[places] = token_logprobs(
                    learned_logits(reference, one), one.learned, temperature=config.temperature
                ).cpu()
    comparable = flat.weights * (flat.written & ~flat.drawn.isnan())
    correction = torch.ones_like(old)
    if config.correction is not None:
        correction = importance_weights(old, flat.drawn.nan_to_num(), cap=config.correction)
    return Known(old, entropy, comparable, correction, held)


def parts_of(flat: Flat, batches: Sequence[Sequence[int]], model: Any) -> list[Part]:
    """Sequences of these samples, on the model's device."""
    return [
        (pack([flat.samples[one] for one in samples], model).to(model.device), flat.places(samples))
        for samples in batches
    ]


def sequences(flat: Flat, model: Any, config: OnPolicy, update: int) -> list[Part]:
    """All samples once."""
    return parts_of(flat, _order(flat, config, update).epoch(0), model)


def minibatches(flat: Flat, model: Any, config: OnPolicy, update: int) -> Iterator[list[Part]]:
    """The sequences of each step, epoch after epoch, in an order that follows from the seed and the update."""
    order = _order(flat, config, update)
    for epoch in range(config.epochs):
        batches = order.epoch(epoch)
        for begin in range(0, len(batches), config.sequences):
            yield parts_of(flat, batches[begin : begin + config.sequences], model)


def policy_gradients(
    model: Any,
    parts: Sequence[Part],
    flat: Flat,
    known: Known,
    advantages: Tensor,
    config: OnPolicy,
    positive: float = 0.0,
) -> dict[str, float]:
    """Gradients of one step, and its figures. A token counts the same in whichever sequence it is.

    `positive` weighs the likelihood of what led to success.
    """
    human = flat.weights * ~flat.written
    places = torch.cat([each for _, each in parts])
    drawn = float(known.comparable[places].sum())
    worded = float(human[places].sum())
    right = float((known.comparable * flat.succeeded)[places].sum())
    figures: dict[str, float] = {}
    for one, at in parts:
        logits = learned_logits(model, one)
        logprobs = token_logprobs(logits, one.learned, temperature=config.temperature)
        weights = known.comparable[at].to(logprobs.device)
        made = policy_loss(
            logprobs,
            known.old[at].to(logprobs.device),
            advantages[at].to(logprobs.device),
            weights,
            drawn,
            clip_low=config.clip_low,
            clip_high=config.clip_high,
            dual_clip=config.dual_clip,
            correction=known.correction[at].to(logprobs.device),
        )
        loss = made.loss
        told = {"policy_loss": made.loss, "clipped": made.clipped, "held": made.held, "moved": made.kl}
        if config.human and worded:
            told["human_loss"] = likelihood_loss(logprobs, human[at].to(logprobs.device), worded)
            loss = loss + config.human * told["human_loss"]
        if positive and right:
            correct = flat.succeeded[at].to(logprobs.device)
            told["positive_loss"] = positive_example_loss(logprobs, weights, correct, right)
            loss = loss + positive * told["positive_loss"]
        if config.entropy:
            loss = loss - config.entropy * weighted_sum(
                token_entropies(logits, temperature=config.temperature), weights, drawn
            )
        if known.reference is not None:
            told["kl_loss"] = kl_loss(logprobs, known.reference[at].to(logprobs.device), weights, drawn)
            loss = loss + config.kl * told["kl_loss"]
        loss.backward()
        for name, value in told.items():
            figures[name] = figures.get(name, 0.0) + float(value.detach())
    return figures


def known_told(flat: Flat, known: Known) -> dict[str, float]:
    """The figures of what was known before the first step."""
    weights, count = known.comparable, float(known.comparable.sum())
    apart = kl_estimates(torch.where(weights != 0, flat.drawn, 0), known.old, "k3")
    return {
        "entropy": float(weighted_sum(known.entropy, weights, count)),
        "kl_rollout": float(weighted_sum(apart, weights, count)),
        "correction": float(weighted_sum(known.correction, weights, count)),
    }


def averaged(steps: Sequence[dict[str, float]]) -> dict[str, float]:
    """Of each figure, its mean over the steps that have it."""
    names = dict.fromkeys(name for step in steps for name in step)
    found = {name: [step[name] for step in steps if name in step] for name in names}
    return {name: sum(values) / len(values) for name, values in found.items()}


def _order(flat: Flat, config: OnPolicy, update: int) -> Order:
    return Order([len(one.ids) for one in flat.samples], tokens=config.tokens, seed=config.seed + update)
