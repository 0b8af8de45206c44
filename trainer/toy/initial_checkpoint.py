"""A tiny random Qwen2.5-VL that can name corners: a real architecture, some hundred thousand weights, no download."""

from collections.abc import Sequence
from pathlib import Path

from transformers import Qwen2_5_VLConfig

from trainer.model.checkpoints import create_checkpoint
from trainer.model.tiny_qwen import BYTES, SPECIAL_TOKENS, byte_tokenizer, image_processor_config, qwen_config
from trainer.toy.lights import NAMES, PRESS, SIZE

THOUGHT = "look"
WORDS = ("user", "assistant", "Point", f" {THOUGHT}", *(f" {name}" for name in NAMES))
"""What is one token each; all else is bytes."""
HELPED = (f" {PRESS}", " pressed")
"""The same, where a tool is offered beside the corners."""
SCALE = 0.1
"""Of the random weights; the family's 0.02 is for wide layers, and in narrow ones nothing comes through."""
IMAGES = image_processor_config(min_pixels=SIZE * SIZE, max_pixels=SIZE * SIZE, patch_size=14, std=0.5)


def create_toy_checkpoint(folder: Path, *, seed: int, with_tool: bool = False) -> Path:
    """Write the whole checkpoint; the same seed gives the same weights."""
    words = (*WORDS, *HELPED) if with_tool else WORDS
    return create_checkpoint(folder, config=_config(words), tokenizer=byte_tokenizer(words), images=IMAGES, seed=seed)


def _config(words: Sequence[str]) -> Qwen2_5_VLConfig:
    text = {
        "vocab_size": BYTES + len(SPECIAL_TOKENS) + len(words),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "rope_theta": 100.0,
        "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
        "initializer_range": SCALE,
    }
    vision = {
        "depth": 1,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "out_hidden_size": 64,
        "patch_size": 14,
        "window_size": 112,
        "fullatt_block_indexes": [0],
        "initializer_range": SCALE,
    }
    return qwen_config(text=text, vision=vision, tie_word_embeddings=False)
