"""The nano policy's folder: an ordinary Qwen2.5-VL of four million weights in the Hugging Face layout."""

from pathlib import Path

from transformers import Qwen2_5_VLConfig

from protocol.dialects.coordinates import MAX_PIXELS, MIN_PIXELS
from trainer.model.checkpoints import create_checkpoint
from trainer.model.tiny_qwen import image_processor_config, qwen_config
from trainer.nano.point_embeddings import initialize_point_embeddings
from trainer.nano.synthetic.targets import CELL, PATCH
from trainer.nano.tokenizer import create_tokenizer

THETA = 20.0
"""The base of the text's rotary embedding: with the family's 10,000 a screen's columns are hardly told apart."""
SECTIONS = (4, 8, 20)
"""How many of the turns tell time, row and column. The family's shares, 8, 12 and 12, leave the slowest to the columns,
which were then learned long after the rows."""
CONTEXT = 8_192
WINDOW = 40 * CELL
"""Wider than any picture it gets: attention is over all of it in every block."""
IMAGES = image_processor_config(min_pixels=MIN_PIXELS, max_pixels=MAX_PIXELS, patch_size=PATCH, std=0.25)


def create_initial_checkpoint(folder: Path, *, seed: int) -> Path:
    """A policy that has learned nothing, written beside `folder` and renamed; the same seed gives the same weights."""
    tokenizer = create_tokenizer()
    config = create_config(len(tokenizer.get_vocab()))
    return create_checkpoint(
        folder,
        config=config,
        tokenizer=tokenizer,
        images=IMAGES,
        seed=seed,
        order=lambda model: initialize_point_embeddings(model, tokenizer),
    )


def create_config(tokens: int) -> Qwen2_5_VLConfig:
    """Its shape for this many tokens: a vision tower of width 160 and depth 4, a decoder of width 192 and depth 5."""
    rotary = {"rope_type": "default", "rope_theta": THETA, "mrope_section": list(SECTIONS)}
    text = {
        "vocab_size": -(-tokens // 64) * 64,
        "hidden_size": 192,
        "intermediate_size": 576,
        "num_hidden_layers": 5,
        "num_attention_heads": 3,
        "num_key_value_heads": 1,
        "max_position_embeddings": CONTEXT,
        "rope_theta": THETA,
        "rope_parameters": rotary,
        "rope_scaling": {**rotary, "type": "mrope"},
    }
    vision = {
        "depth": 4,
        "hidden_size": 160,
        "intermediate_size": 400,
        "num_heads": 5,
        "out_hidden_size": 192,
        "patch_size": PATCH,
        "window_size": WINDOW,
        "fullatt_block_indexes": [0, 1, 2, 3],
        "in_chans": 3,
    }
    return qwen_config(text=text, vision=vision, tie_word_embeddings=True)
