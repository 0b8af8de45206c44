"""What two judges say of attempts, as records: `python -m benchmarks.parts.learning.judge_scores` with the trainer's
interpreter."""

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import UUID

import torch

from agent_backend.trajectory_folders import write_atomically
from benchmarks.parts.learning.judge_records import JudgedAttempt
from protocol.trajectory.trajectories import Trajectory
from trainer.algorithms.orm import render_question, scores
from trainer.data.rendering import Renderer
from trainer.data.trajectories import open_folder
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.rl.rewards import known_outcome

CLAIM = "Task completed."
"""What a failed attempt says of itself."""
UNKNOWN = 0.5
"""The prior of a task that training did not have."""


def claim_success(trajectory: Trajectory) -> Trajectory:
    """The same attempt, whose last thought says that the task is completed."""
    *before, last = trajectory.steps
    claiming = last.model_copy(update={"thought": f"{last.thought} {CLAIM}".strip()})
    return trajectory.model_copy(update={"steps": (*before, claiming)})


def success_rates(folders: Sequence[Path]) -> dict[str, float]:
    """By task, the share of attempts that succeeded."""
    met, won = Counter[str](), defaultdict[str, float](float)
    for folder in folders:
        for trajectory in open_folder(folder).trajectories():
            if (outcome := known_outcome(trajectory)) is not None:
                met[task_name(trajectory)] += 1
                won[task_name(trajectory)] += outcome > 0
    return {name: won[name] / count for name, count in met.items()}


def task_name(trajectory: Trajectory) -> str:
    """A task without its seed."""
    return f"{trajectory.task.suite}/{trajectory.task.name}"


def judged(
    held: Path, start: Checkpoint, trained: Checkpoint, rates: dict[str, float], images: int
) -> Iterator[JudgedAttempt]:
    """A record of each attempt whose outcome is known. Raises SampleError, FolderError."""
    folder, renderer = (
        open_folder(held),
        Renderer(trained, context=trained.model.config.text_config.max_position_embeddings),
    )
    for trajectory in folder.trajectories():
        if (outcome := known_outcome(trajectory)) is None:
            continue
        asked, claimed = (
            render_question(one, renderer, folder.bytes, images=images, done=outcome > 0)
            for one in (trajectory, claim_success(trajectory))
        )
        score, injected = scores(trained.model, [asked, claimed])
        yield JudgedAttempt(
            attempt=str(UUID(trajectory.id)),
            task=task_name(trajectory),
            done=outcome > 0,
            score=score,
            untrained=scores(start.model, [asked])[0],
            injected=injected,
            prior=rates.get(task_name(trajectory), UNKNOWN),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("held", type=Path, help="attempts that nothing has learned from")
    parser.add_argument("--start", type=Path, required=True, help="the weights that training began with")
    parser.add_argument("--trained", type=Path, required=True)
    parser.add_argument("--learned", type=Path, action="append", required=True, help="attempts it learned from")
    parser.add_argument("--images", type=int, default=2)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    torch.set_num_threads(1)
    start, trained = load_checkpoint(options.start), load_checkpoint(options.trained)
    records = judged(options.held, start, trained, success_rates(options.learned), options.images)
    write_atomically(options.out, "".join(f"{one.model_dump_json()}\n" for one in records).encode())


if __name__ == "__main__":
    main()
