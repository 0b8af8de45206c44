"""Reading folders of judgements: a judge's word on each attempt, for who wants to take it."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from agent_backend.trajectory_folders import InvalidFolder, file_sha256
from protocol.base import FrozenModel
from protocol.evaluation.judgements import JUDGEMENTS, Judgement, JudgementsManifest
from protocol.trajectory.export_folders import MANIFEST, UNFINISHED_SUFFIX


def read_judgements(folder: Path) -> tuple[JudgementsManifest, dict[str, Judgement]]:
    """What a folder says it holds, and the judgements by trajectory. Raises InvalidFolder."""
    if folder.name.endswith(UNFINISHED_SUFFIX) or not (folder / MANIFEST).is_file():
        raise InvalidFolder(f"{folder} is no finished folder of judgements")
    try:
        manifest = JudgementsManifest.model_validate_json((folder / MANIFEST).read_bytes())
        lines = (folder / JUDGEMENTS).read_bytes().splitlines()
        judgements = [Judgement.model_validate_json(line) for line in lines]
    except (OSError, ValidationError) as error:
        raise InvalidFolder(f"{folder} cannot be read as judgements: {str(error).splitlines()[0]}") from None
    if manifest.sha256 != file_sha256(folder / JUDGEMENTS):
        raise InvalidFolder(f"{folder / JUDGEMENTS} is not the file that the manifest lists")
    return manifest, {judgement.trajectory: judgement for judgement in judgements}


class JudgeOutcomes(FrozenModel):
    """What one judge believed; attempts it could not say anything of are not among them."""

    judge: str = ""
    attempts: dict[str, bool] = {}


NO_JUDGE = JudgeOutcomes()
"""Where no judge is believed."""


def read_judge_outcomes(folders: Sequence[Path], threshold: float) -> JudgeOutcomes:
    """What the judge of these folders believed from this score on. Raises InvalidFolder, also for several judges."""
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
    """The options with which a judge is believed; without them none is."""
    parser.add_argument(
        "--judgements",
        type=Path,
        nargs="+",
        default=(),
        metavar="FOLDER",
        help="believe this judge where nobody else says how an attempt ended",
    )
    parser.add_argument("--threshold", type=float, default=0.5, help="from which score on it is believed")
