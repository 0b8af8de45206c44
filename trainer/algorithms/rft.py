"""Rejection fine-tuning: maximum likelihood of the policy's own replies in attempts that a verifier accepted.

It trains on what `python -m agent_backend.evaluation.rejection_sampling` kept. A person's steps, and attempts without
a verifier's result, are left out and counted: this teaches a policy nothing but its own successes.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pydantic import Field

from protocol.dialects.families import get_dialect
from protocol.trajectory.tasks import task_kind
from protocol.trajectory.trajectories import Trajectory
from trainer.algorithms.sft import drop_weightless, fit
from trainer.config import DatasetTrainingConfig, DialectConfig
from trainer.data.rendering import Renderer, TokenizedSample, render_trajectory
from trainer.data.trajectories import open_folders
from trainer.model.checkpoints import Checkpoint


class Config(DatasetTrainingConfig, DialectConfig):
    """How it is trained, and on what."""

    folders: tuple[Path, ...] = Field(min_length=1)
    """Attempts that were kept."""
    by_task: bool = False
    """Whether each task weighs the same, however many of its attempts were kept and however long they are."""


def run(config: Config) -> Path:
    """Train, or resume training; returns the last checkpoint's folder. Raises TrainerError."""
    return fit(config, lambda checkpoint: read_samples(config, checkpoint))


def read_samples(config: Config, checkpoint: Checkpoint) -> list[TokenizedSample]:
    """The policy's replies in attempts that succeeded. Raises NothingToLearn, FolderError."""
    left_out: Counter[str] = Counter()
    renderer, dialect = Renderer(checkpoint, context=config.tokens), get_dialect(config.dialect, config.prompt)
    samples: list[TokenizedSample] = []
    tasks: dict[str, str] = {}
    for folder in open_folders(config.folders):
        for trajectory in folder.trajectories():
            if not is_verified_success(trajectory):
                left_out["attempt_unverified"] += 1
                continue
            tasks[trajectory.id] = task_kind(trajectory.task)
            rendered = list(
                render_trajectory(
                    trajectory, dialect, renderer, read=folder.bytes, prompts=folder.prompt, left_out=left_out
                )
            )
            own = [one for one in rendered if one.actor == "policy"]
            left_out["step_of_a_person"] += len(rendered) - len(own)
            samples += own
    return drop_weightless(balance_tasks(samples, tasks) if config.by_task else samples, left_out)


def is_verified_success(trajectory: Trajectory) -> bool:
    """Whether a verifier says that the attempt succeeded."""
    return trajectory.verdict is not None and trajectory.verdict.success is True


def balance_tasks(samples: list[TokenizedSample], tasks: Mapping[str, str]) -> list[TokenizedSample]:
    """The same samples, each task with the same weight in all; a token's mean weight stays 1."""
    weights: dict[str, float] = defaultdict(float)
    for one in samples:
        weights[tasks[one.trajectory_id]] += sum(one.weights)
    mean = sum(weights.values()) / max(len(weights), 1)
    return [
        replace(one, weights=tuple(weight * mean / weights[tasks[one.trajectory_id]] for weight in one.weights))
        for one in samples
    ]
