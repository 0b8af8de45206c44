"""What is minimised: every loss a pure function of what the model said of tokens, in one style.

All take per-token tensors of any one shape, `weights` (0 where a token does not count) and `count`, the weight of the
WHOLE update over all its micro-batches and ranks: a token counts the same wherever it is computed, and the losses of
the parts add up to the loss of the whole. A caller that averages gradients over ranks multiplies by their number. What
stands at a token of weight 0, even an infinity, reaches neither a loss nor a gradient. Figures are sums over `count` as
well.
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
    """PPO's loss and its metrics; only `loss` has a gradient."""

    loss: Tensor
    """What is minimised, []."""
    clipped: Tensor
    """Share of tokens whose gradient the clip took away, [], 0 to 1."""
    held: Tensor
    """Share of tokens that the dual clip bounded, [], 0 to 1."""
    correction: Tensor
    """Mean importance weight between rollout server and trainer, []; 1 where they agree."""
    kl: Tensor
    """KL from the policy at the update's start, [], in nats, by k3."""


@dataclass(frozen=True)
class PreferenceLoss:
    """A loss over pairs and its metrics; only `loss` has a gradient."""

    loss: Tensor
    """What is minimised, []."""
    margin: Tensor
    """Mean reward of the chosen above the rejected, [], in units of `beta` times nats."""
    accuracy: Tensor
    """Share of pairs in the right order, [], 0 to 1."""


def weighted_sum(values: Tensor, weights: Tensor, count: float | Tensor) -> Tensor:
    """The weighted sum of values, divided by `count`.

    Args:
        values: Any shape [...].
        weights: Weight of each token, [...]; 0 leaves it out.
        count: Weight of the whole update over all ranks, a number or [].

    Returns:
        []; zero where nothing counts.
    """
    return torch.where(weights != 0, values * weights, 0).sum() / _nonzero_count(count)


def token_logprobs(logits: Tensor, tokens: Tensor, *, temperature: float = 1.0) -> Tensor:
    """Log-probability of each token, in nats, in single precision or better.

    Args:
        logits: [..., vocabulary].
        tokens: Their ids, [...] (int).
        temperature: Divides the logits, above 0.

    Returns:
        [...], at most 0.
    """
    scaled = _precise(logits) / temperature
    return scaled.gather(-1, tokens[..., None])[..., 0] - scaled.logsumexp(-1)


def token_entropies(logits: Tensor, *, temperature: float = 1.0) -> Tensor:
    """Entropy of each token's distribution, in nats. A token that cannot occur (-inf) adds nothing.

    Args:
        logits: [..., vocabulary].
        temperature: Divides the logits, above 0.

    Returns:
        [...], from 0 to log(vocabulary).
    """
    logprobs = (_precise(logits) / temperature).log_softmax(-1)
    possible = logprobs > -torch.inf
    finite = torch.where(possible, logprobs, 0)
    return -(torch.where(possible, finite.exp(), 0) * finite).sum(-1)


def likelihood_loss(logprobs: Tensor, weights: Tensor, count: float | Tensor) -> Tensor:
    """Negative log-likelihood, for fine-tuning, continual training and people's replies.

    Args:
        logprobs: Of each token, [...], in nats.
        weights: Weight of each token, [...]; 0 leaves it out.
        count: Weight of the whole update over all ranks, a number or [].

    Returns:
        [], in nats a token.
    """
    return -weighted_sum(_mask_uncounted(logprobs, weights), weights, count)


