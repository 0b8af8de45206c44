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

from trainer.data.batches import ShuffledOrder
from trainer.data.packing import Pack, learned_logits, pack
from trainer.rl.attempts import FlatBatch
from trainer.rl.losses import (
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
from trainer.rl.training_loop import OnPolicyConfig
from trainer.runtime.distributed import backward, gather_values, no_gradients, padded_local_share, sum_metrics


@dataclass(frozen=True)
class SequenceBatch:
    """A sequence that this process computes."""

    pack: Pack
    places: Tensor
    """Where its learned tokens are among all."""
    counts: bool
    """Whether it is this process's own; where not, another has it, and this one only keeps step."""


@dataclass(frozen=True)
class Minibatch:
    """What one step learns from."""

    parts: Sequence[SequenceBatch]
    places: Tensor
    """Of all learned tokens, those of other processes among them."""


@dataclass(frozen=True)
class TokenStatistics:
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


def compute_token_statistics(
    model: Any, reference: Any | None, flat: FlatBatch, parts: Sequence[SequenceBatch], config: OnPolicyConfig
) -> TokenStatistics:
    """One pass without gradients."""
    old, entropy = torch.zeros(len(flat.owner)), torch.zeros(len(flat.owner))
    held = None if reference is None else torch.zeros(len(flat.owner))
    with no_gradients():
        for part in parts:
            one, places = part.pack, part.places
            logits = learned_logits(model, one)
            beside = learned_logits(reference, one) if held is not None else None
            if not part.counts:
                continue
            old[places] = token_logprobs(logits, one.learned, temperature=config.temperature).cpu()
            entropy[places] = token_entropies(logits, temperature=config.temperature).cpu()
            if held is not None and beside is not None:
                held[places] = token_logprobs(beside, one.learned, temperature=config.temperature).cpu()
    old, entropy, held = gather_values(old), gather_values(entropy), None if held is None else gather_values(held)
    comparable = flat.weights * (flat.written & ~flat.drawn.isnan())
    correction = torch.ones_like(old)
    if config.correction is not None:
        correction = importance_weights(old, flat.drawn.nan_to_num(), cap=config.correction)
    return TokenStatistics(old, entropy, comparable, correction, held)


def local_sequences(flat: FlatBatch, batches: Sequence[Sequence[int]], model: Any) -> list[SequenceBatch]:
    """This process's share of the sequences of these samples, on the model's device."""
    return [
        SequenceBatch(
            pack([flat.samples[one] for one in samples], model).to(model.device), flat.places(samples), counts
        )
        for samples, counts in padded_local_share(batches)
    ]


def build_minibatch(flat: FlatBatch, batches: Sequence[Sequence[int]], model: Any) -> Minibatch:
    """The sequences of these samples as one step."""
    return Minibatch(local_sequences(flat, batches, model), torch.cat([flat.places(samples) for samples in batches]))


def sequences(flat: FlatBatch, model: Any, config: OnPolicyConfig, update: int) -> list[SequenceBatch]:
    """All samples once, dealt out."""
    return local_sequences(flat, _order(flat, config, update).epoch(0), model)


def minibatches(flat: FlatBatch, model: Any, config: OnPolicyConfig, update: int) -> Iterator[Minibatch]:
    """The sequences of each step, epoch after epoch, in an order that follows from the seed and the update."""
    order = _order(flat, config, update)
    for epoch in range(config.epochs):
        batches = order.epoch(epoch)
        for begin in range(0, len(batches), config.sequences):
            yield build_minibatch(flat, batches[begin : begin + config.sequences], model)


def policy_gradients(
    model: Any,
    step: Minibatch,
    flat: FlatBatch,
    known: TokenStatistics,
    advantages: Tensor,
    config: OnPolicyConfig,
    positive: float = 0.0,
) -> dict[str, float]:
    """Gradients of one step, and its figures. A token counts the same in whichever sequence it is.

    `positive` weighs the likelihood of what led to success.
    """
    human = flat.weights * ~flat.written
    places = step.places
    drawn = float(known.comparable[places].sum())
    worded = float(human[places].sum())
    right = float((known.comparable * flat.succeeded)[places].sum())
    figures: dict[str, float] = {}
    for part in step.parts:
        one, at = part.pack, part.places
        logits = learned_logits(model, one)
        logprobs = token_logprobs(logits, one.learned, temperature=config.temperature)
        weights = (known.comparable[at] * part.counts).to(logprobs.device)
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
        loss_terms = {"policy_loss": made.loss, "clipped": made.clipped, "held": made.held, "moved": made.kl}
        if config.human and worded:
            loss_terms["human_loss"] = likelihood_loss(logprobs, (human[at] * part.counts).to(logprobs.device), worded)
            loss = loss + config.human * loss_terms["human_loss"]
        if positive and right:
            correct = flat.succeeded[at].to(logprobs.device)
            loss_terms["positive_loss"] = positive_example_loss(logprobs, weights, correct, right)
            loss = loss + positive * loss_terms["positive_loss"]
        if config.entropy:
            loss = loss - config.entropy * weighted_sum(
                token_entropies(logits, temperature=config.temperature), weights, drawn
            )
        if known.reference is not None:
            loss_terms["kl_loss"] = kl_loss(logprobs, known.reference[at].to(logprobs.device), weights, drawn)
            loss = loss + config.kl * loss_terms["kl_loss"]
        backward(loss)
        for name, value in loss_terms.items():
            figures[name] = figures.get(name, 0.0) + float(value.detach())
    return sum_metrics(figures)


def token_metrics(flat: FlatBatch, known: TokenStatistics) -> dict[str, float]:
    """The figures of what was known before the first step."""
    weights, count = known.comparable, float(known.comparable.sum())
    apart = kl_estimates(torch.where(weights != 0, flat.drawn, 0), known.old, "k3")
    return {
        "entropy": float(weighted_sum(known.entropy, weights, count)),
        "kl_rollout": float(weighted_sum(apart, weights, count)),
        "correction": float(weighted_sum(known.correction, weights, count)),
    }


def mean_metrics(steps: Sequence[dict[str, float]]) -> dict[str, float]:
    """Of each figure, its mean over the steps that have it."""
    names = dict.fromkeys(name for step in steps for name in step)
    found = {name: [step[name] for step in steps if name in step] for name in names}
    return {name: sum(values) / len(values) for name, values in found.items()}


def _order(flat: FlatBatch, config: OnPolicyConfig, update: int) -> ShuffledOrder:
    return ShuffledOrder([len(one.ids) for one in flat.samples], tokens=config.tokens, seed=config.seed + update)
