"""Quantisation: the decoder's matrices in 4 bits with a scale for each group, all else as it was.

Rounded to nearest, each group with the scale of least squared error, and packed as compressed-tensors packs it, which
vLLM and transformers read. What is multiplied with them stays in 16 bits (W4A16), or the server rounds it to 8-bit
floats as it comes (W4AFP8): the same weights, told otherwise in the configuration. `quantised.json` beside the weights
says how large they are and how far each matrix is off. How fast it runs is a matter of the server's card and not
measured here.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from compressed_tensors.compressors.pack_quantized import PackedQuantizationCompressor
from compressed_tensors.quantization import (
    QuantizationArgs,
    QuantizationConfig,
    QuantizationScheme,
    QuantizationStatus,
)
from pydantic import Field

from trainer.config import Settings
from trainer.errors import CheckpointMismatched, CheckpointUnusable, ConfigInvalid, OutputExists
from trainer.model.checkpoints import copy_processors
from trainer.model.shards import ShardedTensors, tensor_bytes, write_shards

MATRIX = re.compile(r"(?:model|model\.language_model|language_model\.model)\.layers\.\d+\..+_proj\.weight")
REPORT = "quantised.json"
BITS = 4
FORMAT = "pack-quantized"
EIGHT_BIT_GROUP = 128

Scheme = Literal["W4A16", "W4AFP8"]


class Config(Settings):
    """What is quantised, and how."""

    checkpoint: Path
    """A folder in the Hugging Face layout."""
    out: Path
    """The folder to make; it must not exist."""
    scheme: Scheme = "W4A16"
    """Whether a server multiplies in 16 bits, or in 8-bit floats with a scale for each token: for vLLM 0.32 that
    takes a card of compute capability 9.0, and groups of 128."""
    group: int = Field(default=128, ge=32)
    """Weights that share a scale. A matrix whose rows it does not divide stays as it is."""
    shrinks: int = Field(default=8, ge=1)
    """How many scales are tried for each group: from the one that reaches its largest weight down to 7 tenths of it."""
    file_bytes: int = Field(default=4 * 1024**3, ge=1)
    """As large as one file of weights may be."""


def run(config: Config) -> Path:
    """Quantise a checkpoint. The new folder appears when it is complete.

    Returns:
        The folder.

    Raises:
        OutputExists: The folder exists.
        ConfigInvalid: W4AFP8 with another group size than servers read.
        CheckpointMismatched: No decoder matrix can be divided into groups.
        CheckpointUnusable: The checkpoint cannot be read.
    """
    if config.out.exists():
        raise OutputExists(f"{config.out} exists")
    if config.scheme == "W4AFP8" and config.group != EIGHT_BIT_GROUP:
        raise ConfigInvalid(f"W4AFP8 has groups of {EIGHT_BIT_GROUP}; servers read no other")
    source = ShardedTensors(config.checkpoint)
    scheme = quantization_scheme(config.scheme, config.group)
    plan = plan_matrices(source, config.group)
    if not any(plan.values()):
        raise CheckpointMismatched(f"{config.checkpoint} has no decoder matrix that groups of {config.group} divide")
    making = config.out.with_name(config.out.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    copy_processors(config.checkpoint, making)
    packer = _Packer(source, scheme, config.shrinks)
    sizes = [size for name in source.names for size in _sizes(source, name, config.group, plan.get(name, False))]
    write_shards(making, sizes, packer.tensor, most=config.file_bytes)
    _config_write(making, scheme, plan)
    report = {
        "scheme": config.scheme,
        "bytes": sum(size for _, size in sizes),
        "bytes_before": sum(tensor_bytes(*source.kind(name)) for name in source.names),
        "latency": "not measured",
        "matrices": packer.errors,
        "left_as_they_were": sorted(name for name, packed in plan.items() if not packed),
    }
    (making / REPORT).write_text(json.dumps(report, indent=1))
    os.rename(making, config.out)
    return config.out


def quantization_scheme(name: Scheme, group: int) -> QuantizationScheme:
    """Weights in whole numbers of 4 bits around zero, a scale for each group of a row; what comes in as it is or in
    8-bit floats, a scale for each token."""
    weights = QuantizationArgs(num_bits=BITS, type="int", symmetric=True, strategy="group", group_size=group)
    activations = QuantizationArgs(
        num_bits=8, type="float", symmetric=True, strategy="token", dynamic=True, observer=None
    )
    input_scheme = activations if name == "W4AFP8" else None
    return QuantizationScheme(targets=["Linear"], weights=weights, input_activations=input_scheme, format=FORMAT)


def plan_matrices(source: ShardedTensors, group: int) -> dict[str, bool]:
    """The decoder's matrices, and whether each can be packed: its rows must be whole groups of `group` weights."""
    return {name: source.kind(name)[1][-1] % group == 0 for name in source.names if MATRIX.fullmatch(name)}