def positive_example_loss(logprobs: Tensor, weights: Tensor, correct: Tensor, count: float | Tensor) -> Tensor:
    """Negative log-likelihood of successful attempts.

    Source: VAPO, Yue et al. 2025 (arXiv 2504.05118, "Positive Example LM Loss").

    Args:
        logprobs: Of each token, [...], in nats.
        weights: Weight of each token, [...]; 0 leaves it out.
        correct: Whether the token's attempt succeeded, [...] (bool).
        count: Weight of the correct tokens of the whole update, a number or []; 0 gives a loss of 0.

    Returns:
        [], in nats a token.
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
    """Ratio of each token's probability under the trainer to that under the server that sampled it; without gradient.

    Source: truncated importance sampling, Yao et al. 2025, "Your Efficient RL Framework Secretly Brings You Off-Policy
    RL Training".

    Args:
        old: Log-probability in the trainer's own pass, [...].
        sampled: Log-probability that the server gave, [...].
        cap: Upper bound, above 0.
        least: Tokens below it have weight 0; None: no lower bound.
        beyond: "cap" truncates at `cap`; "drop" gives tokens above it weight 0.

    Returns:
        [...], from 0 to `cap`.
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

    Sources: the clip is PPO, Schulman et al. 2017 (arXiv 1707.06347, section 3); two bounds and the mean over tokens
    are DAPO, Yu et al. 2025 (arXiv 2503.14476, sections 3.1 and 3.3); the dual clip is Ye et al. 2020 (arXiv
    1912.09729).

    Args:
        logprobs: Under the policy in training, [...], in nats.
        old: Under the policy at the update's start, [...], in nats; no gradient.
        advantages: [...], in units of reward; no gradient.
        weights: Weight of each token, [...]; 0 leaves it out.
        count: Weight of the whole update over all ranks, a number or [].
        clip_low: How far the ratio may fall below 1, 0 to 1.
        clip_high: How far it may rise above 1, from 0.
        dual_clip: Bounds the loss by -dual_clip A where A < 0, so that no unlikely bad token dominates; None: off.
        correction: Factor of each token's loss, [...] (`importance_weights`).

    Raises:
        ValueError: `dual_clip` is not above 1.
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
    """Half the squared error of a critic, with the value clip of OpenAI's PPO2 (its code, 2017).

    Args:
        values: The critic's values, [...], in units of reward.
        old: Its values at the update's start, [...].
        returns: The targets, [...].
        weights: Weight of each token, [...]; 0 leaves it out.
        count: Weight of the whole update over all ranks, a number or [].
        clip: The worse of the error and that of the value held within this distance of `old` counts; None: no clip.

    Returns:
        [], from 0.
    """
    values, returns = _mask_uncounted(values, weights), _mask_uncounted(returns.detach(), weights)
    errors = (values - returns).square()
    if clip is not None:
        old = _mask_uncounted(old.detach(), weights)
        errors = torch.maximum(errors, (old + (values - old).clamp(-clip, clip) - returns).square())
    return 0.5 * weighted_sum(errors, weights, count)


def kl_estimates(logprobs: Tensor, reference: Tensor, kind: KLKind = "k3") -> Tensor:
    """KL(policy ‖ reference), estimated at each token drawn from the policy.

    Source: Schulman 2020, "Approximating KL Divergence".

    Args:
        logprobs: Under the policy, [...], in nats.
        reference: Under the reference, [...], in nats.
        kind: k1 is unbiased and noisy, and its gradient is zero on average; k2's gradient is that of the KL; k3 is
            unbiased, never negative and less noisy.

    Returns:
        [...], in nats.
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
    """Weighted mean of `kl_estimates` (Schulman 2020), which keeps a policy near a reference.

    Args:
        logprobs: Under the policy, [...], in nats.
        reference: Under the reference, [...], in nats; no gradient.
        weights: Weight of each token, [...]; 0 leaves it out.
        count: Weight of the whole update over all ranks, a number or [].
        kind: The estimator.

    Returns:
        [], in nats a token.
    """
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
    """DPO over whole replies (Rafailov et al. 2023, arXiv 2305.18290, section 4, equation 7).

    `smoothing` is conservative DPO (Mitchell 2023, "A note on DPO with noisy preferences & relationship to IPO").

    Args:
        chosen: Log-probability of the better reply of each pair, [pairs], in nats.
        rejected: Of the worse one, [pairs].
        reference_chosen: Under the reference, [pairs].
        reference_rejected: Under the reference, [pairs].
        count: Weight of the pairs of the whole update, a number or [].
        beta: Strength of the reference, above 0.
        smoothing: Probability that a pair is the wrong way round, 0 to 0.5.
        weights: Of each pair, [pairs]; None: 1.
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
    """KTO over whole replies, each good or bad by itself (Ethayarajh et al. 2024, arXiv 2402.01306, section 4).

    Args:
        logprobs: Log-probability of each reply, [replies], in nats.
        reference: Under the reference, [replies]; no gradient.
        desirable: Whether the reply was good, [replies] (bool).
        drift: KL between policy and reference, a number or [], in nats: the mean of logprobs - reference over replies
            paired with prompts of others. It has no gradient, and below 0 counts as 0.
        count: Weight of the replies of the whole update, a number or [].
        beta: Strength of the reference, above 0.
        desirable_weight: Weight of good replies, from 0.
        undesirable_weight: Weight of bad replies, from 0.

    Returns:
        [], from 0.
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
