"""Starting, resuming and cancelling benchmark runs."""

import json
import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

from agent_backend.benchmark.manifest import ATTEMPTS_FOLDER, TASK_SETS
from agent_backend.rollout.options import EXPERT
from agent_backend.rollout.progress import cancel_path
from agent_backend.trajectory_folders import write_atomically
from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.benchmark_runs import commands, selectors
from annotation_app.benchmark_runs.jobs import run_spawn_job
from annotation_app.benchmark_runs.schemas import BenchmarkRunIn
from annotation_app.errors import Conflict, Invalid, NotFound
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.models import Provider as ProviderChoice
from annotation_app.tasks.models import Pool, Task
from annotation_app.tasks.selectors import server_secrets_check
from protocol.base import JsonObject
from protocol.trajectory.mcp_servers import add_mcp_servers

UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")


def run_start(*, user: User, run: BenchmarkRunIn) -> str:
    """Have a run begun by a worker. Returns its name. Raises Forbidden, NotFound and Invalid."""
    role_check(user, Role.ADMIN)
    revision = None
    if run.revision is not None:
        revision = PolicyRevision.objects.filter(pk=run.revision).first()
        if revision is None:
            raise NotFound("There is no such revision.", field="revision")
    if run.harness is not None and (revision is None or run.benchmark not in TASK_SETS):
        message = f"The harness is for revisions, at {', '.join(TASK_SETS)}."
        raise Invalid(message, code="no_harness", field="harness")
    name = f"{run.benchmark.removeprefix(commands.POOL_PREFIX)}-{_run_label(revision)}-{secrets.token_hex(3)}"
    folder = selectors.runs_folder() / UNSAFE_CHARACTERS.sub("-", name).lstrip("._-")[-200:]
    tasks = _pool_lines(run)
    folder.mkdir(parents=True)
    request = commands.RunRequest(
        benchmark=run.benchmark,
        policy=EXPERT if revision is None else revision.name,
        revision=EXPERT if revision is None else revision.revision,
        words=(*_task_words(run, folder, tasks), *_policy_words(revision)),
        base_url="" if revision is None else revision.base_url,
        harness=run.harness is not None,
        at=datetime.now(UTC),
    )
    write_atomically(folder / commands.REQUEST_FILE, request.model_dump_json(indent=1).encode() + b"\n")
    audit_record(actor=user, verb="benchmark.started", subject=f"benchmark:{folder.name}")
    run_spawn_job.delay(folder.name)
    return folder.name


def run_resume(*, user: User, name: str) -> None:
    """Have a run of the web app begun again where it ended. Raises Forbidden, NotFound, and Conflict where it runs,
    has finished or was started on the command line."""
    role_check(user, Role.ADMIN)
    folder = selectors.run_path(user=user, name=name)
    if commands.read_request(folder) is None:
        raise Conflict("This run was started on the command line: resume it there.", code="not_started_here")
    if selectors.is_finished(folder) or commands.is_running(folder):
        raise Conflict("This run has finished, or its command runs.", code="not_interrupted")
    audit_record(actor=user, verb="benchmark.resumed", subject=f"benchmark:{name}")
    run_spawn_job.delay(name)


def run_cancel(*, user: User, name: str) -> None:
    """Let a run begin no further attempt; those that run end, and what was made is kept. Raises Forbidden and
    NotFound."""
    role_check(user, Role.ADMIN)
    cancel_path(selectors.run_path(user=user, name=name) / ATTEMPTS_FOLDER).touch()
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


def _run_label(revision: PolicyRevision | None) -> str:
    """Who acts, in the name of a run."""
    return EXPERT if revision is None else f"{revision.name}-{revision.revision}"


def _pool_lines(run: BenchmarkRunIn) -> tuple[Pool, str] | None:
    """A pool and its tasks, a line each; None where the run is of a suite. Raises NotFound and Invalid."""
    if not run.benchmark.startswith(commands.POOL_PREFIX):
        return None
    pool = Pool.objects.filter(name=run.benchmark.removeprefix(commands.POOL_PREFIX)).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="benchmark")
    rows = Task.objects.filter(pool=pool).order_by("id")
    tasks = [add_mcp_servers(row.definition, pool.mcp_servers or {}) for row in rows.iterator()]
    if not tasks:
        raise Invalid("This pool has no tasks.", code="no_tasks", field="benchmark")
    server_secrets_check(tasks, pool=pool.name)
    return pool, "".join(f"{task.model_dump_json()}\n" for task in tasks)


def _task_words(run: BenchmarkRunIn, folder: Path, tasks: tuple[Pool, str] | None) -> tuple[str, ...]:
    words = ["--seeds", str(run.seeds), "--parallel", str(run.parallel)]
    words += [] if run.harness is None else [f"--harness={run.harness}"]
    words += [] if run.max_steps is None else ["--max-steps", str(run.max_steps)]
    if tasks is None:
        what = (run.benchmark,) if run.benchmark in TASK_SETS else ("--suite", run.benchmark)
        return (*what, *(("--level", "all") if run.all_levels else ()), *words)
    pool, lines = tasks
    source = folder / f"{UNSAFE_CHARACTERS.sub('-', pool.name).strip('.-') or 'pool'}.jsonl"
    source.write_text(lines)
    return ("--tasks", str(source), "--image", pool.image, *words)
