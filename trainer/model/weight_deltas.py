"""Merging by what each model learned: its difference from the start they share, thinned out before they are added.

TIES (Yadav et al. 2023) keeps the largest changes and lets each place's heavier sign win; DARE (Yu et al. 2024) drops
changes at random and scales up the rest. Each function takes one tensor's changes.
"""

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor


def trim(delta: Tensor, density: float) -> Tensor:
    """Keep the largest changes, by magnitude (TIES, Yadav et al. 2023, arXiv 2306.01708, "Trim").

    Args:
        delta: Any shape [...].
        density: Share that is kept, above 0 to 1; at least one change is.

    Returns:
        The same shape [...]; 0 elsewhere.
    """
    count = max(1, round(density * delta.numel()))
    flat = delta.flatten()
    places = flat.abs().topk(count).indices
    return torch.zeros_like(flat).index_copy(0, places, flat[places]).view_as(delta)


def drop(delta: Tensor, density: float, source: torch.Generator) -> Tensor:
    """Keep each change at random and rescale, so that the expected sum stays (DARE, Yu et al. 2024, arXiv 2311.03099).

    Args:
        delta: Any shape [...].
        density: Probability that a change is kept, above 0 to 1.
        source: Of randomness.

    Returns:
        The same shape [...]; 0 elsewhere.
    """
    mask = torch.rand(delta.shape, generator=source, dtype=torch.float64) < density
    return torch.where(mask, delta / density, 0)


def weighted_sum(deltas: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    """Weighted sum of tensors.

    Args:
        deltas: Of one shape, `[...]` each.
        weights: One a tensor.

    Returns:
        The same shape [...].
    """
    return torch.stack([delta * weight for delta, weight in zip(deltas, weights, strict=True)]).sum(0)


def elect_sign(deltas: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    """At each place, the weighted mean of the changes with the heavier sign; a change of 0 has no vote.

    Source: TIES, Yadav et al. 2023 (arXiv 2306.01708), "Elect" and "Disjoint Merge".

    Args:
        deltas: Of one shape, `[...]` each.
        weights: One a tensor, from 0.

    Returns:
        The same shape [...].
    """
    sign = weighted_sum(deltas, weights).sign()
    agree = [(delta.sign() == sign) & (delta != 0) for delta in deltas]
    voted = weighted_sum([mask.to(sign.dtype) for mask in agree], weights)
    total = weighted_sum([torch.where(mask, delta, 0) for mask, delta in zip(agree, deltas, strict=True)], weights)
    return torch.where(voted > 0, total / voted.clamp(min=torch.finfo(voted.dtype).tiny), 0)


def part_generator(seed: int, name: str, number: int) -> torch.Generator:
    """The randomness of one part's tensor: the same whatever is merged before it."""
    digest = hashlib.blake2b(f"{seed} {number} {name}".encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest) >> 1)
