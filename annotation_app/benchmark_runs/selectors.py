"""Reading benchmark runs from the folder that `./pilothouse benchmark` writes."""

import contextlib
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db.models import Exists, OuterRef, Q, TextField
from django.db.models.functions import Cast
from pydantic import ValidationError

from agent_backend.benchmark.leaderboard import build_leaderboards
from agent_backend.benchmark.manifest import (
    ATTEMPTS_FOLDER,
    MANIFEST_FILE,
    RESULT_FILE,
    TASK_SETS,
    InvalidManifest,
    read_manifest_file,
    read_plan,
)
from agent_backend.benchmark.run_lock import RUN_LOCK_FILE, is_locked
from agent_backend.rollout.attempt_log import read_records
from agent_backend.rollout.oracles import task_oracle
from agent_backend.rollout.progress import cancel_path, progress_path
from agent_backend.trajectory_folders import InvalidFolder
from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.benchmark_runs import run_folder
from annotation_app.benchmark_runs.schemas import (
    BenchmarkChoices,
    BenchmarkRevision,
    BenchmarkRunOut,
    BenchmarkRunRow,
    BenchmarksPage,
    BenchmarkSuite,
    FailedRun,
    RunStatus,
    TaskSizes,
    UnfinishedRuns,
)
from annotation_app.errors import Conflict, NotFound
from annotation_app.live.suite_tasks import MachineChoices, machine_choices
from annotation_app.natural_order import natural_key
from annotation_app.policies.expert import EXPERT_URL
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Pool, Task
from protocol.evaluation.benchmarks import Leaderboard
from protocol.evaluation.records import RolloutProgress
from protocol.harbor.task_folders import HARBOR
from protocol.site_tasks import SITE_TASK
from protocol.trajectory.tasks import Task as TaskDefinition
from protocol.trajectory.tasks import format_task_kind
from vm_bridge.fleet import SuiteInfo

RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
MAX_RUNS, MAX_RECORDS, MAX_REVISIONS = 200, 200, 500
SOLUTION = "solution/solve.sh"
"""The file of a Harbor folder that solves its task."""
OVER: frozenset[RunStatus] = frozenset({"interrupted", "finished"})
SILENT_AFTER = timedelta(seconds=30)
"""A command renews its progress every five seconds; one that is silent for so long was killed."""


def runs_folder() -> Path:
    """Where runs of this installation are."""
    folder: Path = settings.ENV.data / "benchmarks"
    return folder


def deleted_folder() -> Path:
    """Where deleted runs lie until their files are removed: in the folder of runs, which may be on a mount of its own,
    and one level too deep for a run."""
    return runs_folder() / ".deleted"


