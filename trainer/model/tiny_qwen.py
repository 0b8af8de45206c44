"""Parts of tiny Qwen2.5-VL checkpoints: the tokenizer, the image processor and the model's configuration."""

from collections.abc import Iterable, Mapping
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import Qwen2_5_VLConfig, Qwen2TokenizerFast

BYTES = 256
SPECIAL_TOKENS = (
    "endoftext",
    "im_start",
    "im_end",
    "vision_start",
    "vision_end",
    "vision_pad",
    "image_pad",
    "video_pad",
)
"""Qwen's names, written `<|name|>`; their ids follow the bytes'."""
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] }}{% else %}<|vision_start|><|image_pad|><|vision_end|>{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def byte_tokenizer(phrases: Iterable[str]) -> Qwen2TokenizerFast:
    """A tokenizer without merges: 256 bytes, the special tokens, then one token for each phrase, in this order."""
    alphabet = {symbol: number for number, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    core = Tokenizer(models.BPE(vocab=alphabet, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([f"<|{name}|>" for name in SPECIAL_TOKENS])
    core.add_tokens([AddedToken(phrase, normalized=False) for phrase in phrases])
    tokenizer = Qwen2TokenizerFast(
        tokenizer_object=core,
        eos_token="<|im_end|>",  # noqa: S106 - a token of the vocabulary
        pad_token="<|endoftext|>",  # noqa: S106 - a token of the vocabulary
        unk_token=None,
        bos_token=None,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def image_processor_config(*, min_pixels: int, max_pixels: int, patch_size: int, std: float) -> dict[str, Any]:
    """The content of `preprocessor_config.json`; pixels are shifted by 0.5 and divided by `std`."""
    return {
        "image_processor_type": "Qwen2VLImageProcessor",
        "processor_class": "Qwen2_5_VLProcessor",
        "min_pixels": min_pixels,
        "max_pixels": max_pixels,
        "patch_size": patch_size,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [std, std, std],
    }


def qwen_config(*, text: Mapping[str, Any], vision: Mapping[str, Any], tie_word_embeddings: bool) -> Qwen2_5_VLConfig:
    """The configuration of a model whose special tokens are those of `byte_tokenizer`.

    Args:
        text: Shape of the language model, with its `vocab_size`.
        vision: Shape of the vision tower.
        tie_word_embeddings: Whether the output layer shares the weights of the embeddings.
    """
    ids = {name: BYTES + number for number, name in enumerate(SPECIAL_TOKENS)}
    ends = {"eos_token_id": ids["im_end"], "pad_token_id": ids["endoftext"]}
    return Qwen2_5_VLConfig(
        text_config={**text, **ends, "bos_token_id": None, "tie_word_embeddings": tie_word_embeddings},
        vision_config={**vision, "spatial_merge_size": 2, "temporal_patch_size": 2, "in_channels": 3},
        image_token_id=ids["image_pad"],
        video_token_id=ids["video_pad"],
        vision_start_token_id=ids["vision_start"],
        vision_end_token_id=ids["vision_end"],
        **ends,
        tie_word_embeddings=tie_word_embeddings,
        architectures=["Qwen2_5_VLForConditionalGeneration"],
    )
