"""Checkpoints: folders in the ordinary Hugging Face layout, read whole or not at all."""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from transformers import AutoImageProcessor, AutoTokenizer, Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

from trainer.errors import CheckpointMismatched, CheckpointUnusable
from trainer.model.forward import PACKED_ATTENTION, use_matmul_patches
from trainer.runtime.distributed import is_first, write_model

STATE = "trainer.json"
"""Where a run stood when it kept a checkpoint."""
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


@dataclass(frozen=True)
class Checkpoint:
    """A model ready to run, with what turns text and pictures into its inputs and back."""

    path: Path
    model: Any
    tokenizer: Any
    images: Any
    """Its image processor."""
    beside: Mapping[str, bytes]
    """The other files of its folder. A run clears away what it went on from, and still writes them."""

    def write(self, folder: Path) -> None:
        """The weights as they are now, and everything else that lay beside them where they came from."""
        if is_first():
            for name, data in self.beside.items():
                (folder / name).write_bytes(data)
        write_model(self.model, folder)


def load_checkpoint(path: Path, *, dtype: str = "float32", device: str = "cpu") -> Checkpoint:
    """The model and its processors, from this folder alone. Raises CheckpointUnusable."""
    model = _load_model(path, dtype).to(device)
    try:
        tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
        images = AutoImageProcessor.from_pretrained(path, local_files_only=True, backend="pil")
    except (OSError, ValueError, KeyError) as error:
        raise CheckpointUnusable(f"{path.name} has no usable tokenizer and image processor: {error}") from None
    beside = {file.name: file.read_bytes() for file in processor_files(path)}
    return Checkpoint(path=path, model=model.eval(), tokenizer=tokenizer, images=images, beside=beside)


def create_checkpoint(
    folder: Path,
    *,
    config: Qwen2_5_VLConfig,
    tokenizer: Any,
    images: Mapping[str, Any],
    seed: int,
    order: Callable[[Any], None] = lambda model: None,
) -> Path:
    """A model that has learned nothing, written beside `folder` and renamed; the same seed gives the same weights.
    `order` may change weights before they are written."""
    making = folder.with_name(folder.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    tokenizer.save_pretrained(making)
    (making / "preprocessor_config.json").write_text(json.dumps(images, indent=2))
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Qwen2_5_VLForConditionalGeneration(config)
        order(model)
    model.generation_config.eos_token_id = config.text_config.eos_token_id
    model.generation_config.pad_token_id = config.text_config.pad_token_id
    model.save_pretrained(making)
    os.rename(making, folder)
    return folder


def read_weights(path: Path, like: Any) -> dict[str, torch.Tensor]:
    """Another checkpoint's weights for a model of the same shape, in its types, on the host.

    Raises CheckpointUnusable, CheckpointMismatched.
    """
    wanted = like.state_dict()
    with torch.inference_mode():
        read = _load_model(path, "float32").state_dict()
        differ = sorted(
            {name for name in wanted if name not in read or read[name].shape != wanted[name].shape}
            | (read.keys() - wanted.keys())
        )
        if differ:
            raise CheckpointMismatched(f"{path.name} is of another shape: {', '.join(differ[:5])}")
        return {name: value.to(wanted[name].dtype) for name, value in read.items()}


def assign_weights(model: Any, weights: dict[str, torch.Tensor]) -> None:
    """Put weights that were read for this model into it, in place."""
    with torch.inference_mode():
        for name, value in model.state_dict().items():
            value.copy_(weights[name])


def processor_files(folder: Path) -> Iterator[Path]:
    """What a checkpoint's folder holds beside weights and what a run keeps there."""
    for file in folder.iterdir():
        if file.is_file() and ".safetensors" not in file.name and file.suffix != ".pt" and file.name != STATE:
            yield file


def copy_processors(source: Path, folder: Path) -> None:
    """The same files in another folder."""
    for file in processor_files(source):
        shutil.copy(file, folder / file.name)


def _load_model(path: Path, dtype: str) -> Any:
    if not path.is_dir():
        raise CheckpointUnusable(f"{path} is no folder")
    try:
        model, found = Qwen2_5_VLForConditionalGeneration.from_pretrained(
            path,
            dtype=DTYPES[dtype],
            local_files_only=True,
            output_loading_info=True,
            attn_implementation=PACKED_ATTENTION,
        )
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise CheckpointUnusable(f"{path.name} cannot be loaded: {error}") from None
    if missing := sorted(found["missing_keys"]) + sorted(found["mismatched_keys"]):
        raise CheckpointUnusable(f"{path.name} lacks weights: {', '.join(map(str, missing[:5]))}")
    return use_matmul_patches(model)
