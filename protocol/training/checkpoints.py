"""The checkpoints in the folder of a trainer's run: `update-000050` is the one after 50 updates.

A checkpoint's name is also the version of its weights.
"""

from pathlib import Path

CHECKPOINTS = "update-??????"
"""Matches their names."""


def checkpoint_name(update: int) -> str:
    """The name of the checkpoint after so many updates."""
    return f"update-{update:06}"


def newest_checkpoint(run: Path) -> Path | None:
    """The newest checkpoint of a run; None before its first."""
    return max(run.glob(CHECKPOINTS), default=None)


def checkpoint_update(checkpoint: Path | None) -> int:
    """How many updates a checkpoint of a run has seen."""
    return 0 if checkpoint is None else int(checkpoint.name.rpartition("-")[2])
