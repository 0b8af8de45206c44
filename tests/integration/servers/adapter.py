"""A random LoRA adapter in PEFT's layout for a checkpoint of `checkpoint.py`.

Run inside the trainer's environment, at the root of the repository:
`python -m tests.integration.servers.adapter CHECKPOINT FOLDER FOLDED [--seed N]`. It adapts the
projections of the language model's attention, as adapters of this family usually do. FOLDED is the checkpoint with the
adapter in its weights, in single precision: rounded to the checkpoint's own, its log-probabilities would be off by
0.01.
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import json
import os
import shutil
from pathlib import Path

RANK = 4
ALPHA = 8
TARGETS = ("q_proj", "k_proj", "v_proj", "o_proj")
CONFIG = {
    **{"peft_type": "LORA", "task_type": "CAUSAL_LM", "bias": "none", "inference_mode": True, "lora_dropout": 0.0},
    **{"r": RANK, "lora_alpha": ALPHA, "target_modules": list(TARGETS), "use_dora": False, "use_rslora": False},
    **{"fan_in_fan_out": False, "init_lora_weights": True, "modules_to_save": None, "rank_pattern": {}},
    **{"alpha_pattern": {}, "layers_to_transform": None, "layers_pattern": None, "revision": None},
}


def write(checkpoint: Path, folder: Path, folded: Path, seed: int) -> None:
    """Write the adapter and the folded checkpoint, each beside its folder, then rename it."""
    import torch
    from safetensors.torch import save_file
    from transformers import Qwen2_5_VLForConditionalGeneration

    model = Qwen2_5_VLForConditionalGeneration.from_pretrained(checkpoint, local_files_only=True, dtype=torch.float32)
    source = torch.Generator().manual_seed(seed)
    tensors: dict[str, torch.Tensor] = {}
    for name, module in model.named_modules():
        if "language_model" in name and name.rpartition(".")[2] in TARGETS:
            wide, high = module.in_features, module.out_features
            down = torch.randn(RANK, wide, generator=source) * 0.2
            up = torch.randn(high, RANK, generator=source) * 0.2
            tensors |= {f"base_model.model.{name}.lora_{half}.weight": one for half, one in (("A", down), ("B", up))}
            module.weight.data += ALPHA / RANK * up @ down
    making = folder.with_name(folder.name + ".making")
    making.mkdir(parents=True, exist_ok=True)
    save_file(tensors, making / "adapter_model.safetensors")
    (making / "adapter_config.json").write_text(json.dumps({**CONFIG, "base_model_name_or_path": str(checkpoint)}))
    os.rename(making, folder)
    making = folded.with_name(folded.name + ".making")
    shutil.copytree(checkpoint, making, ignore=shutil.ignore_patterns("*.safetensors"))
    model.save_pretrained(making)
    os.rename(making, folded)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("checkpoint", type=Path)
    options.add_argument("folder", type=Path)
    options.add_argument("folded", type=Path)
    options.add_argument("--seed", type=int, default=0)
    given = options.parse_args()
    write(given.checkpoint, given.folder, given.folded, given.seed)
