"""What is minimised: every loss a pure function of what the model said of tokens, in one style.

All take per-token tensors of any one shape, `weights` (0 where a token does not count) and `count`, the weight of the
WHOLE update over all its micro-batches and ranks: a token counts the same wherever it is computed, and the losses of
the parts add up to the loss of the whole. Who averages gradients over ranks multiplies by their number. What stands at
a token of weight 0, even an infinity, reaches neither a loss nor a gradient. Figures are sums over `count` as well.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

FARTHEST = 20.0
"""Log-ratios are held within this, so that no token's ratio overflows."""

KLKind = Literal["k1", "k2", "k3"]


@dataclass(frozen=True)
class PolicyLoss:
    """PPO's loss with what it was made of; all but `loss` are without gradient."""

    loss: Tensor
    clipped: Tensor
    """The share of tokens whose gradient the clip took away."""
    held: Tensor
    """The share of tokens the dual clip held."""
    correction: Tensor
    """The mean importance weight between the server that sampled and the trainer; 1 where they agree."""
    kl: Tensor
    """KL from the policy of the batch's start, by k3."""


@dataclass(frozen=True)
class PreferenceLoss:
    """A loss over pairs with how far apart they are; all but `loss` are without gradient."""

    loss: Tensor
    margin: Tensor
    """By how much the chosen are rewarded above the rejected."""
    accuracy: Tensor
    """The share of pairs that are in the right order."""


def weighted_sum(values: Tensor, weights: Tensor, count: float | Tensor) -> Tensor:
    """The sum over what counts, over `count`; zero where nothing counts."""
    return torch.where(weights != 0, values * weights, 0).sum() / _nonzero_count(count)


def token_logprobs(logits: Tensor, tokens: Tensor, *, temperature: float = 1.0) -> Tensor:
    """The log-probability of each token under its place's logits (..., vocabulary), in single precision or better."""
    scaled = _precise(logits) / temperature
    return scaled.gather(-1, tokens[..., None])[..., 0] - scaled.logsumexp(-1)


def token_entropies(logits: Tensor, *, temperature: float = 1.0) -> Tensor:
    """The entropy of each place's distribution, in nats; a token that cannot be (-inf) adds nothing."""
    logprobs = (_precise(logits) / temperature).log_softmax(-1)
    possible = logprobs > -torch.inf
    finite = torch.where(possible, logprobs, 0)
    return -(torch.where(possible, finite.exp(), 0) * finite).sum(-1)


def likelihood_loss(logprobs: Tensor, weights: Tensor, count: float | Tensor) -> Tensor:
    """Negative log-likelihood: fine-tuning, continual training, and what people wrote."""
    return -weighted_sum(_mask_uncounted(logprobs, weights), weights, count)


def positive_example_loss(logprobs: Tensor, weights: Tensor, correct: Tensor, count: float | Tensor) -> Tensor:
    """Negative log-likelihood of what led to success (VAPO): `correct` says of each token whether its attempt did.

    `count` is the weight of the correct tokens of the whole update; 0 gives a loss of 0.
    """
    return likelihood_loss(logprobs, weights * correct, count)


def importance_weights(
    old: Tensor,
    sampled: Tensor,
    *,
    cap: float = 2.0,
    least: float | None = None,
    beyond: Literal["cap", "drop"] = "cap",
) -> Tensor:
    """How much likelier the trainer's own pass finds each token than the server that drew it; no gradient.

    Truncated at `cap`; "drop" gives tokens above `cap` no weight at all. Those below `least` always have none.
    """
    ratio = (old - sampled).detach().clamp(-FARTHEST, FARTHEST).exp()
    bounded = ratio.clamp(max=cap) if beyond == "cap" else torch.where(ratio <= cap, ratio, 0)
    return bounded if least is None else torch.where(ratio >= least, bounded, 0)


def policy_loss(
    logprobs: Tensor,
    old: Tensor,
    advantages: Tensor,
    weights: Tensor,
    count: float | Tensor,
    *,
    clip_low: float = 0.2,
    clip_high: float = 0.28,
    dual_clip: float | None = None,
    correction: Tensor | None = None,
) -> PolicyLoss:
    """PPO's clipped loss, token by token: -min(r A, clip(r, 1 - clip_low, 1 + clip_high) A), r = exp(logprobs - old).

    `dual_clip` (> 1) bounds it by -dual_clip A where A < 0, so that an unlikely bad token cannot take over the update.
    `correction` multiplies each token's loss (`importance_weights`).
    """
    if dual_clip is not None and dual_clip <= 1:
        raise ValueError("a dual clip is above 1")
    advantages = _mask_uncounted(advantages.detach(), weights)
    moved = _mask_uncounted(logprobs, weights) - _mask_uncounted(old.detach(), weights)
    ratio = moved.clamp(-FARTHEST, FARTHEST).exp()
    free, bound = -advantages * ratio, -advantages * ratio.clamp(1 - clip_low, 1 + clip_high)
    losses = torch.maximum(free, bound)
    held = torch.zeros_like(losses)
    if dual_clip is not None:
        most = -dual_clip * advantages
        held = ((advantages < 0) & (losses > most)).to(losses.dtype)
        losses = torch.where(advantages < 0, torch.minimum(losses, most), losses)
    factor = torch.ones_like(losses) if correction is None else _mask_uncounted(correction.detach(), weights)
    shares = (bound > free).to(losses.dtype), held, factor, kl_estimates(-moved, torch.zeros_like(moved), "k3").detach()
    clipped, held, corrected, kl = (weighted_sum(share, weights, count) for share in shares)
    return PolicyLoss(weighted_sum(losses * factor, weights, count), clipped, held, corrected, kl)


