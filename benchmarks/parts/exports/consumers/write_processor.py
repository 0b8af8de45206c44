"""`python processor.py FOLDER`: a processor of Qwen2.5-VL's shape, without a download.

The vocabulary is the 256 bytes; the tokens that are added, the template and the replacing of characters by their
composed form (NFC) are the family's.
"""

import json
import sys
from pathlib import Path

PAIRS = ("object_ref", "box", "quad", "vision")
ADDED = (
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
    *(f"<|{name}_{end}|>" for name in PAIRS for end in ("start", "end")),
    *("<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"),
)
ORDINARY = (
    *("<tool_call>", "</tool_call>"),
    *("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"),
    *("<tool_response>", "</tool_response>", "<think>", "</think>"),
)
"""Tokens that a decoder does not skip; the last four are Qwen3's."""
TEMPLATE = (
    "{% for message in messages %}"
    "{% if loop.first and message['role'] != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
    "{% endif %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}<|im_end|>\n"
    "{% else %}{% for content in message['content'] %}"
    "{% if content['type'] == 'image' or 'image' in content %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}<|im_end|>\n{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
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


def write(folder: Path) -> None:
    """Tokenizer, template and image processor."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
    from transformers import Qwen2TokenizerFast

    folder.mkdir(parents=True)
    vocabulary = {symbol: number for number, symbol in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    core = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    core.normalizer = normalizers.NFC()
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    core.add_special_tokens(list(ADDED))
    core.add_tokens([AddedToken(word, normalized=False) for word in ORDINARY])
    tokenizer = Qwen2TokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|endoftext|>", unk_token=None, bos_token=None
    )
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    videos = {**IMAGES, "video_processor_type": "Qwen2VLVideoProcessor"}
    del videos["image_processor_type"]
    (folder / "preprocessor_config.json").write_text(json.dumps(IMAGES))
    (folder / "video_preprocessor_config.json").write_text(json.dumps(videos))
    (folder / "config.json").write_text(json.dumps({"model_type": "qwen2_5_vl"}))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
