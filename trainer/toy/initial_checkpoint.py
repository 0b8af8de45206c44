"""A tiny random Qwen2.5-VL that can name corners: a real architecture, some hundred thousand weights, no download."""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import Qwen2_5_VLConfig, Qwen2TokenizerFast

from trainer.model.checkpoints import create_checkpoint
from trainer.toy.lights import NAMES, PRESS, SIZE

SPECIALS = ("endoftext", "im_start", "im_end", "vision_start", "vision_end", "vision_pad", "image_pad", "video_pad")
THOUGHT = "look"
WORDS = ("user", "assistant", "Point", f" {THOUGHT}", *(f" {name}" for name in NAMES))
"""What is one token each; all else is bytes."""
HELPED = (f" {PRESS}", " pressed")
"""The same, where a tool is offered beside the corners."""
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] }}{% else %}<|vision_start|><|image_pad|><|vision_end|>{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SCALE = 0.1
"""Of the random weights; the family's 0.02 is for wide layers, and in narrow ones nothing comes through."""
IMAGES = {
    "image_processor_type": "Qwen2VLImageProcessor",
    "processor_class": "Qwen2_5_VLProcessor",
    "min_pixels": SIZE * SIZE,
    "max_pixels": SIZE * SIZE,
    "patch_size": 14,
    "temporal_patch_size": 2,
    "merge_size": 2,
    "image_mean": [0.5, 0.5, 0.5],
    "image_std": [0.5, 0.5, 0.5],
}


def create_toy_checkpoint(folder: Path, *, seed: int, with_tool: bool = False) -> Path:
    """Write the whole checkpoint; the same seed gives the same weights."""
    words = (*WORDS, *HELPED) if with_tool else WORDS
    return create_checkpoint(folder, config=_config(words), tokenizer=_tokenizer(words), images=IMAGES, seed=seed)


def _tokenizer(words: Sequence[str]) -> Qwen2TokenizerFast:
    vocabulary = {symbol: number for number, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([f"<|{name}|>" for name in SPECIALS])
    core.add_tokens([AddedToken(word, normalized=False) for word in words])
    tokenizer = Qwen2TokenizerFast(
        tokenizer_object=core,
        eos_token="<|im_end|>",  # noqa: S106 - a token of the vocabulary
        pad_token="<|endoftext|>",  # noqa: S106 - a token of the vocabulary
        unk_token=None,
        bos_token=None,
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def _config(words: Sequence[str]) -> Qwen2_5_VLConfig:
    special = {name: 256 + number for number, name in enumerate(SPECIALS)}
    text = {
        "vocab_size": 256 + len(SPECIALS) + len(words),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "rope_theta": 100.0,
        "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
        "initializer_range": SCALE,
        "tie_word_embeddings": False,
        "bos_token_id": None,
        "eos_token_id": special["im_end"],
        "pad_token_id": special["endoftext"],
    }
    vision = {
        "depth": 1,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "out_hidden_size": 64,
        "patch_size": 14,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "window_size": 112,
        "fullatt_block_indexes": [0],
        "in_channels": 3,
        "initializer_range": SCALE,
    }
    return Qwen2_5_VLConfig(
        text_config=text,
        vision_config=vision,
        image_token_id=special["image_pad"],
        video_token_id=special["video_pad"],
        vision_start_token_id=special["vision_start"],
        vision_end_token_id=special["vision_end"],
        eos_token_id=special["im_end"],
        pad_token_id=special["endoftext"],
        tie_word_embeddings=False,
        architectures=["Qwen2_5_VLForConditionalGeneration"],
    )
