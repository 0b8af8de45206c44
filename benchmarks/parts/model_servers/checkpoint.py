"""A tiny random Qwen2.5-VL checkpoint: a real architecture with 684 thousand parameters and no download.

Run inside the trainer's or vLLM's environment, at the root of the repository:
`python -m benchmarks.parts.model_servers.checkpoint FOLDER [--seed N] [--larger]`. The vocabulary is the 256
bytes and the family's special tokens, so that any text has token ids; the weights are seeded, so that two runs agree.
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import json
import os
from pathlib import Path

SPECIALS = (
    *("endoftext", "im_start", "im_end", "object_ref_start", "object_ref_end", "box_start", "box_end"),
    *("vision_start", "vision_end", "vision_pad", "image_pad", "video_pad"),
)
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'text' %}{{ part['text'] }}{% else %}<|vision_start|><|image_pad|><|vision_end|>{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TEXT = {
    "vocab_size": 512,
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 8192,
    "rope_theta": 1e6,
    "rope_scaling": {"type": "mrope", "mrope_section": [4, 6, 6]},
    "tie_word_embeddings": False,
    "bos_token_id": None,
    "eos_token_id": 256 + SPECIALS.index("im_end"),
    "pad_token_id": 256 + SPECIALS.index("endoftext"),
}
VISION = {
    "depth": 2,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_heads": 4,
    "out_hidden_size": 128,
    "patch_size": 14,
    "spatial_merge_size": 2,
    "temporal_patch_size": 2,
    "window_size": 112,
    "fullatt_block_indexes": [1],
    "in_channels": 3,
}

LARGER = {
    "text": {"hidden_size": 256, "intermediate_size": 1024, "num_hidden_layers": 6, "num_attention_heads": 8},
    "vision": {"depth": 4, "hidden_size": 256, "intermediate_size": 768, "out_hidden_size": 256},
    "images": {"max_pixels": 28 * 28 * 256},
}
"""Ten million parameters, about what a policy for small screens has."""
IMAGES = {
    "image_processor_type": "Qwen2VLImageProcessor",
    "processor_class": "Qwen2_5_VLProcessor",
    "min_pixels": 56 * 56,
    "max_pixels": 28 * 28 * 64,
    "patch_size": 14,
    "temporal_patch_size": 2,
    "merge_size": 2,
    "image_mean": [0.48145466, 0.4578275, 0.40821073],
    "image_std": [0.26862954, 0.26130258, 0.27577711],
}
"""As the family's own checkpoints have it; written out, because making it would ask for torchvision."""
VIDEOS = {**IMAGES, "video_processor_type": "Qwen2VLVideoProcessor"}
del VIDEOS["image_processor_type"]


def write(folder: Path, seed: int, *, larger: bool = False) -> None:
    """Write the whole checkpoint beside `folder`, then rename it."""
    making = folder.with_name(folder.name + ".making")
    making.mkdir(parents=True, exist_ok=True)
    write_processor(making, **(LARGER["images"] if larger else {}))
    write_model(making, seed, LARGER if larger else {"text": {}, "vision": {}})
    os.rename(making, folder)


def token_id(name: str) -> int:
    """The id of a special token; the bytes come first."""
    return 256 + SPECIALS.index(name)


def write_processor(folder: Path, **limits: int) -> None:
    """Tokenizer, chat template and image processor."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import Qwen2TokenizerFast

    vocabulary = {symbol: number for number, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens([f"<|{name}|>" for name in SPECIALS])
    tokenizer = Qwen2TokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|endoftext|>", unk_token=None, bos_token=None
    )
    ids = tokenizer.convert_tokens_to_ids([f"<|{name}|>" for name in SPECIALS])
    if ids != list(range(256, 256 + len(SPECIALS))):
        raise SystemExit(f"special tokens have other ids than the model expects: {ids}")
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps({**IMAGES, **limits}, indent=2))
    (folder / "video_preprocessor_config.json").write_text(json.dumps({**VIDEOS, **limits}, indent=2))
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n")


def write_model(folder: Path, seed: int, size: dict[str, dict[str, int]]) -> None:
    """Random weights, always the same for a seed."""
    import torch
    from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

    torch.manual_seed(seed)
    config = Qwen2_5_VLConfig(
        text_config={**TEXT, **size["text"]},
        vision_config={**VISION, **size["vision"]},
        image_token_id=token_id("image_pad"),
        video_token_id=token_id("video_pad"),
        vision_start_token_id=token_id("vision_start"),
        vision_end_token_id=token_id("vision_end"),
        eos_token_id=token_id("im_end"),
        pad_token_id=token_id("endoftext"),
        tie_word_embeddings=False,
        architectures=["Qwen2_5_VLForConditionalGeneration"],
    )
    Qwen2_5_VLForConditionalGeneration(config).to(torch.bfloat16).save_pretrained(folder)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--larger", action="store_true", help="ten million parameters")
    given = options.parse_args()
    write(given.folder, given.seed, larger=given.larger)
