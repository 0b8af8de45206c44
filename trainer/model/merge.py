"""Merging of checkpoints with a shared start: convex interpolation (UI-TARS-2), or what each learned (TIES, DARE).

Their weights are 0 or more and sum to 1. Tensors are read one at a time from all of them, so that models larger than
the memory can be merged; at most one output file is held. An adapter is folded into its checkpoint on the way, and one
checkpoint with the weight 1 is just that. The tokenizer and all else come from the first.
"""

import json
import os
import shutil
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field, model_validator

from trainer.config import Settings
from trainer.errors import CheckpointMismatched, CheckpointUnusable, OutputExists
from trainer.model.adapters import Adapter
from trainer.model.checkpoints import copy_processors
from trainer.model.shards import ShardedTensors, tensor_bytes, write_shards
from trainer.model.weight_deltas import drop, elect_sign, part_generator, trim, weighted_sum

MERGED = "merged.json"
HEAD = "lm_head.weight"


class MergePart(Settings):
    """One checkpoint, and how much of it."""

    checkpoint: Path
    """A folder in the Hugging Face layout."""
    weight: float = Field(default=1.0, ge=0)
    """Its share."""
    adapter: Path | None = None
    """A LoRA adapter in PEFT's layout that is folded into it first."""


class Config(Settings):
    """What is merged."""

    parts: tuple[MergePart, ...] = Field(min_length=1)
    """Checkpoints of one shape, each `{"checkpoint": …, "weight": …, "adapter": …}`; their weights sum to 1."""
    out: Path
    """The folder to make; it must not exist."""
    method: Literal["linear", "ties", "dare_linear", "dare_ties"] = "linear"
    """linear: the weights themselves; the others: their differences from `base`, the largest of them (ties) or some at
    random (dare), added up (dare_linear) or where the heavier sign agrees (ties, dare_ties)."""
    base: Path | None = None
    """What all parts began as; not for linear."""
    density: float = Field(default=0.5, gt=0, le=1)
    """The share of each part's differences that is kept."""
    strength: float = Field(default=1.0, gt=0)
    """What the merged differences are multiplied by."""
    seed: int = 0
    """Of what is dropped at random."""
    file_bytes: int = Field(default=4 * 1024**3, ge=1)
    """As large as one file of weights may be."""

    @model_validator(mode="after")
    def _based(self) -> "Config":
        if (self.method == "linear") != (self.base is None):
            needs = "has no base" if self.method == "linear" else "needs the base that all parts began as"
            raise ValueError(f"{self.method} {needs}")
        return self

    @model_validator(mode="after")
    def _sums_to_one(self) -> "Config":
        total = sum(part.weight for part in self.parts)
        if abs(total - 1) > 1e-6:
            raise ValueError(f"the weights of the parts sum to {total:g}, not to 1")
        return self


