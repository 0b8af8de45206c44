"""Judge the trajectories of folders, and report how far the judge agrees with people's outcomes.

    python -m agent_backend.judges rollouts/s2 --judge outcome_model --model-url http://127.0.0.1:8000/v1 \\
        --model ui-tars --revision s2 --votes 4 --temperature 1 --combine unanimous --out judgements/s2

The same command resumes an interrupted run. The model's key is read from PILOTHOUSE_POLICY_API_KEY.
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import asyncio
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import get_args

from pydantic import SecretStr, ValidationError

from agent_backend.errors import AgentError, PolicyRejected, PolicyUnavailable
from agent_backend.judges.judge import Judge
from agent_backend.judges.judgement_folder import JudgementFolderWriter, JudgingPlan, read_judgements
from agent_backend.judges.model_judge import JudgeEndpoint, create_judge
from agent_backend.trajectory_folders import read_trajectories
from protocol.blobs import BlobRef
from protocol.evaluation.calibration import DEFAULT_THRESHOLD, ScoredOutcome, calibrate, human_outcome
from protocol.evaluation.judgements import VERIFIER, JudgeKind, Judgement, JudgeRef, JudgeSettings, VoteAggregation
from protocol.trajectory.export_folders import image_path
from protocol.trajectory.trajectories import Trajectory


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    usual = JudgeSettings()
    parser = argparse.ArgumentParser(prog="python -m agent_backend.judges", description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="trajectories")
    parser.add_argument("--judge", choices=get_args(JudgeKind), required=True)
    parser.add_argument("--out", type=Path, required=True, help="the folder to make; it must not exist")
    parser.add_argument("--model-url", help="an OpenAI-compatible server, with /v1")
    parser.add_argument("--model", help="the model's name there")
    parser.add_argument("--revision", help="the word for this very judge: its weights and settings")
    parser.add_argument("--votes", type=int, default=usual.votes)
    parser.add_argument("--combine", choices=get_args(VoteAggregation), default=usual.combine)
    parser.add_argument("--temperature", type=float, default=usual.temperature)
    parser.add_argument("--max-tokens", type=int, default=usual.max_tokens)
    parser.add_argument("--images", type=int, default=usual.images, help="screens it is shown, the last ones")
    methods = get_args(JudgeSettings.model_fields["method"].annotation)
    parser.add_argument("--method", choices=methods, default=usual.method, help="of a judge of screens")
    parser.add_argument("--rating-threshold", type=int, default=usual.rating_threshold, help="of key_points, 1 to 5")
    parser.add_argument("--scripted", action="store_true", help="it answers from a script and is no model")
    parser.add_argument("--parallel", type=int, default=1, choices=range(1, 65), metavar="N", help="attempts at a time")
    arguments = parser.parse_args(argv)
    if arguments.judge != "verifier" and not (arguments.model_url and arguments.model and arguments.revision):
        parser.error("a model that judges needs --model-url, --model and --revision")
    return arguments


def build_endpoint(arguments: argparse.Namespace) -> JudgeEndpoint | None:
    """The judge's endpoint; None for the verifier. Raises ValidationError for invalid settings."""
    if arguments.judge == "verifier":
        return None
    return JudgeEndpoint(
        ref=JudgeRef(
            kind=arguments.judge, name=arguments.model, revision=arguments.revision, scripted=arguments.scripted
        ),
        base_url=arguments.model_url,
        model=arguments.model,
        api_key=SecretStr(os.environ.get("PILOTHOUSE_POLICY_API_KEY", "")),
        settings=JudgeSettings.model_validate({name: getattr(arguments, name) for name in JudgeSettings.model_fields}),
    )


