"""Scoring: a checkpoint's log-probabilities of recorded attempts, token by token, as JSON Lines.

One line for each step: the log-probability of each token of the reply, the server's own where both can be compared,
and the critic's value before the token.
"""

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

import torch
from pydantic import Field

from protocol.dialects.families import get_dialect
from trainer.config import DialectConfig
from trainer.data.packing import learned_logprobs, pack
from trainer.data.rendering import Renderer, TokenizedSample, render_trajectory, report_left_out
from trainer.data.samples import sampled_decisions
from trainer.data.trajectories import open_folders
from trainer.errors import NothingToLearn, OutputExists
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.model.critic import Critic, learned_values, load_critic


class Config(DialectConfig):
    """What is scored, and with what."""

    checkpoint: Path
    """The policy's folder."""
    folders: tuple[Path, ...] = Field(min_length=1)
    """Trajectories."""
    out: Path
    """The file to make; it must not exist."""
    critic: Path | None = None
    """A critic's folder, for values."""
    temperature: float = Field(default=1.0, gt=0)
    """Temperature of the log-probabilities. The server's are written only for replies sampled at the same one."""
    tokens: int = Field(default=32_768, ge=2)
    """How many a sample may have; a longer one is left out and counted."""
    device: str = "cpu"
    """Where it is computed, in torch's words."""


def run(config: Config) -> Path:
    """Score; returns the file, which appears when it is whole. Raises TrainerError."""
    if config.out.exists():
        raise OutputExists(f"{config.out} exists")
    config.out.parent.mkdir(parents=True, exist_ok=True)
    making = config.out.with_name(config.out.name + ".making")
    with making.open("w") as lines:
        if not _write(config, lines):
            raise NothingToLearn("the folders hold no step that can be scored")
    os.rename(making, config.out)
    return config.out


def score_sample(
    sample: TokenizedSample, checkpoint: Checkpoint, critic: Critic | None, temperature: float
) -> dict[str, Any]:
    """The line of one sample."""
    one = pack([sample], checkpoint.model).to(checkpoint.model.device)
    with torch.inference_mode():
        logprobs = learned_logprobs(checkpoint.model, one, temperature=temperature)
        values = learned_values(critic, one) if critic else None
    return {
        "trajectory_id": sample.trajectory_id,
        "index": sample.index,
        "actor": sample.actor,
        "token_ids": one.learned.tolist(),
        "logprobs": logprobs.tolist(),
        "drawn_logprobs": sample.logprobs if sample.exact else None,
        "values": None if values is None else values.tolist(),
    }


def _write(config: Config, lines: TextIO) -> int:
    """Write every line; returns how many there are."""
    checkpoint = load_checkpoint(config.checkpoint, device=config.device)
    critic = load_critic(config.critic, device=config.device) if config.critic else None
    renderer, dialect = Renderer(checkpoint, context=config.tokens), get_dialect(config.dialect, config.prompt)
    left_out: Counter[str] = Counter()
    count = 0
    for folder in open_folders(config.folders):
        for trajectory in folder.trajectories():
            temperatures = {one.index: one.sampling.get("temperature", 1.0) for one in sampled_decisions(trajectory)}
            samples = render_trajectory(
                trajectory, dialect, renderer, read=folder.bytes, prompts=folder.prompt, left_out=left_out
            )
            for sample in samples:
                comparable = replace(sample, exact=sample.exact and temperatures[sample.index] == config.temperature)
                lines.write(json.dumps(score_sample(comparable, checkpoint, critic, config.temperature)) + "\n")
                count += 1
    report_left_out(count, left_out)
    return count
