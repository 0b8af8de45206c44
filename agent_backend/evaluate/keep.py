"""Rejection sampling: of a policy's attempts, keep those a verifier believed, in a folder of their own; where there is
no verifier, a judge may be believed.

python -m agent_backend.evaluate.keep rollouts/s2 --tries 8 --most 2 --out kept/s2
"""

import argparse
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from agent_backend.errors import AgentError
from agent_backend.evaluate.attempts import Attempt, TaskKey, attempts_of
from agent_backend.evaluate.judgements import Believed, beliefs_read, judgements_add
from agent_backend.folders import FolderUnusable, FolderWriter, blob_read, manifest_read, trajectories_read
from vocabulary.exports import Manifest


def chosen(tasks: dict[TaskKey, list[Attempt]], *, tries: int | None, most: int | None) -> set[str]:
    """The ids to keep: of each task's first `tries` attempts those a verifier or a judge believed, at most `most` a
    task, the shortest ones."""
    kept: set[str] = set()
    for attempts in tasks.values():
        tried = attempts[:tries]
        believed = [attempt for attempt in tried if attempt.success and (attempt.score is not None or attempt.judged)]
        kept.update(attempt.id for attempt in sorted(believed, key=lambda attempt: attempt.steps)[:most])
    return kept


def verified_keep(
    folders: Sequence[Path],
    target: Path,
    *,
    at: datetime,
    tries: int | None = None,
    most: int | None = None,
    believed: Believed | None = None,
) -> Manifest:
    """Write the kept attempts of the folders to `target`; `believed`: also those that only a judge believed. Raises
    FolderUnusable."""
    attempts = attempts_of(trajectories_read(folders), believed.attempts if believed else None)
    kept = chosen(attempts.by_task(), tries=tries, most=most)
    pools = {manifest_read(folder).pool for folder in folders}
    filters: dict[str, JsonValue] = {"verified": True, "tries": tries, "most": most}
    if believed:
        filters |= {"verified": False, "judge": believed.judge}
    writer = FolderWriter(target, filters | {"from": [folder.name for folder in folders]})
    try:
        for folder, trajectory in trajectories_read(folders):
            if trajectory.id in kept and trajectory.id not in writer.kept:
                writer.add(trajectory, partial(blob_read, folder))
    except FolderUnusable:
        writer.drop()
        raise
    return writer.finish(at=at, pool=pools.pop() if len(pools) == 1 else None)


def positive(text: str) -> int:
    """A whole number from 1. Raises ArgumentTypeError."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is no whole number from 1")
    return int(text)


def main(given: Sequence[str] | None = None) -> int:
    """Write the folder and say how much is in it. Returns 1 where it could not be made."""
    parser = argparse.ArgumentParser(prog="python -m agent_backend.evaluate.keep", description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="trajectories of the policy")
    parser.add_argument("--tries", type=positive, help="how many attempts at a task are looked at; without it all")
    parser.add_argument("--most", type=positive, help="how many of a task are kept; without it all")
    parser.add_argument("--out", type=Path, required=True, help="the folder to make; it must not exist")
    judgements_add(parser)
    arguments = parser.parse_args(given)
    try:
        judgements = arguments.judgements
        manifest = verified_keep(
            arguments.folders,
            arguments.out,
            at=datetime.now(UTC),
            tries=arguments.tries,
            most=arguments.most,
            believed=beliefs_read(judgements, arguments.threshold) if judgements else None,
        )
    except AgentError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    print(f"{manifest.counts.trajectories} trajectories, {manifest.counts.steps} steps in {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
