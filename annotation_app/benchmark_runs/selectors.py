"""Reading benchmark runs from the folder that `./pilothouse benchmark` writes."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings
from pydantic import ValidationError

from agent_backend.benchmark.leaderboard import build_leaderboards
from agent_backend.benchmark.manifest import (
    ATTEMPTS_FOLDER,
    MANIFEST_FILE,
    RESULT_FILE,
    InvalidManifest,
    read_manifest_file,
)
from agent_backend.rollout.attempt_log import read_records
from agent_backend.rollout.progress import cancel_path, progress_path
from agent_backend.trajectory_folders import InvalidFolder
from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.benchmark_runs.schemas import BenchmarkRunOut, BenchmarkRunRow, BenchmarksPage, RunStatus
from annotation_app.errors import NotFound
from protocol.evaluation.benchmarks import Leaderboard
from protocol.evaluation.records import RolloutProgress

RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
MAX_RUNS, MAX_RECORDS = 200, 200
SILENT_AFTER = timedelta(seconds=30)
"""A command renews its progress every five seconds; one that is silent for so long was killed."""


def runs_folder() -> Path:
    """Where runs of this installation are."""
    folder: Path = settings.ENV.data / "benchmarks"
    return folder


def runs_page(*, user: User) -> BenchmarksPage:
    """The newest runs and all leaderboards. Raises Forbidden."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)
    rows: list[BenchmarkRunRow] = []
    unreadable: list[str] = []
    for path in runs_folder().glob(f"*/{MANIFEST_FILE}"):
        try:
            rows.append(_row(path.parent))
        except InvalidManifest:
            unreadable.append(path.parent.name)
    rows.sort(key=lambda row: row.created_at, reverse=True)
    return BenchmarksPage(
        runs=tuple(rows[:MAX_RUNS]), leaderboards=_leaderboards(unreadable), unreadable=tuple(sorted(unreadable))
    )


def run_out(*, user: User, name: str) -> BenchmarkRunOut:
    """A run with its newest attempts. Raises Forbidden and NotFound."""
    folder = run_path(user=user, name=name)
    try:
        manifest, row = read_manifest_file(folder / MANIFEST_FILE), _row(folder)
    except InvalidManifest as error:
        raise NotFound(str(error)) from None
    try:
        records = read_records(folder / ATTEMPTS_FOLDER)
    except InvalidFolder:
        records = ()
    return BenchmarkRunOut(run=row, images=manifest.images, records=records[: -MAX_RECORDS - 1 : -1])


def run_path(*, user: User, name: str) -> Path:
    """A run's folder. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)
    folder = runs_folder() / name
    if RUN_NAME.fullmatch(name) is None or not (folder / MANIFEST_FILE).is_file():
        raise NotFound("There is no such run.")
    return folder


def _leaderboards(unreadable: list[str]) -> tuple[Leaderboard, ...]:
    try:
        return build_leaderboards(runs_folder())
    except (InvalidManifest, InvalidFolder) as error:
        unreadable.append(str(error))
        return ()


def _row(folder: Path) -> BenchmarkRunRow:
    manifest = read_manifest_file(folder / MANIFEST_FILE)
    progress = _progress(folder)
    policy = manifest.plan.get("policy")
    policy = policy if isinstance(policy, dict) else {}
    return BenchmarkRunRow(
        name=folder.name,
        benchmark=manifest.name,
        policy=str(policy.get("name", "")),
        revision=str(policy.get("revision", "")),
        attempts=len(manifest.tasks),
        status=_status(folder, progress),
        progress=progress,
        software=manifest.software,
        created_at=manifest.created_at,
    )


def _status(folder: Path, progress: RolloutProgress | None) -> RunStatus:
    if (folder / RESULT_FILE).is_file():
        return "finished"
    heard = progress.updated_at if progress is not None else None
    if progress is None or progress.ended or heard is None or datetime.now(UTC) - heard > SILENT_AFTER:
        return "interrupted"
    return "cancelling" if cancel_path(folder / ATTEMPTS_FOLDER).exists() else "running"


def _progress(folder: Path) -> RolloutProgress | None:
    try:
        return RolloutProgress.model_validate_json(progress_path(folder / ATTEMPTS_FOLDER).read_bytes())
    except (OSError, ValidationError):
        return None
