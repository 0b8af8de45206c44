"""Rejection sampling: copies a policy's successful attempts into a new folder, by the verifier's verdict. If there is
no verifier, a judge may decide.

python -m agent_backend.evaluation.rejection_sampling rollouts/s2 --tries 8 --most 2 --out kept/s2
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from agent_backend.errors import AgentError
from agent_backend.evaluation.attempts import Attempt, TaskKey, collect_attempts
from agent_backend.evaluation.judgements import JudgeOutcomes, add_judgement_options, read_judge_outcomes
from agent_backend.trajectory_folders import (
    InvalidFolder,
    TrajectoryFolderWriter,
    read_blob,
    read_manifest,
    read_trajectories,
)
from protocol.trajectory.export_folders import ExportManifest
from protocol.trajectory.trajectories import Trajectory


def select_trajectories(tasks: dict[TaskKey, list[Attempt]], *, tries: int | None, most: int | None) -> set[str]:
    """The ids to keep: the successful ones among each task's first `tries` attempts, at most the `most` shortest a
    task. A verifier or a judge decides on success."""
    selected: set[str] = set()
    for attempts in tasks.values():
        candidates = attempts[:tries]
        judge_outcomes = [
            attempt for attempt in candidates if attempt.success and (attempt.score is not None or attempt.judged)
        ]
        selected.update(attempt.id for attempt in sorted(judge_outcomes, key=lambda attempt: attempt.steps)[:most])
    return selected


def write_selected(
    folders: Sequence[Path],
    target: Path,
    *,
    at: datetime,
    tries: int | None = None,
    most: int | None = None,
    judge_outcomes: JudgeOutcomes | None = None,
    may: Callable[[Trajectory], bool] = lambda _: True,
) -> ExportManifest:
    """Write the kept attempts of the folders to `target`, out of those that `may` be kept. With `judge_outcomes` also
    those that only a judge found successful. Raises InvalidFolder."""
    looked_at = (found for found in read_trajectories(folders) if may(found[1]))
    attempts = collect_attempts(looked_at, judge_outcomes.attempts if judge_outcomes else None)
    selected = select_trajectories(attempts.by_task(), tries=tries, most=most)
    pools = {read_manifest(folder).pool for folder in folders}
    filters: dict[str, JsonValue] = {"verified": True, "tries": tries, "most": most}
    if judge_outcomes:
        filters |= {"verified": False, "judge": judge_outcomes.judge}
    writer = TrajectoryFolderWriter(target, filters | {"from": [folder.name for folder in folders]})
    try:
        for folder, trajectory in read_trajectories(folders):
            if trajectory.id in selected and trajectory.id not in writer.tasks_by_id:
                writer.add(trajectory, partial(read_blob, folder))
    except InvalidFolder:
        writer.discard()
        raise
    return writer.finish(at=at, pool=pools.pop() if len(pools) == 1 else None)


def positive_int(text: str) -> int:
    """Parse a whole number from 1. Raises ArgumentTypeError."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1")
    return int(text)


def main(argv: Sequence[str] | None = None) -> int:
    """Write the folder and print how much it holds. Returns 1 if that failed."""
    parser = argparse.ArgumentParser(
        prog="python -m agent_backend.evaluation.rejection_sampling", description=__doc__.splitlines()[0]
    )
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="trajectories of the policy")
    parser.add_argument("--tries", type=positive_int, help="how many attempts at a task are looked at; without it all")
    parser.add_argument("--most", type=positive_int, help="how many of a task are kept; without it all")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make; it must not exist")
    add_judgement_options(parser)
    arguments = parser.parse_args(argv)
    try:
        judgements = arguments.judgements
        manifest = write_selected(
            arguments.folders,
            arguments.out,
            at=datetime.now(UTC),
            tries=arguments.tries,
            most=arguments.most,
            judge_outcomes=read_judge_outcomes(judgements, arguments.threshold) if judgements else None,
        )
    except AgentError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    print(f"{manifest.counts.trajectories} trajectories, {manifest.counts.steps} steps in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
