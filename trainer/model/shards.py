"""The tensors of a checkpoint's folder: read one at a time, written in files of bounded size."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from trainer.errors import CheckpointUnusable

SINGLE, INDEX = "model.safetensors", "model.safetensors.index.json"
DTYPES = {
    **{"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16},
    **{"I64": torch.int64, "I32": torch.int32, "I8": torch.int8, "U8": torch.uint8, "BOOL": torch.bool},
}
"""What safetensors calls them."""


class ShardedTensors:
    """The tensors in one folder, by name; only those that are asked for are read."""

    def __init__(self, folder: Path) -> None:
        """Raises CheckpointUnusable."""
        self.folder = folder
        try:
            names = sorted(set(_index(folder).values())) or [SINGLE]
            self._files: list[Any] = [safe_open(folder / name, framework="pt") for name in names]
        except (OSError, ValueError, KeyError, SafetensorError) as error:
            raise CheckpointUnusable(f"{folder} has no usable weights: {error}") from None
        self._within = {name: file for file in self._files for name in file.keys()}  # noqa: SIM118 it is no dict

    @property
    def names(self) -> tuple[str, ...]:
        """Every tensor's name, in order."""
        return tuple(sorted(self._within))

    def kind(self, name: str) -> tuple[torch.dtype, tuple[int, ...]]:
        """A tensor's type and shape, without reading it. Raises CheckpointUnusable."""
        slice_ = self._within[name].get_slice(name)
        if slice_.get_dtype() not in DTYPES:
            raise CheckpointUnusable(f"{name} of {self.folder.name} has the unknown type {slice_.get_dtype()}")
        return DTYPES[slice_.get_dtype()], tuple(slice_.get_shape())

    def tensor(self, name: str) -> torch.Tensor:
        """One tensor."""
        tensor: torch.Tensor = self._within[name].get_tensor(name)
        return tensor


def write_shards(
    folder: Path, sizes: Sequence[tuple[str, int]], make: Callable[[str], torch.Tensor], *, most: int
) -> None:
    """Write tensors of known sizes, made one after the other, into files of at most `most` bytes or one tensor."""
    plan = plan_files(sizes, most)
    total = sum(size for _, size in sizes)
    where: dict[str, str] = {}
    for number, names in enumerate(plan, start=1):
        file = SINGLE if len(plan) == 1 else f"model-{number:05}-of-{len(plan):05}.safetensors"
        save_file({name: make(name).contiguous() for name in names}, folder / file, metadata={"format": "pt"})
        where |= dict.fromkeys(names, file)
    if len(plan) > 1:
        index = {"metadata": {"total_size": total}, "weight_map": where}
        (folder / INDEX).write_text(json.dumps(index, indent=1))


def plan_files(sizes: Sequence[tuple[str, int]], most: int) -> list[list[str]]:
    """Names in files, in order; a tensor larger than `most` has one for itself."""
    plan: list[list[str]] = []
    room = 0
    for name, size in sizes:
        if not plan or size > room:
            plan.append([])
            room = most
        plan[-1].append(name)
        room -= size
    return plan


def tensor_bytes(dtype: torch.dtype, shape: tuple[int, ...]) -> int:
    """Size of a tensor in bytes."""
    size: int = torch.Size(shape).numel() * dtype.itemsize
    return size


def _index(folder: Path) -> dict[str, str]:
    path = folder / INDEX
    if not path.exists():
        return {}
    where: dict[str, str] = json.loads(path.read_text())["weight_map"]
    if any(Path(name).name != name for name in where.values()):
        raise ValueError(f"{INDEX} names a file outside the folder")
    return where