def runs_reader_check(user: User) -> None:
    """Raises Forbidden for those who neither see nor start runs."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)


def runs_page(*, user: User) -> BenchmarksPage:
    """The newest runs and all leaderboards. Raises Forbidden."""
    runs_reader_check(user)
    rows: list[BenchmarkRunRow] = []
    unreadable: list[str] = []
    for folder in runs_folder().glob("*/"):
        try:
            if (row := _read_row(folder, user)) is not None:
                rows.append(row)
        except InvalidManifest:
            unreadable.append(folder.name)
    rows.sort(key=lambda row: row.created_at, reverse=True)
    return BenchmarksPage(
        runs=tuple(rows[:MAX_RUNS]), leaderboards=_leaderboards(unreadable), unreadable=tuple(sorted(unreadable))
    )


def unfinished_runs(*, user: User) -> UnfinishedRuns:
    """The newest runs without a result. Raises Forbidden."""
    runs_reader_check(user)
    return UnfinishedRuns(runs=tuple(_unfinished(user)[:MAX_RUNS]))


def failed_runs(*, user: User, since: datetime) -> tuple[FailedRun, ...]:
    """Runs whose command ended since then before all attempts were made, the newest first; those that this person
    started, or for admins all. Left out are cancelled ones, and those of which the same evaluation was started later,
    of the same tasks, levels and size, by the same policy, with the harness or without it. Raises Forbidden."""
    runs_reader_check(user)
    found = list[FailedRun]()
    for row in _unfinished(user):
        folder = runs_folder() / row.name
        if row.status == "interrupted" and row.can_delete and not cancel_path(folder / ATTEMPTS_FOLDER).exists():
            ended = datetime.fromtimestamp(_last_change(folder), UTC)
            if ended >= since and not _was_started_later(row):
                found.append(FailedRun(name=row.name, error=row.error, ended_at=ended))
    return tuple(found)


def _was_started_later(row: BenchmarkRunRow) -> bool:
    """Whether the same tasks were given to the same policy after a run, at the same levels and in the same size."""
    folder = runs_folder() / row.name
    own = run_folder.read_request(folder)
    try:
        scope = _manifest_scope(folder) if own is None else run_folder.request_scope(own)
    except InvalidManifest:  # its plan is of another version, or it was deleted meanwhile
        return False
    for other in runs_folder().glob("*/"):
        request = run_folder.read_request(other)
        if request is None or request.at <= row.created_at or run_folder.request_scope(request) != scope:
            continue
        if own is None or run_folder.have_same_tasks(own, request):
            return True
    return False


def _manifest_scope(folder: Path) -> run_folder.RunScope:
    """What a run of the command line attempts. Raises InvalidManifest."""
    manifest = read_manifest_file(folder / MANIFEST_FILE)
    plan = read_plan(manifest)
    return run_folder.RunScope(
        benchmark=manifest.name,
        policy=plan.policy.name,
        revision=plan.policy.revision,
        tasks=frozenset() if manifest.name in TASK_SETS else frozenset(plan.names),
        levels=frozenset(map(str, plan.levels)),
        size="" if plan.size is None else "{}x{}".format(*plan.size),
        harness=manifest.harness,
    )


def _unfinished(user: User) -> list[BenchmarkRunRow]:
    rows = []
    for folder in runs_folder().glob("*/"):
        with contextlib.suppress(InvalidManifest):  # the page of all runs names it
            if not is_finished(folder) and (row := _read_row(folder, user)) is not None:
                rows.append(row)
    return sorted(rows, key=lambda row: row.created_at, reverse=True)


def _last_change(folder: Path) -> float:
    """When the command of a run wrote last (seconds since the epoch)."""
    files = (folder / run_folder.LOG_FILE, progress_path(folder / ATTEMPTS_FOLDER), folder)
    found = list[float]()
    for file in files:
        with contextlib.suppress(FileNotFoundError):
            found.append(file.stat().st_mtime)
    return max(found, default=0.0)


def _read_row(folder: Path, user: User) -> BenchmarkRunRow | None:
    """The row of a run; None where there is no run in this folder. Raises InvalidManifest."""
    request = run_folder.read_request(folder)
    if (folder / MANIFEST_FILE).is_file():
        row = _row(folder)
    elif request is not None:
        row = _started_row(folder, request)
    else:
        return None
    over = row.status in OVER
    rights = {"can_restart": over and request is not None, "can_delete": over and may_delete(user, request)}
    return row.model_copy(update=rights)


def may_delete(user: User, request: run_folder.RunRequest | None) -> bool:
    """Whether a person may delete a run: admins, and the person who started it."""
    return user.has_role(Role.ADMIN) or (request is not None and request.started_by == user.pk)


def run_over_check(folder: Path) -> None:
    """Raises Conflict (`run_active`) for a run that waits or runs."""
    if _status(folder, _progress(folder)) not in OVER:
        raise Conflict("This run is not over: cancel it first.", code="run_active")


def run_out(*, user: User, name: str) -> BenchmarkRunOut:
    """A run with its newest attempts. Raises Forbidden and NotFound."""
    folder = run_path(user=user, name=name)
    try:
        row = _read_row(folder, user)
        images = read_manifest_file(folder / MANIFEST_FILE).images if (folder / MANIFEST_FILE).is_file() else ()
    except InvalidManifest as error:
        raise NotFound(str(error)) from None
    if row is None:
        raise NotFound("There is no such run.", field="run")
    try:
        records = read_records(folder / ATTEMPTS_FOLDER)
    except InvalidFolder:
        records = ()
    return BenchmarkRunOut(run=row, images=images, records=records[: -MAX_RECORDS - 1 : -1])


def run_choices(*, user: User) -> BenchmarkChoices:
    """What a run is chosen from. Raises Forbidden."""
    runs_reader_check(user)
    machines = async_to_sync(machine_choices)()
    levels = {suite.name: max((task.levels for task in suite.tasks), default=1) for suite in machines.suites}
    sets = {name: levels[suite] for name, (suite, _) in TASK_SETS.items() if suite in levels}
    counts = {suite.name: len(suite.tasks) for suite in machines.suites}
    counts |= {name: len(tasks) for name, (_, tasks) in TASK_SETS.items()}
    screens = {suite.name: _task_sizes(suite) for suite in machines.suites}
    screens |= {
        name: tuple(each for each in screens[suite] if each.name in tasks)
        for name, (suite, tasks) in TASK_SETS.items()
        if suite in screens
    }
    scripted = scripted_names(machines)
    pools = tuple(sorted(Pool.objects.values_list("name", flat=True), key=natural_key))
    revisions = PolicyRevision.objects.filter(retired_at=None).exclude(base_url=EXPERT_URL).order_by("-id")
    return BenchmarkChoices(
        reachable=machines.reachable,
        suites=tuple(
            BenchmarkSuite(name=name, levels=most, tasks=counts[name], sizes=screens[name], scripted=scripted[name])
            for name, most in sorted((levels | sets).items())
        ),
        pools=pools,
        scripted_pools=scripted_pools(machines) if machines.reachable else pools,
        revisions=tuple(
            BenchmarkRevision(
                id=row.pk, name=row.name, revision=row.revision, checkpoint=row.checkpoint, scripted=row.scripted
            )
            for row in revisions[:MAX_REVISIONS]
        ),
        images=machines.images,
        harness_sets=tuple(sorted(sets)),
    )


def _task_sizes(suite: SuiteInfo) -> tuple[TaskSizes, ...]:
    return tuple(TaskSizes(name=task.name, sizes=task.sizes) for task in suite.tasks if task.sizes)


def scripted_names(machines: MachineChoices) -> Mapping[str, tuple[str, ...]]:
    """The names of the tasks with a script, by suite and by set of tasks."""
    names = {suite.name: tuple(task.name for task in suite.tasks if task.has_script) for suite in machines.suites}
    sets = {
        name: tuple(task for task in tasks if task in names[suite])
        for name, (suite, tasks) in TASK_SETS.items()
        if suite in names
    }
    return names | sets


def scripted_pools(machines: MachineChoices) -> tuple[str, ...]:
    """The names of the pools of which some task has a script."""
    kinds = [
        format_task_kind(suite.name, task.name, level)
        for suite in machines.suites
        for task in suite.tasks
        if task.has_script
        for level in range(1, task.levels + 1)
    ]
    tasks = Task.objects.filter(pool=OuterRef("pk")).annotate(text=Cast("definition", TextField()))
    scripted = tasks.filter(Q(kind__in=kinds) | Q(text__contains=f'"{SOLUTION}"') | Q(text__contains=f'"{SITE_TASK}"'))
    return tuple(sorted(Pool.objects.filter(Exists(scripted)).values_list("name", flat=True), key=natural_key))


def has_script(task: TaskDefinition, names: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a task has a script; `names` as `scripted_names` gives them."""
    if task.suite is not None:
        return task.name in names.get(task.suite, ())
    if task_oracle(task, ()) is not None:
        return True
    if isinstance(site_task := task.parameters.get(SITE_TASK), dict):
        return bool(site_task.get("script"))
    folder = task.parameters.get(HARBOR)
    files = folder.get("files") if isinstance(folder, dict) else None
    return isinstance(files, dict) and SOLUTION in files


