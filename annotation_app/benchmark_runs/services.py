"""Starting, resuming and cancelling benchmark runs, which the pages call evaluations."""

import errno
import json
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from asgiref.sync import async_to_sync
from django.conf import settings

from agent_backend.benchmark.manifest import ATTEMPTS_FOLDER, TASK_SETS
from agent_backend.benchmark.run_lock import RunActive, run_lock
from agent_backend.rollout.options import EXPERT
from agent_backend.rollout.progress import cancel_path
from agent_backend.rollout.task_sources import InvalidSource, read_tasks
from agent_backend.trajectory_folders import write_atomically
from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import person_by_username, role_check
from annotation_app.audit.services import audit_record
from annotation_app.benchmark_runs import run_folder, selectors
from annotation_app.benchmark_runs.jobs import run_queue
from annotation_app.benchmark_runs.schemas import FILE_PREFIX, POOL_PREFIX, BenchmarkRunIn
from annotation_app.errors import Conflict, Forbidden, Invalid, NotFound
from annotation_app.live.suite_tasks import machine_choices
from annotation_app.policies.expert import EXPERT_URL
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.models import Provider as ProviderChoice
from annotation_app.tasks.models import Pool, Task
from annotation_app.tasks.selectors import server_secrets_check
from protocol.base import JsonObject
from protocol.trajectory.mcp_servers import add_mcp_servers
from protocol.trajectory.tasks import Task as TaskDefinition

UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")
ENDS_OR_BEGINS_MESSAGE = "The command of this run is starting or ending: try again."
NOT_WRITABLE_ERRNOS = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
RUN_TAIL = re.compile(r"-[0-9a-f]{6}$")
"""What ends the name of a run that was started here."""


