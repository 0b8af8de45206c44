"""Merging by what each model learned: its difference from the start they share, thinned out before they are added.

TIES (Yadav et al. 2023) keeps the largest changes and lets each place's heavier sign win; DARE (Yu et al. 2024) drops
changes at random and scales up the rest. Each function takes one tensor's changes.
"""

import hashlib
from collections.abc import Sequence

import torch
from torch import Tensor


def trim(delta: Tensor, density: float) -> Tensor:
    """The largest changes, this share of all; the others are nothing."""
    count = max(1, round(density * delta.numel()))
    flat = delta.flatten()
    places = flat.abs().topk(count).indices
    return torch.zeros_like(flat).index_copy(0, places, flat[places]).view_as(delta)


def drop(delta: Tensor, density: float, source: torch.Generator) -> Tensor:
    """Each change with this probability, scaled up so that their expected sum stays."""
    mask = torch.rand(delta.shape, generator=source, dtype=torch.float64) < density
    return torch.where(mask, delta / density, 0)


def weighted_sum(deltas: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    """Their weighted sum."""
    return torch.stack([delta * weight for delta, weight in zip(deltas, weights, strict=True)]).sum(0)


def elect_sign(deltas: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    """At each place the weighted mean of those changes whose sign has more weight behind it; no change has no vote."""
    sign = weighted_sum(deltas, weights).sign()
    agree = [(delta.sign() == sign) & (delta != 0) for delta in deltas]
    voted = weighted_sum([mask.to(sign.dtype) for mask in agree], weights)
    total = weighted_sum([torch.where(mask, delta, 0) for mask, delta in zip(agree, deltas, strict=True)], weights)
    return torch.where(voted > 0, total / voted.clamp(min=torch.finfo(voted.dtype).tiny), 0)


def part_generator(seed: int, name: str, number: int) -> torch.Generator:
    """The randomness of one part's tensor: the same whatever is merged before it."""
    digest = hashlib.blake2b(f"{seed} {number} {name}".encode(), digest_size=8).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest) >> 1)