def revision_id(policy: str, revision: str) -> int:
    """The number of a registered revision. Raises NotFound."""
    found = PolicyRevision.objects.filter(name=policy, revision=revision).first()
    if found is None:
        raise NotFound(f"{policy} {revision} is not registered.", field="revision")
    return found.pk


def is_finished(run: Path) -> bool:
    """Whether all attempts of a run were made and scored."""
    return run_result_path(run).is_file()


def run_result_path(run: Path) -> Path:
    """Where the result of a run is, once it has finished."""
    return run / RESULT_FILE


def run_path(*, user: User, name: str) -> Path:
    """A run's folder. Raises Forbidden and NotFound."""
    runs_reader_check(user)
    folder = runs_folder() / name
    known = (MANIFEST_FILE, run_folder.REQUEST_FILE)
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
    resumable = status == "interrupted" and run_folder.read_request(folder) is not None
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
        error=run_folder.last_line(folder) if resumable else "",
    )


def _started_row(folder: Path, request: run_folder.RunRequest) -> BenchmarkRunRow:
    """A run that was started here and has no manifest yet, or never got one."""
    status = _status(folder, None)
    return BenchmarkRunRow(
        name=folder.name,
        benchmark=request.benchmark,
        policy=request.policy,
        revision=request.revision,
        attempts=0,
        status=status,
        progress=None,
        harness=request.harness,
        software="",
        created_at=request.at,
        can_resume=status == "interrupted",
        error=run_folder.last_line(folder) if status == "interrupted" else "",
    )


def _status(folder: Path, progress: RolloutProgress | None) -> RunStatus:
    if is_finished(folder):
        return "finished"
    if not _is_made(folder, progress):
        return "waiting" if run_folder.is_pending(folder) else "interrupted"
    if cancel_path(folder / ATTEMPTS_FOLDER).exists():
        return "cancelling"
    return "starting" if progress is None or progress.ended else "running"


def _is_made(folder: Path, progress: RolloutProgress | None) -> bool:
    """Whether the command of a run runs: it holds a lock. Where no lock tells, it is also heard of."""
    if is_locked(folder / RUN_LOCK_FILE):
        return True
    if (started_here := is_locked(folder / run_folder.LOCK_FILE)) is not None:
        return started_here
    heard = None if progress is None or progress.ended else progress.updated_at
    return heard is not None and datetime.now(UTC) - heard <= SILENT_AFTER


def _progress(folder: Path) -> RolloutProgress | None:
    try:
        return RolloutProgress.model_validate_json(progress_path(folder / ATTEMPTS_FOLDER).read_bytes())
    except (OSError, ValidationError):
        return None