def run_start(*, user: User, run: BenchmarkRunIn) -> str:
    """Let a worker start a run. Returns its name. Raises Forbidden, NotFound, Invalid and Conflict."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)
    revision = None
    if run.revision is not None:
        revision = PolicyRevision.objects.filter(pk=run.revision).first()
        if revision is None:
            raise NotFound("There is no such revision.", field="revision")
        if revision.base_url == EXPERT_URL:
            message = "This revision is the tasks' own scripts: start the run without a revision."
            raise Invalid(message, code="not_a_model", field="revision")
    if run.harness is not None and (revision is None or run.benchmark not in TASK_SETS):
        message = f"The harness is for revisions, at {', '.join(TASK_SETS)}."
        raise Invalid(message, code="no_harness", field="harness")
    if run.checkpoint and revision is not None:
        _checkpoint_check(run, revision)
    policy, label = _policy_label(run, revision)
    what = run.benchmark.partition(":")[2] or run.benchmark
    name = f"{what}-{policy}-{label}-{secrets.token_hex(3)}" if revision else f"{what}-{EXPERT}-{secrets.token_hex(3)}"
    folder = _new_folder(name)
    source = _source(run)
    if revision is None:
        _scripts_check(run.benchmark, chosen=run.tasks, stored=None if source is None else source.tasks)
    folder.mkdir(parents=True)
    request = run_folder.RunRequest(
        benchmark=run.benchmark,
        policy=policy,
        revision=label,
        words=(*_task_words(run, folder, source), *_policy_words(revision), *_run_policy_words(run, label)),
        checkpoint=run.checkpoint,
        base_url="" if revision is None or run.checkpoint else revision.base_url,
        harness=run.harness is not None,
        at=datetime.now(UTC),
        started_by=user.pk,
    )
    _begin(user, folder, request)
    return folder.name


def _new_folder(name: str) -> Path:
    """The folder of a run that is to be, which does not exist yet; `name` ends with what no other run has."""
    return selectors.runs_folder() / UNSAFE_CHARACTERS.sub("-", name).lstrip("._-")[-200:]


def _begin(user: User, folder: Path, request: run_folder.RunRequest, **details: str) -> None:
    """Store the arguments of a run, and let a worker start it."""
    write_atomically(folder / run_folder.REQUEST_FILE, request.model_dump_json(indent=1).encode() + b"\n")
    run_folder.set_pending(folder)
    audit_record(actor=user, verb="benchmark.started", subject=f"benchmark:{folder.name}", details=details)
    run_queue(folder.name)


def run_start_by(*, username: str, run: BenchmarkRunIn) -> str:
    """The same, by a user name. Raises NotFound too where no active user has this name."""
    return run_start(user=person_by_username(username=username), run=run)


def run_resume(*, user: User, name: str) -> None:
    """Restart a run of the web app where it ended. Raises Forbidden, NotFound, and Conflict where it runs,
    has finished, was started on the command line, or the platform may not write its folder (`folder_not_writable`)."""
    folder = selectors.run_path(user=user, name=name)
    if run_folder.read_request(folder) is None:
        raise Conflict("This run was started on the command line: resume it there.", code="not_started_here")
    if selectors.is_finished(folder) or run_folder.is_running(folder):
        raise Conflict("This run has finished, or its command runs.", code="not_interrupted")
    if run_folder.is_pending(folder):
        raise Conflict("This run waits for a place; it begins by itself.", code="not_interrupted")
    with _written(folder):
        run_folder.set_pending(folder)
    audit_record(actor=user, verb="benchmark.resumed", subject=f"benchmark:{name}")
    run_queue(name)


def run_restart(*, user: User, name: str) -> str:
    """Have the same evaluation made from the beginning, as a run of its own: of the same tasks, by the same policy.
    Returns its name. Raises Forbidden, NotFound, and Conflict where the run is not over (`run_active`) or was started
    on the command line (`not_started_here`)."""
    old = selectors.run_path(user=user, name=name)
    request = run_folder.read_request(old)
    if request is None:
        raise Conflict("This run was started on the command line: start it again there.", code="not_started_here")
    selectors.run_over_check(old)
    folder = _new_folder(f"{RUN_TAIL.sub('', name)}-{secrets.token_hex(3)}")
    folder.mkdir(parents=True)
    words = tuple(_copied(word, old, folder) for word in request.words)
    renewed = {"words": words, "at": datetime.now(UTC), "started_by": user.pk}
    _begin(user, folder, request.model_copy(update=renewed), again=name)
    return folder.name


def _copied(word: str, old: Path, new: Path) -> str:
    """A word of a run's command; a file in the run's folder is copied into the new one."""
    path = Path(word)
    file = old / path.name
    if path.parent.name != old.name or not file.is_file():
        return word
    return str(shutil.copyfile(file, new / file.name))


def run_delete(*, user: User, name: str) -> None:
    """Delete a run with its attempts. A report that was registered of it stays. Raises Forbidden for those who are no
    admin and did not start it, NotFound, and Conflict where it is not over (`run_active`), also where it was started on
    the command line, where its folder is a link or a mount of its own (`folder_elsewhere`), and where the platform may
    not write it (`folder_not_writable`)."""
    folder = selectors.run_path(user=user, name=name)
    if not selectors.may_delete(user, run_folder.read_request(folder)):
        raise Forbidden("Only admins delete evaluations that others started.")
    selectors.run_over_check(folder)
    if folder.is_symlink() or folder.is_mount():
        message = "The folder of this run is a link or a mount of its own: remove it on the machine that has it."
        raise Conflict(message, code="folder_elsewhere")
    removed = selectors.deleted_folder() / f"{folder.name[-150:]}-{secrets.token_hex(6)}"
    try:
        with _written(folder), run_folder.held(folder) as free, run_lock(folder):
            removed.parent.mkdir(exist_ok=True)
            if not free or run_folder.is_pending(folder):
                raise Conflict(ENDS_OR_BEGINS_MESSAGE, code="run_active")
            folder.rename(removed)
    except RunActive:
        raise Conflict(ENDS_OR_BEGINS_MESSAGE, code="run_active") from None
    except FileNotFoundError:
        raise NotFound("There is no such run.", field="run") from None
    audit_record(actor=user, verb="benchmark.deleted", subject=f"benchmark:{name}")
    shutil.rmtree(removed, ignore_errors=True)


@contextmanager
def _written(folder: Path) -> Iterator[None]:
    """Let a block write in the folder of a run. Raises Conflict where the platform may not."""
    try:
        yield
    except OSError as error:
        if error.errno not in NOT_WRITABLE_ERRNOS:
            raise
        message = f"The platform may not write the folder {folder.name}: do it on the machine, as the user who made it."
        raise Conflict(message, code="folder_not_writable") from error


def run_cancel(*, user: User, name: str) -> None:
    """Let a run start no further attempts. Running attempts end, and finished ones are kept.

    Raises Forbidden, NotFound, and Conflict where the platform may not write the run's folder (`folder_not_writable`).
    """
    folder = selectors.run_path(user=user, name=name)
    with _written(folder):
        run_folder.cancel_pending(folder)
        cancel_path(folder / ATTEMPTS_FOLDER).touch()
    audit_record(actor=user, verb="benchmark.cancelled", subject=f"benchmark:{name}")


def revision_options(*, policy: str, revision: str) -> tuple[str, ...]:
    """How a rollout asks a registered revision, in its options. Raises NotFound."""
    found = PolicyRevision.objects.filter(name=policy, revision=revision).first()
    if found is None:
        raise NotFound(f"{policy} {revision} is not registered.")
    return _policy_words(found)


def _policy_words(revision: PolicyRevision | None) -> tuple[str, ...]:
    """Who acts, in the options of a rollout."""
    if revision is None:
        return ("--expert",)
    sampling: JsonObject = revision.sampling
    words = ["--model-url", revision.base_url, "--model", revision.model, "--dialect", revision.dialect]
    words += ["--policy", revision.name, "--revision", revision.revision]
    words += ["--provider", revision.provider] if revision.provider != ProviderChoice.OPENAI_COMPATIBLE else []
    words += ["--scripted"] if revision.scripted else []
    words += ["--temperature", f"{float(str(sampling['temperature'])):g}"] if "temperature" in sampling else []
    words += ["--max-actions", str(sampling["max_actions"])] if "max_actions" in sampling else []
    return (
        *words,
        *(("--memory", json.dumps(revision.memory)) if revision.memory else ()),
        *(("--prompt", revision.prompt.model_dump_json()) if revision.prompt else ()),
    )


def _run_policy_words(run: BenchmarkRunIn, label: str) -> tuple[str, ...]:
    """What differs in this run from how the revision is asked; the last word counts."""
    words = ["--revision", label] if run.checkpoint else []
    words += ["--temperature", f"{run.temperature:g}"] if run.temperature is not None else []
    return tuple(words)


def _policy_label(run: BenchmarkRunIn, revision: PolicyRevision | None) -> tuple[str, str]:
    """Who acts: the policy's name and the revision's."""
    if revision is None:
        return EXPERT, EXPERT
    if not run.checkpoint or run.checkpoint == revision.checkpoint:
        return revision.name, run.checkpoint_revision or revision.revision
    folder = UNSAFE_CHARACTERS.sub("-", Path(run.checkpoint).name).lstrip("._-")[:64]
    return revision.name, run.checkpoint_revision or folder


def _checkpoint_check(run: BenchmarkRunIn, revision: PolicyRevision) -> None:
    """Weights may be served that a revision names, or that are in the data folder, under a name that is theirs.

    Raises Invalid (`hosted_model`, `foreign_checkpoint`, `weights_missing`) and Conflict (`revision_taken`).
    """
    if revision.scripted or revision.provider != ProviderChoice.OPENAI_COMPATIBLE:
        raise Invalid("This policy has no weights that could be served.", code="hosted_model", field="checkpoint")
    folder = Path(run.checkpoint).absolute()
    named = PolicyRevision.objects.filter(checkpoint=run.checkpoint).exists()
    if not named and settings.ENV.data.resolve() not in folder.resolve().parents:
        message = "Only weights in the data folder, and those of registered revisions, can be served."
        raise Invalid(message, code="foreign_checkpoint", field="checkpoint")
    if not folder.is_dir():
        raise Invalid("There are no weights in this folder.", code="weights_missing", field="checkpoint")
    name, label = _policy_label(run, revision)
    known = PolicyRevision.objects.filter(name=name, revision=label).first()
    if known is not None and known.checkpoint != run.checkpoint:
        message = f"{name} {label} is registered with other weights; give these another name."
        raise Conflict(message, code="revision_taken", field="checkpoint_revision")


def _scripts_check(benchmark: str, *, chosen: tuple[str, ...], stored: tuple[TaskDefinition, ...] | None) -> None:
    """Raises Invalid (`no_scripts`) where no task of an evaluation by scripts has one: of the `stored` tasks, else of
    the `chosen` tasks of a suite, or of all its tasks. A bridge that does not answer leaves it open."""
    machines = async_to_sync(machine_choices)()
    names = selectors.scripted_names(machines)
    if stored is not None:
        known = machines.reachable or all(task.suite is None for task in stored)
        scripted = any(selectors.has_script(task, names) for task in stored)
    else:
        known = benchmark in names
        scripted = any(not chosen or name in chosen for name in names.get(benchmark, ()))
    if known and not scripted:
        message = "None of these tasks has a script: choose a revision, or other tasks."
        raise Invalid(message, code="no_scripts", field="revision")


@dataclass(frozen=True)
class TaskFile:
    """Tasks that are copied into the folder of a run."""

    name: str
    lines: str
    image: str
    tasks: tuple[TaskDefinition, ...]


def _source(run: BenchmarkRunIn) -> TaskFile | None:
    """The tasks of a pool or a file; None where the run is of a suite. Raises NotFound and Invalid."""
    if run.benchmark.startswith(FILE_PREFIX):
        return _uploaded(run)
    if not run.benchmark.startswith(POOL_PREFIX):
        return None
    pool = Pool.objects.filter(name=run.benchmark.removeprefix(POOL_PREFIX)).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="benchmark")
    rows = Task.objects.filter(pool=pool).order_by("id")
    tasks = [add_mcp_servers(row.definition, pool.mcp_servers or {}) for row in rows.iterator()]
    if not tasks:
        raise Invalid("This pool has no tasks.", code="no_tasks", field="benchmark")
    server_secrets_check(tasks, pool=pool.name)
    name = f"{UNSAFE_CHARACTERS.sub('-', pool.name).strip('.-') or 'pool'}.jsonl"
    return TaskFile(name, "".join(f"{task.model_dump_json()}\n" for task in tasks), pool.image, tuple(tasks))


def _uploaded(run: BenchmarkRunIn) -> TaskFile:
    """The tasks of a file that was sent. Raises Invalid, which names the line."""
    name = run.benchmark.removeprefix(FILE_PREFIX)
    with tempfile.TemporaryDirectory(prefix="pilothouse-tasks-") as folder:
        file = Path(folder, name)
        file.write_text(run.file)
        try:
            tasks = read_tasks(file, run.image)
        except InvalidSource as error:
            raise Invalid(str(error).replace(f"{file}", name), code=error.code, field="file") from None
    server_secrets_check(tasks, pool="")
    return TaskFile(name, run.file, run.image, tuple(tasks))


def _task_words(run: BenchmarkRunIn, folder: Path, source: TaskFile | None) -> tuple[str, ...]:
    words = ["--seeds", str(run.seeds), "--first-seed", str(run.first_seed), "--parallel", str(run.parallel)]
    words += [] if run.harness is None else [f"--harness={run.harness}"]
    words += [] if run.max_steps is None else ["--max-steps", str(run.max_steps)]
    if source is None:
        what = [run.benchmark] if run.benchmark in TASK_SETS else ["--suite", run.benchmark]
        levels = [str(level) for level in run.levels] or ["all"]
        size = () if run.size is None else ("--size", "{}x{}".format(*run.size))
        return (*what, *_repeated("--level", levels), *size, *_repeated("--task", run.tasks), *words)
    path = folder / source.name
    path.write_text(source.lines)
    return ("--tasks", str(path), *(("--image", source.image) if source.image else ()), *words)


def _repeated(option: str, values: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for value in values for word in (option, value))