def value_loss(
    values: Tensor, old: Tensor, returns: Tensor, weights: Tensor, count: float | Tensor, *, clip: float | None = 0.2
) -> Tensor:
    """Half the squared error; with `clip` the worse of it and that of the value held within `clip` of the old one."""
    values, returns = _mask_uncounted(values, weights), _mask_uncounted(returns.detach(), weights)
    errors = (values - returns).square()
    if clip is not None:
        old = _mask_uncounted(old.detach(), weights)
        errors = torch.maximum(errors, (old + (values - old).clamp(-clip, clip) - returns).square())
    return 0.5 * weighted_sum(errors, weights, count)


def kl_estimates(logprobs: Tensor, reference: Tensor, kind: KLKind = "k3") -> Tensor:
    """KL(policy ‖ reference) as each token drawn from the policy tells it.

    k1 is unbiased and noisy, and its gradient is zero on average; k2's gradient is that of the KL; k3 is unbiased,
    never negative and quieter.
    """
    apart = logprobs - reference
    if kind == "k1":
        return apart
    if kind == "k2":
        return 0.5 * apart.square()
    back = (-apart).clamp(-FARTHEST, FARTHEST)
    return back.exp() - 1 - back


def kl_loss(
    logprobs: Tensor, reference: Tensor, weights: Tensor, count: float | Tensor, *, kind: KLKind = "k3"
) -> Tensor:
    """The mean of `kl_estimates`: what holds a policy to a reference."""
    policy, frozen = _mask_uncounted(logprobs, weights), _mask_uncounted(reference.detach(), weights)
    return weighted_sum(kl_estimates(policy, frozen, kind), weights, count)


def preference_loss(
    chosen: Tensor,
    rejected: Tensor,
    reference_chosen: Tensor,
    reference_rejected: Tensor,
    count: float | Tensor,
    *,
    beta: float = 0.1,
    smoothing: float = 0.0,
    weights: Tensor | None = None,
) -> PreferenceLoss:
    """DPO over log-probabilities of whole replies, a pair a place; `count` is the pairs' weight in the whole update.

    `smoothing` is how often a pair is thought to be the wrong way round (conservative DPO).
    """
    weights = torch.ones_like(chosen) if weights is None else weights
    margins = beta * ((chosen - reference_chosen.detach()) - (rejected - reference_rejected.detach()))
    margins = _mask_uncounted(margins, weights)
    losses = -(1 - smoothing) * logsigmoid(margins) - smoothing * logsigmoid(-margins)
    seen = margins.detach()
    right = (seen > 0).to(seen.dtype)
    return PreferenceLoss(*(weighted_sum(figure, weights, count) for figure in (losses, seen, right)))


def desirability_loss(
    logprobs: Tensor,
    reference: Tensor,
    desirable: Tensor,
    drift: float | Tensor,
    count: float | Tensor,
    *,
    beta: float = 0.1,
    desirable_weight: float = 1.0,
    undesirable_weight: float = 1.0,
) -> Tensor:
    """KTO over log-probabilities of whole replies, each good or bad by itself.

    `drift` is how far the policy is from the reference by now: the mean of logprobs - reference over replies paired
    with prompts that are not theirs. It carries no gradient, and below 0 counts as 0.
    """
    zero = torch.as_tensor(drift, dtype=logprobs.dtype, device=logprobs.device).detach().clamp(min=0)
    gained = beta * (logprobs - reference.detach() - zero)
    losses = torch.where(desirable, 1 - gained.sigmoid(), 1 - (-gained).sigmoid())
    weights = torch.where(desirable, desirable_weight, undesirable_weight).to(losses.dtype)
    return weighted_sum(losses, weights, count)


def _mask_uncounted(values: Tensor, weights: Tensor) -> Tensor:
    """Values where they count, zero elsewhere: before all else, for the gradient of exp(inf) is no number."""
    return torch.where(weights != 0, values, 0)


def _nonzero_count(count: float | Tensor) -> Tensor:
    """A divisor; where nothing counts the sum is zero as well."""
    divisor = torch.as_tensor(count)
    return torch.where(divisor > 0, divisor, 1)


def _precise(logits: Tensor) -> Tensor:
    return logits.to(torch.promote_types(logits.dtype, torch.float32))
