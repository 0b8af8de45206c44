"""`python learned.py FORMAT FOLDER PROCESSOR OUT`: what a consumer's own loader and template make of an export.

Writes one line of JSON a row, in order: `text`, what is learned (without the end of the turn), and `tokens`, the
special tokens in it. Imports nothing of the platform: the environment has only the consumers.
"""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

NAME, FOLDER, PROCESSOR = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
IGNORED = -100
LONGEST = 1 << 20
"""More tokens than any row has: nothing is cut."""
END = "<|im_end|>"
MEDIA = (
    *("image_max_pixels", "image_min_pixels", "image_do_pan_and_scan", "crop_to_patches"),
    *("video_max_pixels", "video_min_pixels", "video_fps", "video_maxlen", "use_audio_in_video", "audio_sampling_rate"),
)
"""What LLaMA-Factory's `patch_processor` sets; its module would import an older TRL."""


def processor() -> Any:
    """The processor of the model that is to learn, without its part for videos, which asks for torchvision."""
    from transformers import AutoImageProcessor, AutoTokenizer, Qwen2_5_VLProcessor

    class Processor(Qwen2_5_VLProcessor):  # type: ignore[misc]
        attributes = ("image_processor", "tokenizer")

        @classmethod
        def get_attributes(cls) -> list[str]:
            return list(cls.attributes)

    tokenizer = AutoTokenizer.from_pretrained(PROCESSOR)
    images = AutoImageProcessor.from_pretrained(PROCESSOR, backend="pil")
    return Processor(image_processor=images, tokenizer=tokenizer, chat_template=tokenizer.chat_template)


def llama_factory() -> Iterator[list[int]]:
    """LLaMA-Factory's `get_dataset`, as `llamafactory-cli train` calls it."""
    from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
    from llamafactory.hparams import DataArguments, ModelArguments
    from transformers import Seq2SeqTrainingArguments

    given = processor()
    data = DataArguments(
        dataset="pilothouse_train",
        dataset_dir=str(FOLDER),
        media_dir=str(FOLDER),
        template="qwen2_vl",
        cutoff_len=LONGEST,
        mask_history=True,
    )
    model = ModelArguments(model_name_or_path=PROCESSOR)
    for name in MEDIA:
        setattr(given, name, getattr(model, name))
    template = get_template_and_fix_tokenizer(given.tokenizer, data)
    training = Seq2SeqTrainingArguments(output_dir=str(FOLDER.parent / "llama_factory"), use_cpu=True)
    found = get_dataset(template, model, data, training, stage="sft", tokenizer=given.tokenizer, processor=given)
    for row in found["train_dataset"]:
        yield [token for token in row["labels"] if token != IGNORED]


def trl() -> Iterator[list[int]]:
    """TRL's collator for models that see, as `SFTTrainer` makes it for prompts and completions."""
    from datasets import load_dataset
    from trl.trainer.sft_trainer import DataCollatorForVisionLanguageModeling

    collate = DataCollatorForVisionLanguageModeling(processor(), completion_only_loss=True)
    for row in load_dataset("parquet", data_files=str(FOLDER / "data" / "train-*.parquet"), split="train"):
        yield [token for token in collate([row])["labels"][0].tolist() if token != IGNORED]


def verl() -> Iterator[list[int]]:
    """verl's dataset of turns. Ray and tensordict carry batches between its workers, which reading does not do;
    positions of pictures are computed by code for an older transformers, and nothing here depends on them."""
    for name in ("tensordict", "tensordict.tensorclass", "verl.models.transformers.qwen2_vl"):
        sys.modules[name] = empty = ModuleType(name)
        empty.__getattr__ = lambda _: type("Unused", (), {})  # type: ignore[method-assign]
    pictures: Any = ModuleType("qwen_vl_utils")  # it would import torchvision, to scale pictures
    pictures.fetch_image = lambda given, **_: given["image"]
    sys.modules["qwen_vl_utils"] = pictures
    package = sys.modules["verl"] = ModuleType("verl")  # its own would import Ray
    package.__path__ = [str(Path(entry) / "verl") for entry in sys.path if (Path(entry) / "verl").is_dir()]
    module: Any = importlib.import_module("verl.utils.dataset.multiturn_sft_dataset")
    module.get_rope_index = lambda _, input_ids, **__: input_ids.new_zeros((3, len(input_ids)))
    given = processor()
    files = sorted(str(path) for path in (FOLDER / "data").glob("train-*.parquet"))
    config = {"max_length": LONGEST, "pad_mode": "no_padding"}
    rows = module.MultiTurnSFTDataset(files, given.tokenizer, config, processor=given)
    for index in range(len(rows)):
        row = rows[index]
        yield row["input_ids"][row["loss_mask"] == 1].tolist()


CONSUMERS = {"llama_factory_sft": llama_factory, "trl_sft": trl, "verl_sft": verl}


def main() -> None:
    tokenizer = processor().tokenizer
    special = set(tokenizer.get_added_vocab().values())
    with Path(sys.argv[4]).open("w") as lines:
        for ids in CONSUMERS[NAME]():
            text = tokenizer.decode(ids).rstrip("\n")
            tokens = [tokenizer.convert_ids_to_tokens(token) for token in ids if token in special]
            if text.endswith(END):
                text, tokens = text.removesuffix(END), tokens[:-1]
            lines.write(json.dumps({"text": text, "tokens": tokens}) + "\n")


if __name__ == "__main__":
    main()
