"""Attempts at the lights by one checkpoint, a seed each: what an evaluation compares, and what is learned from."""

from collections.abc import Sequence
from pathlib import Path

from trainer.checkpoints import checkpoint_load
from trainer.serve.reader import Reader
from trainer.toy.folders import folder_write
from trainer.toy.playing import Play
from trainer.toy.together import played
from trainer.toy.world import CONTEXT
from vocabulary.proposals import PolicyRef


def attempts_make(
    checkpoint: Path, target: Path, seeds: Sequence[int], *, by: PolicyRef, temperature: float, helped: bool = False
) -> Path:
    """Write a folder of attempts that are called this revision's; one that is there is left as it is."""
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    loaded = checkpoint_load(checkpoint)
    plays = [Play(seed, policy=by.name, helped=helped) for seed in seeds]
    reader = Reader(loaded, max_images=1, context=CONTEXT)
    played(loaded, reader, plays, version=by.revision, temperature=temperature)
    blobs = {ref: data for play in plays for ref, data in play.blobs.items()}
    folder_write(target, [play.trajectory() for play in plays], blobs)
    return target