def run(config: Config) -> Path:
    """Merge checkpoints. The new folder appears when it is complete.

    Returns:
        The folder.

    Raises:
        OutputExists: The folder exists.
        TrainerError: A checkpoint cannot be read, or they do not fit each other.
    """
    if config.out.exists():
        raise OutputExists(f"{config.out} exists")
    sources = [CheckpointSource(part) for part in config.parts]
    base = CheckpointSource(MergePart(checkpoint=config.base, weight=0)) if config.base else None
    for other in [*sources[1:], *([base] if base else [])]:
        check_mergeable(sources[0], other)
    making = config.out.with_name(config.out.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    copy_processors(config.parts[0].checkpoint, making)
    sizes = [(name, tensor_bytes(*sources[0].shards.kind(name))) for name in sources[0].names]
    write_shards(making, sizes, lambda name: merge_tensor(sources, base, name, config), most=config.file_bytes)
    (making / MERGED).write_text(config.model_dump_json(indent=1))
    os.rename(making, config.out)
    return config.out


class CheckpointSource:
    """One part as tensors. A head that is tied to the embedding is not there twice."""

    def __init__(self, part: MergePart) -> None:
        """Raises CheckpointUnusable, CheckpointMismatched."""
        self.part, self.shards = part, ShardedTensors(part.checkpoint)
        self.config = _json(part.checkpoint / "config.json")
        self.tied = bool(self.config.get("tie_word_embeddings"))
        self.names = tuple(name for name in self.shards.names if not (self.tied and name == HEAD))
        self._adapter = Adapter(part.adapter, set(self.names)) if part.adapter else None

    def tensor(self, name: str) -> torch.Tensor:
        """The tensor of this name with its adapter added, in the checkpoint's own shape [...]."""
        tensor = self.shards.tensor(name)
        return self._adapter.folded(name, tensor) if self._adapter else tensor


def check_mergeable(first: CheckpointSource, other: CheckpointSource) -> None:
    """Raises CheckpointMismatched where two cannot be interpolated: a mean of other things means nothing."""
    called = f"{other.part.checkpoint} and {first.part.checkpoint}"
    if first.tied != other.tied:
        raise CheckpointMismatched(f"of {called} only one ties its head to its embedding")
    if differ := sorted(set(first.names) ^ set(other.names)):
        raise CheckpointMismatched(f"{called} do not both have {', '.join(differ[:5])}")
    for name in first.names:
        if first.shards.kind(name) != other.shards.kind(name):
            raise CheckpointMismatched(f"{name} has another type or shape in {called}")
    if _tokenizer_files(first.part.checkpoint) != _tokenizer_files(other.part.checkpoint):
        raise CheckpointMismatched(f"{called} have other tokens")


def merge_tensor(
    sources: list[CheckpointSource], base: CheckpointSource | None, name: str, config: Config
) -> torch.Tensor:
    """The merged tensor of this name, computed in single precision or better.

    Returns:
        The shape of the parts [...], in the first part's precision.

    Raises:
        CheckpointMismatched: A tensor of whole numbers differs between the parts.
    """
    dtype, _ = sources[0].shards.kind(name)
    if not dtype.is_floating_point:
        first = sources[0].tensor(name)
        if any(not torch.equal(first, other.tensor(name)) for other in sources[1:]):
            raise CheckpointMismatched(f"{name} holds whole numbers, and they differ")
        return first
    precise = torch.promote_types(dtype, torch.float32)
    if base is None:
        return interpolate(sources, name, precise).to(dtype)
    start = base.tensor(name).to(precise)
    changes = [
        thin_delta(source.tensor(name).to(precise) - start, name, number, config)
        for number, source in enumerate(sources)
    ]
    join = weighted_sum if config.method == "dare_linear" else elect_sign
    return (start + config.strength * join(changes, [source.part.weight for source in sources])).to(dtype)


def interpolate(sources: list[CheckpointSource], name: str, precise: torch.dtype) -> torch.Tensor:
    """Weighted sum of a tensor (model soups, Wortsman et al. 2022, arXiv 2203.05482; UI-TARS-2, arXiv 2509.02544).

    Returns:
        The shape of the parts [...], in the precision `precise`.
    """
    total = sources[0].tensor(name).to(precise) * sources[0].part.weight
    for source in sources[1:]:
        total += source.tensor(name).to(precise) * source.part.weight
    return total


def thin_delta(change: torch.Tensor, name: str, number: int, config: Config) -> torch.Tensor:
    """The part of one checkpoint's differences that its method keeps.

    Args:
        change: Difference from the base, any shape [...].

    Returns:
        The same shape [...].
    """
    if config.method == "ties":
        return trim(change, config.density)
    return drop(change, config.density, part_generator(config.seed, name, number))


def _tokenizer_files(folder: Path) -> tuple[Any, Any]:
    """Which token is which number."""
    content = _json(folder / "tokenizer.json")
    return content.get("model", {}).get("vocab"), content.get("added_tokens")


def _json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointUnusable(f"{path} cannot be read: {error}") from None
    return content
