"""Reading benchmark runs from the folder that `./pilothouse benchmark` writes."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from asgiref.sync import async_to_sync
from django.conf import settings
from pydantic import ValidationError

from agent_backend.benchmark.leaderboard import build_leaderboards
from agent_backend.benchmark.manifest import (
    ATTEMPTS_FOLDER,
    MANIFEST_FILE,
    RESULT_FILE,
    TASK_SETS,
    InvalidManifest,
    read_manifest_file,
)
from agent_backend.rollout.attempt_log import read_records
from agent_backend.rollout.progress import cancel_path, progress_path
from agent_backend.trajectory_folders import InvalidFolder
from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.benchmark_runs import commands
from annotation_app.benchmark_runs.schemas import (
    BenchmarkChoices,
    BenchmarkRevision,
    BenchmarkRunOut,
    BenchmarkRunRow,
    BenchmarksPage,
    RunStatus,
)
from annotation_app.errors import NotFound
from annotation_app.live.suite_tasks import machine_choices
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Pool
from protocol.evaluation.benchmarks import Leaderboard
from protocol.evaluation.records import RolloutProgress

RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
MAX_RUNS, MAX_RECORDS, MAX_REVISIONS = 200, 200, 500
SILENT_AFTER = timedelta(seconds=30)
"""A command renews its progress every five seconds; one that is silent for so long was killed."""
STARTS_WITHIN = timedelta(seconds=20)
"""How long a run may take to be begun by a worker."""


def runs_folder() -> Path:
    """Where runs of this installation are."""
    folder: Path = settings.ENV.data / "benchmarks"
    return folder


def runs_page(*, user: User) -> BenchmarksPage:
    """The newest runs and all leaderboards. Raises Forbidden."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)
    rows: list[BenchmarkRunRow] = []
    unreadable: list[str] = []
    for folder in runs_folder().glob("*/"):
        try:
            if (folder / MANIFEST_FILE).is_file():
                rows.append(_row(folder))
            elif (request := commands.read_request(folder)) is not None:
                rows.append(_started_row(folder, request))
        except InvalidManifest:
            unreadable.append(folder.name)
    rows.sort(key=lambda row: row.created_at, reverse=True)
    return BenchmarksPage(
        runs=tuple(rows[:MAX_RUNS]), leaderboards=_leaderboards(unreadable), unreadable=tuple(sorted(unreadable))
    )


def run_out(*, user: User, name: str) -> BenchmarkRunOut:
    """A run with its newest attempts. Raises Forbidden and NotFound."""
    folder = run_path(user=user, name=name)
    request = commands.read_request(folder)
    if request is not None and not (folder / MANIFEST_FILE).is_file():
        return BenchmarkRunOut(run=_started_row(folder, request), images=(), records=())
    try:
        manifest, row = read_manifest_file(folder / MANIFEST_FILE), _row(folder)
    except InvalidManifest as error:
        raise NotFound(str(error)) from None
    try:
        records = read_records(folder / ATTEMPTS_FOLDER)
    except InvalidFolder:
        records = ()
    return BenchmarkRunOut(run=row, images=manifest.images, records=records[: -MAX_RECORDS - 1 : -1])


def run_choices(*, user: User) -> BenchmarkChoices:
    """What a run is chosen from. Raises Forbidden."""
    role_check(user, Role.ADMIN)
    machines = async_to_sync(machine_choices)()
    suites = {suite.name for suite in machines.suites}
    sets = {name for name, (suite, _) in TASK_SETS.items() if suite in suites}
    revisions = PolicyRevision.objects.order_by("-id").values_list("id", "name", "revision")
    return BenchmarkChoices(
        reachable=machines.reachable,
        suites=tuple(sorted(suites | sets)),
        pools=tuple(Pool.objects.order_by("name").values_list("name", flat=True)),
        revisions=tuple(
            BenchmarkRevision(id=number, name=name, revision=revision)
            for number, name, revision in revisions[:MAX_REVISIONS]
        ),
        harness_sets=tuple(sorted(sets)),
    )


def is_finished(run: Path) -> bool:
    """Whether all attempts of a run were made and scored."""
    return run_result_path(run).is_file()


def run_result_path(run: Path) -> Path:
    """Where the result of a run is, once it has finished."""
    return run / RESULT_FILE


def run_path(*, user: User, name: str) -> Path:
    """A run's folder. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)
    folder = runs_folder() / name
    known = (MANIFEST_FILE, commands.REQUEST_FILE)
    if RUN_NAME.fullmatch(name) is None or not any((folder / file).is_file() for file in known):
        raise NotFound("There is no such run.", field="run")
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
    status = _status(folder, progress)
    resumable = status == "interrupted" and commands.read_request(folder) is not None
    return BenchmarkRunRow(
        name=folder.name,
        benchmark=manifest.name,
        policy=str(policy.get("name", "")),
        revision=str(policy.get("revision", "")),
        attempts=len(manifest.tasks),
        status=status,
        progress=progress,
        harness=manifest.harness,
        software=manifest.software,
        created_at=manifest.created_at,
        can_resume=resumable,
        error=commands.last_line(folder) if resumable else "",
    )


def _started_row(folder: Path, request: commands.RunRequest) -> BenchmarkRunRow:
    """A run that was started here and has no manifest yet, or never got one."""
    running = commands.is_running(folder) or _age(folder / commands.REQUEST_FILE) < STARTS_WITHIN
    return BenchmarkRunRow(
        name=folder.name,
        benchmark=request.benchmark,
        policy=request.policy,
        revision=request.revision,
        attempts=0,
        status="starting" if running else "interrupted",
        progress=None,
        harness=request.harness,
        software="",
        created_at=request.at,
        can_resume=not running,
        error="" if running else commands.last_line(folder),
    )


def _age(path: Path) -> timedelta:
    return datetime.now(UTC) - datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _status(folder: Path, progress: RolloutProgress | None) -> RunStatus:
    if is_finished(folder):
        return "finished"
    heard = None if progress is None or progress.ended else progress.updated_at
    is_heard = heard is not None and datetime.now(UTC) - heard <= SILENT_AFTER
    if not (is_heard or commands.is_running(folder)):
        return "interrupted"
    if progress is None or progress.ended:
        return "starting"
    return "cancelling" if cancel_path(folder / ATTEMPTS_FOLDER).exists() else "running"


def _progress(folder: Path) -> RolloutProgress | None:
    try:
        return RolloutProgress.model_validate_json(progress_path(folder / ATTEMPTS_FOLDER).read_bytes())
    except (OSError, ValidationError):
        return None
