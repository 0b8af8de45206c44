"""Refine the thoughts of recorded sessions, from one folder of trajectories into another.

    python -m agent_backend.refinement exports/recorded --model-url http://127.0.0.1:8000/v1 --model qwen3 \\
        --revision qwen3-1 --out exports/refined

The same command resumes an interrupted run. The model's key is read from PILOTHOUSE_POLICY_API_KEY.
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import asyncio
import os
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_backend.errors import AgentError, PolicyUnavailable
from agent_backend.refinement.refiner import PROMPT_SHA256, Refiner, refine_trajectory
from agent_backend.trajectory_folders import TrajectoryFolderWriter, read_blob, read_trajectories
from protocol.trajectory.trajectories import Trajectory


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="python -m agent_backend.refinement", description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="trajectories")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make; it must not exist")
    parser.add_argument("--model-url", required=True, help="an OpenAI-compatible server, with /v1")
    parser.add_argument("--model", required=True, help="the model's name there")
    parser.add_argument("--revision", required=True, help="identifies the model's weights and settings")
    parser.add_argument("--drop-added", action="store_true", help="leave out sentences that were not said")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Refine and write the folder. Returns 1 if it could not be finished."""
    arguments = parse_arguments(argv)
    try:
        return asyncio.run(_run(arguments))
    except PolicyUnavailable as error:
        print(f"{error.code}: {error}; the same command resumes from here", file=sys.stderr)
    except AgentError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
    return 1


async def _run(arguments: argparse.Namespace) -> int:
    refiner = Refiner(arguments.model_url, arguments.model, api_key=os.environ.get("PILOTHOUSE_POLICY_API_KEY", ""))
    plan: dict[str, Any] = {"refined_from": [folder.name for folder in arguments.folders], "model": arguments.model}
    plan |= {"revision": arguments.revision, "prompt_sha256": PROMPT_SHA256, "drop_added": arguments.drop_added}
    counts: Counter[str] = Counter()
    done: list[Trajectory] = []
    writer = TrajectoryFolderWriter(arguments.out, plan, on_existing=done.append)
    try:
        for trajectory in done:
            counts += count_sentences(trajectory)
        for folder, trajectory in read_trajectories(arguments.folders):
            if trajectory.id in writer.tasks_by_id:
                continue
            refined = await refine_trajectory(refiner, trajectory, arguments.revision, drop_added=arguments.drop_added)
            writer.add(refined, lambda ref, folder=folder: read_blob(folder, ref))  # type: ignore[misc]
            counts += count_sentences(refined)
    finally:
        await refiner.aclose()
    manifest = writer.finish(at=datetime.now(UTC), sentences=dict(counts))
    words = ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "no thoughts"
    print(f"{manifest.counts.trajectories} trajectories in {arguments.out}: {words}")
    return 0


def count_sentences(trajectory: Trajectory) -> "Counter[str]":
    """Count the sentences of a refined trajectory by source, and its unchanged thoughts (`unchanged_thoughts`)."""
    recorded: Any = trajectory.task.parameters["recording"]
    thoughts = recorded["refinement"]["thoughts"]
    counts = Counter(sentence["support"] for thought in thoughts for sentence in thought["sentences"])
    if unchanged := sum(bool(thought["problem"]) for thought in thoughts):
        counts["unchanged_thoughts"] = unchanged
    return counts


if __name__ == "__main__":
    sys.exit(main())
