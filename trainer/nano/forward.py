"""The model's own weights over many samples at once: the same numbers as its forward, for pictures of one size.

transformers computes attention of pictures one by one and keeps a mask for text; where every sample has one picture of
the same size neither is needed, and torch can compile all of it.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn import functional
from transformers.models.qwen2_5_vl.modeling_qwen2_5_vl import get_vision_position_ids

from trainer.nano.synthetic.targets import CELL, PATCH


def extract_patches(pictures: torch.Tensor) -> torch.Tensor:
    """Pictures as the image processor prepares them; from (B, height, width, 3) bytes to (B, P, values of a patch)."""
    count, height, width, _ = pictures.shape
    rows, columns = height // CELL, width // CELL
    scaled = (pictures.float() / 255 - 0.5) / 0.25
    parted = scaled.view(count, rows, 2, PATCH, columns, 2, PATCH, 3).permute(0, 1, 4, 2, 5, 7, 3, 6)
    still = parted.reshape(count, rows * columns * 4, 3, 1, PATCH * PATCH).expand(-1, -1, -1, 2, -1)
    return still.reshape(count, rows * columns * 4, -1)


def rotary_embeddings(model: Any, rows: int, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines of the places of a picture of so many cells, for `looked`."""
    tower = model.model.visual
    places = get_vision_position_ids(torch.tensor([[1, 2 * rows, 2 * columns]]), 2)
    with torch.no_grad():
        cosines, sines = tower.rotary_pos_emb(torch.zeros(4 * rows * columns, 1), places)
    return cosines.float(), sines.float()


def encode_pictures(
    model: Any, patches: torch.Tensor, turns: tuple[torch.Tensor, torch.Tensor]
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the tower makes of pictures: of patches in its last block (B, P, tower), and of cells (B, C, text)."""
    tower = model.model.visual
    count, places, _ = patches.shape
    x = functional.linear(patches, tower.patch_embed.proj.weight.flatten(1))
    cosines, sines = (turn.to(x.dtype) for turn in turns)
    for block in tower.blocks:
        split = block.attn.qkv(_normalize(block.norm1, x)).view(
            count, places, 3, model.config.vision_config.num_heads, -1
        )
        query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
        query, key = (one * cosines + _rotate_half(one) * sines for one in (query, key))
        attended = functional.scaled_dot_product_attention(query, key, value)
        x = x + block.attn.proj(attended.transpose(1, 2).reshape(count, places, -1))
        x = x + _gated_mlp(block.mlp, _normalize(block.norm2, x))
    merger = tower.merger
    return x, merger.mlp(_normalize(merger.ln_q, x).reshape(count, places // 4, -1))


def decode_text(
    model: Any, words: torch.Tensor, places: torch.Tensor, between: Sequence[int]
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """What the decoder makes of embedded words (B, L, text) at these places (3, B, L): at its end, and after the layers
    `between`. Nothing is masked but what comes later, so that padding stands at the end."""
    decoder, shape = model.model.language_model, model.config.text_config
    count, length, _ = words.shape
    heads, key_heads = shape.num_attention_heads, shape.num_key_value_heads
    cosines, sines = (turn[:, None].to(words.dtype) for turn in decoder.rotary_emb(words, places))
    x, hidden_states = words, list[torch.Tensor]()
    for number, layer in enumerate(decoder.layers, start=1):
        normed, attention = _normalize(layer.input_layernorm, x), layer.self_attn
        query = attention.q_proj(normed).view(count, length, heads, -1).transpose(1, 2)
        key = attention.k_proj(normed).view(count, length, key_heads, -1).transpose(1, 2)
        value = attention.v_proj(normed).view(count, length, key_heads, -1).transpose(1, 2)
        query, key = (one * cosines + _rotate_half(one) * sines for one in (query, key))
        key, value = (one.repeat_interleave(heads // key_heads, 1) for one in (key, value))
        attended = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + attention.o_proj(attended.transpose(1, 2).reshape(count, length, -1))
        x = x + _gated_mlp(layer.mlp, _normalize(layer.post_attention_layernorm, x))
        if number in between:
            hidden_states.append(x)
    return _normalize(decoder.norm, x), hidden_states


def attention_shares(
    model: Any, number: int, words: torch.Tensor, places: torch.Tensor, at: torch.Tensor
) -> torch.Tensor:
    """Where the heads of a layer look, as shares (N, H, L): from tokens `at`, of B * L, at those before, when it gets
    `words` (B, L, text) at these places (3, B, L)."""
    decoder = model.model.language_model
    layer, (_, length, _) = decoder.layers[number], words.shape
    cosines, sines = (turn.to(words.dtype) for turn in decoder.rotary_emb(words, places))
    normed, width = _normalize(layer.input_layernorm, words), cosines.shape[-1]
    key = layer.self_attn.k_proj(normed).unflatten(-1, (-1, width))
    key = key * cosines[:, :, None] + _rotate_half(key) * sines[:, :, None]
    query = layer.self_attn.q_proj(normed.flatten(0, 1)[at]).unflatten(-1, (-1, width))
    query = query * cosines.flatten(0, 1)[at][:, None] + _rotate_half(query) * sines.flatten(0, 1)[at][:, None]
    key = key.repeat_interleave(query.shape[1] // key.shape[2], 2)[at // length]
    logits = torch.einsum("nhd,nlhd->nhl", query, key).float() * width**-0.5
    later = torch.arange(length) > (at % length)[:, None]
    return logits.masked_fill(later[:, None], -torch.inf).softmax(-1)


def _normalize(norm: Any, x: torch.Tensor) -> torch.Tensor:
    epsilon = getattr(norm, "variance_epsilon", 1e-6)
    return functional.rms_norm(x.float(), (x.shape[-1],), norm.weight, epsilon).to(x.dtype)


def _gated_mlp(mlp: Any, x: torch.Tensor) -> torch.Tensor:
    down: torch.Tensor = mlp.down_proj(functional.silu(mlp.gate_proj(x)) * mlp.up_proj(x))
    return down


def _rotate_half(x: torch.Tensor) -> torch.Tensor:
    half = x.shape[-1] // 2
    return torch.cat((-x[..., half:], x[..., :half]), -1)
