"""The nano policy's folder: an ordinary Qwen2.5-VL of four million weights in the Hugging Face layout."""

from pathlib import Path

from transformers import Qwen2_5_VLConfig

from trainer.model.checkpoints import create_checkpoint
from trainer.nano.point_embeddings import initialize_point_embeddings
from trainer.nano.synthetic.targets import CELL, PATCH
from trainer.nano.tokenizer import create_tokenizer
from vocabulary.resize import MAX_PIXELS, MIN_PIXELS

THETA = 20.0
"""The base of the text's rotary embedding: with the family's 10,000 a screen's columns are hardly told apart."""
SECTIONS = (4, 8, 20)
"""How many of the turns tell time, row and column. The family's shares, 8, 12 and 12, leave the slowest to the columns,
which were then learned long after the rows."""
CONTEXT = 8_192
WINDOW = 40 * CELL
"""Wider than any picture it gets: attention is over all of it in every block."""
IMAGES = {
    "image_processor_type": "Qwen2VLImageProcessor",
    "processor_class": "Qwen2_5_VLProcessor",
    "min_pixels": MIN_PIXELS,
    "max_pixels": MAX_PIXELS,
    "patch_size": PATCH,
    "temporal_patch_size": 2,
    "merge_size": 2,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.25, 0.25, 0.25],
}


def create_initial_checkpoint(folder: Path, *, seed: int) -> Path:
    """A policy that has learned nothing, written beside `folder` and renamed; the same seed gives the same weights."""
    tokenizer = create_tokenizer()
    config = create_config(tokenizer.get_vocab())
    return create_checkpoint(
        folder,
        config=config,
        tokenizer=tokenizer,
        images=IMAGES,
        seed=seed,
        order=lambda model: initialize_point_embeddings(model, tokenizer),
    )


def create_config(vocabulary: dict[str, int]) -> Qwen2_5_VLConfig:
    """Its shape: a tower of 160 by 4, a decoder of 192 by 5."""
    special = {name: vocabulary[f"<|{name}|>"] for name in ("endoftext", "im_end", "image_pad", "video_pad")}
    around = {name: vocabulary[f"<|{name}|>"] for name in ("vision_start", "vision_end")}
    rotary = {"rope_type": "default", "rope_theta": THETA, "mrope_section": list(SECTIONS)}
    text = {
        "vocab_size": -(-len(vocabulary) // 64) * 64,
        "hidden_size": 192,
        "intermediate_size": 576,
        "num_hidden_layers": 5,
        "num_attention_heads": 3,
        "num_key_value_heads": 1,
        "max_position_embeddings": CONTEXT,
        "rope_theta": THETA,
        "rope_parameters": rotary,
        "rope_scaling": {**rotary, "type": "mrope"},
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": special["im_end"],
        "pad_token_id": special["endoftext"],
    }
    vision = {
        "depth": 4,
        "hidden_size": 160,
        "intermediate_size": 400,
        "num_heads": 5,
        "out_hidden_size": 192,
        "patch_size": PATCH,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "window_size": WINDOW,
        "fullatt_block_indexes": [0, 1, 2, 3],
        "in_channels": 3,
        "in_chans": 3,
    }
    return Qwen2_5_VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=special["image_pad"],
        video_token_id=special["video_pad"],
        vision_start_token_id=around["vision_start"],
        vision_end_token_id=around["vision_end"],
        eos_token_id=special["im_end"],
        pad_token_id=special["endoftext"],
        tie_word_embeddings=True,
        architectures=["Qwen2_5_VLForConditionalGeneration"],
    )
