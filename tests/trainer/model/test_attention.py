"""Attention within samples gives what a mask over the whole sequence gives, and nothing crosses between samples."""

import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from trainer.model.checkpoints import Checkpoint
from trainer.model.forward import packed_attention, sample_lengths

LENGTHS = (3, 1, 5)
COUNT = torch.cat([torch.arange(length) for length in LENGTHS])


class Decoder(torch.nn.Module):  # type: ignore[misc]
    """What attention asks of its module."""

    is_causal = True
    num_key_value_groups = 2


def heads() -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Four heads of queries, two of keys and values."""
    draw = torch.Generator().manual_seed(0)
    query, key, value = (
        torch.randn(1, many, len(COUNT), 8, generator=draw, dtype=torch.float64, requires_grad=True)
        for many in (4, 2, 2)
    )
    return query, key, value


def masked() -> torch.Tensor:
    """Who may see whom, written out."""
    owner = torch.repeat_interleave(torch.arange(len(LENGTHS)), torch.tensor(LENGTHS))
    return ((owner[:, None] == owner) & torch.ones(len(COUNT), len(COUNT)).tril().bool())[None, None]


def test_lengths_are_read_from_the_count() -> None:
    assert sample_lengths(COUNT) == [*LENGTHS]
    assert sample_lengths(torch.arange(4)) == [4]


def test_samples_alone_are_what_a_mask_makes_of_them() -> None:
    first, second = heads(), heads()
    alone, _ = packed_attention(Decoder(), *first, None, position_ids=COUNT[None], scaling=0.5)
    whole, _ = sdpa_attention_forward(Decoder(), *second, masked(), scaling=0.5)
    torch.testing.assert_close(alone, whole)
    pull = torch.randn(alone.shape, generator=torch.Generator().manual_seed(1), dtype=alone.dtype)
    for one, other in zip(
        torch.autograd.grad((alone * pull).sum(), first),
        torch.autograd.grad((whole * pull).sum(), second),
        strict=True,
    ):
        torch.testing.assert_close(one, other)


def test_what_is_masked_already_is_left_to_torch() -> None:
    """As a server asks: with a mask, or with no count."""
    given = heads()
    masked_, _ = packed_attention(Decoder(), *given, masked(), position_ids=COUNT[None])
    torch.testing.assert_close(masked_, sdpa_attention_forward(Decoder(), *given, masked())[0])
    causal, _ = packed_attention(Decoder(), *given, None)
    torch.testing.assert_close(causal, sdpa_attention_forward(Decoder(), *given, None)[0])


def test_the_models_are_loaded_with_it(checkpoint: Checkpoint) -> None:
    assert checkpoint.model.config.text_config._attn_implementation == "packed"
