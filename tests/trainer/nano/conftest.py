"""A nano policy that has learned nothing, whose answers still depend on what it is shown."""

from pathlib import Path

import pytest
import torch

from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.nano.initial_checkpoint import create_initial_checkpoint

LOUD = 4.0
"""What matrices are multiplied by: drawn at the family's deviation, hardly anything comes through five layers."""


@pytest.fixture(scope="session")
def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its folder."""
    return create_initial_checkpoint(tmp_path_factory.mktemp("nano") / "start", seed=0)


@pytest.fixture(scope="session")
def nano(start: Path) -> Checkpoint:
    """It, with louder weights."""
    checkpoint = load_checkpoint(start)
    with torch.no_grad():
        for weight in checkpoint.model.parameters():
            if weight.ndim > 1:
                weight.mul_(LOUD)
    return checkpoint
