"""What the repository keeps of a policy: bfloat16 weights, and the heads, so that training can continue."""

import os
import shutil
from pathlib import Path

import torch

from trainer.model.checkpoints import load_checkpoint
from trainer.model.merge import MERGED
from trainer.nano.training_runs import HEADS

READABLE = 0o644
"""Weights are written for their owner alone, and an image that runs as somebody else could not read them."""


def write_bundle(checkpoint: Path, folder: Path) -> Path:
    """Write a stage's checkpoint in bfloat16, in place of what is there, for everybody to read. Raises
    CheckpointUnusable."""
    loaded = load_checkpoint(checkpoint, dtype="bfloat16")
    making = folder.with_name(folder.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(parents=True)
    loaded.write(making)
    if (checkpoint / HEADS).is_file():
        heads = torch.load(checkpoint / HEADS, weights_only=True)
        torch.save({name: value.to(torch.bfloat16) for name, value in heads.items()}, making / HEADS)
    # which folders were merged is of the machine where they were
    (making / MERGED).unlink(missing_ok=True)
    for file in making.iterdir():
        file.chmod(READABLE)
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(making, folder)
    return folder
