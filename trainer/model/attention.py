"""Attention within each sample of a packed sequence, without a mask over all of it.

A mask of a whole sequence costs its length squared, most of it for pairs that must not see each other. Each sample is
attended to alone instead: the same numbers, less work, and no mask to keep. What is not packed (a server's batch, the
vision tower's windows) goes to torch's own attention as ever.
"""

from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "packed"
UNMASKED: dict[str, None] = {"full_attention": None}
"""The `attention_mask` of a packed sequence: its positions say where samples begin."""


def packed_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    position_ids: torch.Tensor | None = None,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """As transformers calls it: heads of shape (1, heads, N, width), the count within a sample of shape (1, N)."""
    if position_ids is None or attention_mask is not None:
        whole: tuple[torch.Tensor, None] = sdpa_attention_forward(module, query, key, value, attention_mask, **kwargs)
        return whole
    lengths = sample_lengths(position_ids[0])
    each = zip(*(one.split(lengths, dim=2) for one in (query, key, value)), strict=True)
    return torch.cat([sdpa_attention_forward(module, *parts, None, **kwargs)[0] for parts in each], dim=1), None


def sample_lengths(count: torch.Tensor) -> list[int]:
    """How long the samples are, from a count that begins again at each; shape (N,)."""
    begins = (count == 0).nonzero()[:, 0]
    ends = torch.cat([begins[1:], begins.new_tensor([len(count)])])
    lengths: list[int] = (ends - begins).tolist()
    return lengths


AttentionInterface.register(NAME, packed_attention)
AttentionMaskInterface.register(NAME, sdpa_mask)