async def judge_all(
    judge: Judge, waiting: Iterator[tuple[Path, Trajectory]], folder: JudgementFolderWriter, *, parallel: int
) -> int:
    """Judge what is not judged yet; returns how many attempts the server refused. Raises PolicyUnavailable."""
    refused = 0

    async def work() -> None:
        nonlocal refused
        for source, trajectory in waiting:
            if trajectory.id in folder.judged:
                continue

            async def blob(ref: BlobRef, source: Path = source) -> bytes:
                return await asyncio.to_thread(_picture, source, ref)

            try:
                judgement = await judge.judge(trajectory, blob=blob, save_blob=folder.save_blob)
            except PolicyRejected as error:
                refused += 1
                print(f"{trajectory.id}: {error}", file=sys.stderr)
                continue
            folder.add(judgement)
            print(format_progress(judgement), flush=True)

    try:
        async with asyncio.TaskGroup() as workers:
            for _ in range(parallel):
                workers.create_task(work())
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
    return refused


def _picture(folder: Path, ref: BlobRef) -> bytes:
    """A picture's bytes. Raises KeyError if the file is missing or was altered."""
    try:
        data = (folder / image_path(ref)).read_bytes()
    except FileNotFoundError:
        raise KeyError(ref.sha256) from None
    if BlobRef.of(data, ref.media_type) != ref:
        raise KeyError(ref.sha256)
    return data


def format_progress(judgement: Judgement) -> str:
    """One line of progress."""
    return f"{judgement.trajectory}: " + (judgement.unsaid or f"{judgement.score:.3f}")


def describe_agreement(folders: Sequence[Path], judgements: Mapping[str, Judgement]) -> str:
    """How far the judge agrees with people, at the usual threshold."""
    pairs: list[ScoredOutcome] = [
        (judgements[trajectory.id].score, done)
        for _, trajectory in read_trajectories(folders)
        if trajectory.id in judgements and (done := human_outcome(trajectory)) is not None
    ]
    if not pairs:
        return "no person said anything of these attempts, so nothing is known of the judge"
    calibration = calibrate(pairs, DEFAULT_THRESHOLD)
    parts = [
        f"{name} {rate.rate:.3f} ({rate.successes}/{rate.attempts}, 95 % {rate.low:.3f} to {rate.high:.3f})"
        for name, rate in (
            ("precision", calibration.precision),
            ("recall", calibration.recall),
            ("false positive rate", calibration.false_positive_rate),
        )
        if rate is not None
    ]
    parts += [] if calibration.f1 is None else [f"F1 {calibration.f1:.3f}"]
    silent = sum(score is None for score, _ in pairs)
    scores = ", ".join(parts) or "no scores"
    return f"against people at {DEFAULT_THRESHOLD}: {scores}; without a score {silent} of {len(pairs)}"


def main(argv: Sequence[str] | None = None) -> int:
    """Judge and write the folder. Returns 1 where it could not be finished."""
    arguments = parse_arguments(argv)
    try:
        return asyncio.run(_run(arguments))
    except PolicyUnavailable as error:
        print(f"{error.code}: {error}; the same command resumes from here", file=sys.stderr)
    except AgentError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
    except ValidationError as error:
        print(f"invalid: {error.errors()[0]['msg']}", file=sys.stderr)
    return 1


async def _run(arguments: argparse.Namespace) -> int:
    endpoint = build_endpoint(arguments)
    plan = JudgingPlan(
        judge=VERIFIER if endpoint is None else endpoint.ref,
        settings=None if endpoint is None else endpoint.settings,
        model="" if endpoint is None else endpoint.model,
        folders=tuple(folder.name for folder in arguments.folders),
    )
    judge = create_judge(endpoint)
    with JudgementFolderWriter(arguments.out, plan) as folder:
        try:
            waiting = read_trajectories(arguments.folders)
            refused = await judge_all(judge, waiting, folder, parallel=arguments.parallel)
        finally:
            await judge.aclose()
        if refused and not folder.judged:
            print("the server would not have a single attempt, so nothing is written", file=sys.stderr)
            return 1
        folder.finish(at=datetime.now(UTC), refused=refused)
    manifest, judgements = read_judgements(arguments.out)
    print(f"{manifest.judged} judged, {manifest.unsaid} without a score, {refused} refused, in {arguments.out}")
    print(describe_agreement(arguments.folders, judgements))
    return 0


if __name__ == "__main__":
    sys.exit(main())
