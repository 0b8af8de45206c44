"""Policy gradient steps on tokens with known advantages, shared by PPO and GRPO.

Three policies take part: the rollout policy (log-probabilities from the server), the trainer's policy at the start of
the update (`old`), and the policy in training. The ratio is between the last two. The difference between the first two
is corrected by importance weights, or only reported.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from trainer.data.batches import ShuffledOrder
from trainer.data.packing import Pack, learned_logits, pack
from trainer.rl.attempts import FlatBatch
from trainer.rl.config import OnPolicyConfig
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
from trainer.runtime.distributed import backward, gather_values, no_gradients, padded_local_share, sum_metrics


@dataclass(frozen=True)
class SequenceBatch:
    """A sequence that this rank computes."""

    pack: Pack
    places: Tensor
    """Indices of its learned tokens in the flat batch, [tokens] (int)."""
    counts: bool
    """False for a dummy batch, which a rank with fewer sequences runs so that collectives match."""


@dataclass(frozen=True)
class Minibatch:
    """The sequences of one optimiser step."""

    parts: Sequence[SequenceBatch]
    places: Tensor
    """Indices of the learned tokens of all ranks, [tokens] (int)."""


@dataclass(frozen=True)
class TokenStatistics:
    """Statistics of every token before the first step."""

    old: Tensor
    """Log-probability under the policy at the start of the update, [T], in nats."""
    entropy: Tensor
    """Of each token's distribution, [T], in nats."""
    comparable: Tensor
    """The token's weight if the policy sampled it and its log-probability is known, else 0; [T]."""
    correction: Tensor
    """Truncated importance weight between trainer and rollout policy, [T]; 1 without correction."""
    reference: Tensor | None
    """Log-probability under the weights of the run's start, [T], in nats; None without a KL penalty."""


def compute_token_statistics(
    model: Any, reference: Any | None, flat: FlatBatch, parts: Sequence[SequenceBatch], config: OnPolicyConfig
) -> TokenStatistics:
    """Compute the statistics in one pass without gradients."""
    old, entropy = torch.zeros(len(flat.attempt_index)), torch.zeros(len(flat.attempt_index))
    held = None if reference is None else torch.zeros(len(flat.attempt_index))
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
    comparable = flat.weights * (flat.policy_mask & ~flat.rollout_logprobs.isnan())
    correction = torch.ones_like(old)
    if config.correction is not None:
        correction = importance_weights(old, flat.rollout_logprobs.nan_to_num(), cap=config.correction)
    return TokenStatistics(old, entropy, comparable, correction, held)


def local_sequences(flat: FlatBatch, batches: Sequence[Sequence[int]], model: Any) -> list[SequenceBatch]:
    """This rank's share of the sequences, on the model's device."""
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
    """This rank's share of one pass over all samples."""
    return local_sequences(flat, _order(flat, config, update).epoch(0), model)


def minibatches(flat: FlatBatch, model: Any, config: OnPolicyConfig, update: int) -> Iterator[Minibatch]:
    """The steps of every epoch; the order depends on the seed and the update alone."""
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
    """Compute the gradients of one step; returns its metrics. Every token has the same weight across sequences.

    Args:
        model: The policy in training.
        step: The sequences of this rank.
        flat: The whole update.
        known: Statistics of the policy at the update's start.
        advantages: [T], in units of reward.
        config: Clips, and the weights of the loss terms.
        positive: Weight of the likelihood of tokens in successful attempts, from 0.
    """
    human_weights = flat.weights * ~flat.policy_mask
    places = step.places
    sampled_weight = float(known.comparable[places].sum())
    human_weight = float(human_weights[places].sum())
    success_weight = float((known.comparable * flat.succeeded)[places].sum())
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
            sampled_weight,
            clip_low=config.clip_low,
            clip_high=config.clip_high,
            dual_clip=config.dual_clip,
            correction=known.correction[at].to(logprobs.device),
        )
        loss = made.loss
        loss_terms = {"policy_loss": made.loss, "clipped": made.clipped, "held": made.held, "moved": made.kl}
        if config.human and human_weight:
            loss_terms["human_loss"] = likelihood_loss(
                logprobs, (human_weights[at] * part.counts).to(logprobs.device), human_weight
            )
            loss = loss + config.human * loss_terms["human_loss"]
        if positive and success_weight:
            correct = flat.succeeded[at].to(logprobs.device)
            loss_terms["positive_loss"] = positive_example_loss(logprobs, weights, correct, success_weight)
            loss = loss + positive * loss_terms["positive_loss"]
        if config.entropy:
            loss = loss - config.entropy * weighted_sum(
                token_entropies(logits, temperature=config.temperature), weights, sampled_weight
            )
        if known.reference is not None:
            loss_terms["kl_loss"] = kl_loss(logprobs, known.reference[at].to(logprobs.device), weights, sampled_weight)
            loss = loss + config.kl * loss_terms["kl_loss"]
        backward(loss)
        for name, value in loss_terms.items():
            figures[name] = figures.get(name, 0.0) + float(value.detach())
    return sum_metrics(figures)


def token_metrics(flat: FlatBatch, known: TokenStatistics) -> dict[str, float]:
    """The figures of what was known before the first step."""
    weights, count = known.comparable, float(known.comparable.sum())
    apart = kl_estimates(torch.where(weights != 0, flat.rollout_logprobs, 0), known.old, "k3")
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
