"""Runs TRL's SFTTrainer on our measurement's samples: `python -m benchmarks.parts.training.trl_trainer FOLDER`.

It cannot pack samples with pictures, so its batch sizes are tried one after another; the fastest counts.
"""

import json
import os
import resource
import sys
import time
from pathlib import Path

import torch
from datasets import Dataset, Features, Image, Sequence, Value
from transformers import (
    AutoImageProcessor,
    AutoTokenizer,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5_VLProcessor,
    TrainerCallback,
)
from trl import SFTConfig, SFTTrainer

SIZES = (1, 4, 8)
EPOCHS = 2
"""The first warms up."""


class Processor(Qwen2_5_VLProcessor):  # type: ignore[misc]
    """One without its part for videos, which asks for torchvision."""

    def check_argument_for_proper_class(self, name: str, argument: object) -> type:
        return type(argument)


def processor_of(folder: Path) -> Processor:
    """The checkpoint's tokenizer and image processor."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    images = AutoImageProcessor.from_pretrained(folder, backend="pil")
    return Processor(
        image_processor=images, tokenizer=tokenizer, video_processor=None, chat_template=tokenizer.chat_template
    )


class Clock(TrainerCallback):  # type: ignore[misc]
    """When each epoch ended."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_epoch_end(self, *_: object, **__: object) -> None:
        self.ends.append(time.perf_counter())


def main() -> None:
    folder = Path(sys.argv[1])
    torch.set_num_threads(os.cpu_count() or 1)
    lines = [json.loads(line) for line in (folder / "data.jsonl").read_text().splitlines()]
    seconds = {size: epoch_seconds(folder, lines, size) for size in SIZES}
    size = min(seconds, key=lambda one: seconds[one])
    processor = processor_of(folder / "model")
    tokens = sum(length(processor, folder, line) for line in lines)
    figures = {
        "trl_sft_tokens_per_s": round(tokens / seconds[size]),
        "trl_batch_size": size,
        "trl_tokens": tokens,
        "trl_sft_peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }
    print(json.dumps(figures))


def epoch_seconds(folder: Path, lines: list[dict[str, str]], size: int) -> float:
    """How long an epoch takes at this batch size."""
    rows = [
        {
            "prompt": [{"role": "user", "content": line["asked"]}],
            "completion": [{"role": "assistant", "content": line["target"]}],
            "images": [str(folder / line["image"])],
        }
        for line in lines
    ]
    turn = [{"role": Value("string"), "content": Value("string")}]
    data = Dataset.from_list(rows, Features(prompt=turn, completion=turn, images=Sequence(Image())))
    clock = Clock()
    trainer = SFTTrainer(
        model=Qwen2_5_VLForConditionalGeneration.from_pretrained(
            folder / "model", dtype=torch.float32, attn_implementation="sdpa"
        ),
        args=SFTConfig(
            output_dir=str(folder / f"trl-{size}"),
            per_device_train_batch_size=size,
            num_train_epochs=EPOCHS,
            learning_rate=1e-4,
            max_length=None,
            gradient_checkpointing=False,
            bf16=False,
            use_cpu=True,
            save_strategy="no",
            report_to="none",
            logging_strategy="no",
            disable_tqdm=True,
        ),
        train_dataset=data,
        processing_class=processor_of(folder / "model"),
        callbacks=[clock],
    )
    trainer.train()
    return clock.ends[-1] - clock.ends[-2]


def length(processor: Processor, folder: Path, line: dict[str, str]) -> int:
    """Tokens of one sample, as TRL feeds it."""
    from PIL import Image as Picture

    content = [{"type": "image"}, {"type": "text", "text": line["asked"]}]
    turns = [{"role": "user", "content": content}, {"role": "assistant", "content": line["target"]}]
    text = processor.apply_chat_template(turns, tokenize=False)
    made = processor(text=[text], images=[Picture.open(folder / line["image"])], return_tensors="pt")
    return int(made["input_ids"].shape[1])


if __name__ == "__main__":
    main()
