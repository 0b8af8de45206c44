"""Convex interpolation of checkpoints with a shared start: weights that are 0 or more and sum to 1 (UI-TARS-2).

Tensors are read one at a time from all of them, so that models larger than the memory can be merged; at most one
output file is held. An adapter is folded into its checkpoint on the way, and one checkpoint with the weight 1 is just
that. The tokenizer and all else come from the first.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import torch
from pydantic import Field, model_validator

from trainer.adapters import Adapter
from trainer.checkpoints import processors_copy
from trainer.config import Settings
from trainer.errors import CheckpointMismatched, CheckpointUnusable, OutputExists
from trainer.shards import Shards, shards_write

MERGED = "merged.json"
HEAD = "lm_head.weight"


class Part(Settings):
    """One checkpoint, and how much of it."""

    checkpoint: Path
    """A folder in the Hugging Face layout."""
    weight: float = Field(default=1.0, ge=0)
    """Its share."""
    adapter: Path | None = None
    """A LoRA adapter in PEFT's layout that is folded into it first."""


class Config(Settings):
    """What is merged."""

    parts: tuple[Part, ...] = Field(min_length=1)
    """Checkpoints of one shape, each `{"checkpoint": …, "weight": …, "adapter": …}`; their weights sum to 1."""
    out: Path
    """The folder to make; it must not exist."""
    file_bytes: int = Field(default=4 * 1024**3, ge=1)
    """As large as one file of weights may be."""

    @model_validator(mode="after")
    def _sums_to_one(self) -> "Config":
        total = sum(part.weight for part in self.parts)
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the weights of the parts sum to {total:g}, not to 1")
        return self


def run(config: Config) -> Path:
    """Merge; returns the new checkpoint's folder, which appears when it is whole. Raises TrainerError."""
    if config.out.exists():
        raise OutputExists(f"{config.out} exists")
    sources = [Source(part) for part in config.parts]
    for other in sources[1:]:
        agree(sources[0], other)
    making = config.out.with_name(config.out.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    processors_copy(config.parts[0].checkpoint, making)
    sizes = [(name, _bytes(*sources[0].shards.kind(name))) for name in sources[0].names]
    shards_write(making, sizes, lambda name: interpolated(sources, name), most=config.file_bytes)
    (making / MERGED).write_text(config.model_dump_json(indent=1))
    os.rename(making, config.out)
    return config.out


class Source:
    """One part as tensors. A head that is tied to the embedding is not there twice."""

    def __init__(self, part: Part) -> None:
        """Raises CheckpointUnusable, CheckpointMismatched."""
        self.part, self.shards = part, Shards(part.checkpoint)
        self.config = _json(part.checkpoint / "config.json")
        self.tied = bool(self.config.get("tie_word_embeddings"))
        self.names = tuple(name for name in self.shards.names if not (self.tied and name == HEAD))
        self._adapter = Adapter(part.adapter, set(self.names)) if part.adapter else None

    def tensor(self, name: str) -> torch.Tensor:
        """One tensor, with its adapter's part."""
        tensor = self.shards.tensor(name)
        return self._adapter.folded(name, tensor) if self._adapter else tensor


def agree(first: Source, other: Source) -> None:
    """Raises CheckpointMismatched where two cannot be interpolated: a mean of other things means nothing."""
    called = f"{other.part.checkpoint} and {first.part.checkpoint}"
    if first.tied != other.tied:
        raise CheckpointMismatched(f"of {called} only one ties its head to its embedding")
    if differ := sorted(set(first.names) ^ set(other.names)):
        raise CheckpointMismatched(f"{called} do not both have {', '.join(differ[:5])}")
    for name in first.names:
        if first.shards.kind(name) != other.shards.kind(name):
            raise CheckpointMismatched(f"{name} has another type or shape in {called}")
    if _words(first.part.checkpoint) != _words(other.part.checkpoint):
        raise CheckpointMismatched(f"{called} have other tokens")


def interpolated(sources: list[Source], name: str) -> torch.Tensor:
    """The weighted sum of a tensor, computed in single precision or better; one of whole numbers has to be the same."""
    dtype, _ = sources[0].shards.kind(name)
    if not dtype.is_floating_point:
        first = sources[0].tensor(name)
        if any(not torch.equal(first, other.tensor(name)) for other in sources[1:]):
            raise CheckpointMismatched(f"{name} holds whole numbers, and they differ")
        return first
    precise = torch.promote_types(dtype, torch.float32)
    total = sources[0].tensor(name).to(precise) * sources[0].part.weight
    for source in sources[1:]:
        total += source.tensor(name).to(precise) * source.part.weight
    return total.to(dtype)


def _bytes(dtype: torch.dtype, shape: tuple[int, ...]) -> int:
    size: int = torch.Size(shape).numel() * dtype.itemsize
    return size


def _words(folder: Path) -> tuple[Any, Any]:
    """Which token is which number."""
    told = _json(folder / "tokenizer.json")
    return told.get("model", {}).get("vocab"), told.get("added_tokens")


def _json(path: Path) -> dict[str, Any]:
    try:
        told: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointUnusable(f"{path} cannot be read: {error}") from None
    return told
