"""Attempts at the lights by one checkpoint, a seed each: what an evaluation compares, and what is learned from."""

from collections.abc import Sequence
from pathlib import Path

from protocol.trajectory.proposals import PolicyRef
from trainer.model.checkpoints import load_checkpoint
from trainer.serve.prompt_encoder import PromptEncoder
from trainer.toy.batched_rollouts import play_episodes
from trainer.toy.episodes import LightsEpisode
from trainer.toy.rollout_source import CONTEXT
from trainer.toy.trajectory_folders import write_trajectory_folder


def create_attempts(
    checkpoint: Path, target: Path, seeds: Sequence[int], *, by: PolicyRef, temperature: float, with_tool: bool = False
) -> Path:
    """Write a folder of attempts that are called this revision's; one that is there is left as it is."""
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    loaded = load_checkpoint(checkpoint)
    plays = [LightsEpisode(seed, policy=by.name, with_tool=with_tool) for seed in seeds]
    reader = PromptEncoder(loaded, max_images=1, context=CONTEXT)
    play_episodes(loaded, reader, plays, version=by.revision, temperature=temperature)
    blobs = {ref: data for play in plays for ref, data in play.blobs.items()}
    write_trajectory_folder(target, [play.trajectory() for play in plays], blobs)
    return target
