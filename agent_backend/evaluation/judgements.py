"""Reads folders of judgements: a judge's outcome of each attempt, used only if asked for."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from agent_backend.judges.judgement_folder import read_judgements
from agent_backend.trajectory_folders import InvalidFolder
from protocol.base import FrozenModel


class JudgeOutcomes(FrozenModel):
    """One judge's outcomes, without the attempts that it could not judge."""

    judge: str = ""
    attempts: dict[str, bool] = {}


NO_JUDGE = JudgeOutcomes()
"""The value if no judge is used."""


def read_judge_outcomes(folders: Sequence[Path], threshold: float) -> JudgeOutcomes:
    """The outcomes of the judge of these folders; a score of at least this threshold counts as success. Raises
    InvalidFolder, also for several judges."""
    read = [read_judgements(folder) for folder in folders]
    judges = {manifest.judge for manifest, _ in read}
    if len(judges) > 1:
        raise InvalidFolder("the judgements are of several judges; one is believed at a time")
    judge_outcomes = {
        name: outcome
        for _, judgements in read
        for name, judgement in judgements.items()
        if (outcome := judgement.passes(threshold)) is not None
    }
    named = "".join(f"{judge.name} {judge.revision} from {threshold:g}" for judge in judges)
    return JudgeOutcomes(judge=named, attempts=judge_outcomes)


def add_judgement_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that let a judge decide outcomes; without them no judge counts."""
    parser.add_argument(
        "--judgements",
        type=Path,
        nargs="+",
        default=(),
        metavar="FOLDER",
        help="use this judge's verdict for attempts without another outcome",
    )
    parser.add_argument("--threshold", type=float, default=0.5, help="from which score on it is believed")
