"""Low-rank adapters in PEFT's layout, folded into the weights they were trained beside."""

import json
import re
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file

from trainer.errors import CheckpointMismatched, CheckpointUnusable

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
PREFIX = "base_model.model."
ON_DISK = (("model.language_model.", "model."), ("model.visual.", "visual."))
"""Modules have other names in memory than their weights have in a checkpoint's files."""
PLAIN: dict[str, Any] = {
    **{"bias": "none", "use_dora": False, "fan_in_fan_out": False, "lora_bias": False},
    **{"modules_to_save": None, "rank_pattern": {}, "alpha_pattern": {}, "trainable_token_indices": None},
    **{"layer_replication": None, "use_qalora": False, "use_bdlora": None, "alora_invocation_tokens": None},
}
"""What these settings have to be: all else is another way of adapting, which is not folded as `scale B A`."""


class Adapter:
    """What is to be added to weights, by their names in a checkpoint's files."""

    def __init__(self, folder: Path, names: set[str]) -> None:
        """For a checkpoint with tensors of these names. Raises CheckpointUnusable, CheckpointMismatched."""
        try:
            config = json.loads((folder / CONFIG).read_text())
            tensors = load_file(folder / WEIGHTS)
        except (OSError, ValueError, SafetensorError) as error:
            raise CheckpointUnusable(f"{folder} is no adapter: {error}") from None
        if config.get("peft_type") != "LORA" or (odd := _unsupported_settings(config)):
            reason = "its type" if config.get("peft_type") != "LORA" else ", ".join(odd)
            raise CheckpointUnusable(f"the adapter {folder.name} cannot be folded: {reason}")
        rank, alpha = config["r"], config["lora_alpha"]
        self.scale: float = alpha / (rank**0.5 if config.get("use_rslora") else rank)
        self._pairs = _pairs(folder, tensors, names)

    def folded(self, name: str, weight: torch.Tensor) -> torch.Tensor:
        """A weight with what the adapter adds to it, in single precision. Raises CheckpointMismatched."""
        if name not in self._pairs:
            return weight
        down, up = self._pairs[name]
        added = self.scale * (up.float() @ down.float())
        if added.shape != weight.shape:
            raise CheckpointMismatched(f"the adapter's {name} is {tuple(added.shape)}, not {tuple(weight.shape)}")
        return weight.float() + added


def _unsupported_settings(config: dict[str, Any]) -> list[str]:
    return sorted(name for name, plain in PLAIN.items() if config.get(name) not in (plain, None))


def _pairs(
    folder: Path, tensors: dict[str, torch.Tensor], names: set[str]
) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Both factors of each weight. Raises CheckpointMismatched where one is missing or belongs to no weight."""
    halves: dict[str, dict[str, torch.Tensor]] = {}
    for key, tensor in tensors.items():
        found = re.fullmatch(re.escape(PREFIX) + r"(.+)\.lora_([AB])\.weight", key)
        name = _weight_name(found[1], names) if found else None
        if found is None or name is None:
            raise CheckpointMismatched(f"the adapter {folder.name} has {key}, which belongs to no weight here")
        halves.setdefault(name, {})[found[2]] = tensor
    if lone := sorted(name for name, half in halves.items() if len(half) != 2):
        raise CheckpointMismatched(f"the adapter {folder.name} lacks a factor of {lone[0]}")
    return {name: (half["A"], half["B"]) for name, half in halves.items()}


def _weight_name(module: str, names: set[str]) -> str | None:
    """What a module's weight is called in the files; None where there is none."""
    tried = [module, *(old + module.removeprefix(new) for new, old in ON_DISK if module.startswith(new))]
    return next((f"{name}.weight" for name in tried if f"{name}.weight" in names), None)