def group_scales(weight: torch.Tensor, group: int, shrinks: int) -> torch.Tensor:
    """Scale of each group with the least squared error among several (round to nearest).

    Args:
        weight: A matrix, [rows, columns].
        group: Weights that share a scale; divides the columns.
        shrinks: How many scales are tried, from the one that reaches the largest weight down to 0.7 of it.

    Returns:
        [rows, columns / group], in the weight's precision.
    """
    groups = weight.float().unflatten(1, (-1, group))
    largest = groups.abs().amax(-1, keepdim=True).clamp(min=1e-8) / (2 ** (BITS - 1) - 0.5)
    best, least = largest, torch.full_like(largest, torch.inf)
    for shrink in torch.linspace(1.0, 0.7, shrinks).tolist():
        scale = (largest * shrink).to(weight.dtype).float()
        rounded = (groups / scale).round().clamp(-(2 ** (BITS - 1)), 2 ** (BITS - 1) - 1) * scale
        error = (rounded - groups).square().sum(-1, keepdim=True)
        best, least = torch.where(error < least, scale, best), torch.minimum(error, least)
    return best[..., 0].to(weight.dtype)


class _Packer:
    """Tensors of the new checkpoint by their names; a matrix is packed once, for its three tensors in a row."""

    def __init__(self, source: ShardedTensors, scheme: QuantizationScheme, shrinks: int) -> None:
        self.errors: dict[str, float] = {}
        """The norm of what rounding changed, over the matrix's own."""
        self._source, self._scheme, self._shrinks = source, scheme, shrinks
        self._held: tuple[str, dict[str, torch.Tensor]] = "", {}

    def tensor(self, name: str) -> torch.Tensor:
        """One tensor."""
        module, _, kind = name.rpartition(".")
        if kind not in ("weight_packed", "weight_scale", "weight_shape"):
            return self._source.tensor(name)
        if self._held[0] != module:
            self._held = module, self._packed(f"{module}.weight")
        return self._held[1][kind]

    def _packed(self, name: str) -> dict[str, torch.Tensor]:
        weight = self._source.tensor(name)
        scale = group_scales(weight, self._scheme.weights.group_size, self._shrinks)
        packed: dict[str, torch.Tensor] = PackedQuantizationCompressor.compress(
            {"weight": weight, "weight_scale": scale}, self._scheme
        )
        again = PackedQuantizationCompressor.decompress(packed, self._scheme)["weight"].float()
        self.errors[name] = float((again - weight.float()).norm() / weight.float().norm().clamp(min=1e-12))
        return packed


def _sizes(source: ShardedTensors, name: str, group: int, packed: bool) -> list[tuple[str, int]]:
    dtype, shape = source.kind(name)
    if not packed:
        return [(name, tensor_bytes(dtype, shape))]
    rows, columns = shape
    return [
        (f"{name}_packed", rows * columns * BITS // 8),
        (f"{name}_scale", tensor_bytes(dtype, (rows, columns // group))),
        (f"{name}_shape", 2 * torch.int64.itemsize),
    ]


def _config_write(folder: Path, scheme: QuantizationScheme, plan: Mapping[str, bool]) -> None:
    """Say in the model's configuration how its weights are packed."""
    path = folder / "config.json"
    try:
        model_config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CheckpointUnusable(f"{path} cannot be read: {error}") from None
    left = [f"re:.*{re.escape(_tail(name))}$" for name, packed in plan.items() if not packed]
    packing = QuantizationConfig(
        config_groups={"group_0": scheme},
        quantization_status=QuantizationStatus.COMPRESSED,
        format=FORMAT,
        ignore=["lm_head", "re:.*visual.*", *left],
    )
    model_config["quantization_config"] = json.loads(packing.model_dump_json(exclude_none=True))
    model_config["quantization_config"]["quant_method"] = "compressed-tensors"
    path.write_text(json.dumps(model_config, indent=2))


def _tail(name: str) -> str:
    """A module's name from its layer on: what comes before differs between libraries."""
    return name[name.index("layers.") :].removesuffix(".weight")
