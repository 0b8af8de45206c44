"""Adding tasks to pools from files and suites."""

import itertools
from collections.abc import Iterable

from asgiref.sync import async_to_sync
from django.db import transaction

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.errors import Invalid, NotFound, TooLarge
from annotation_app.live.suite_tasks import suite_tasks, unknown_tasks, unsupported_tasks
from annotation_app.pools.schemas import SuiteChoice, TaskRow, UploadReport
from annotation_app.pools.selectors import settings_of
from annotation_app.pools.services.settings import pool_locked
from annotation_app.pools.task_files import MAX_FAULTS, RowFault, TaskFile, UploadFormat, task_file_read
from annotation_app.tasks.models import Pool
from annotation_app.tasks.services import tasks_add
from protocol.trajectory.tasks import Task, TaskVariant

MAX_UPLOAD_BYTES = 64 * 2**20
"""Bytes of a file of tasks."""
TASKS_SHOWN = 10
"""Tasks of an upload that are shown."""


def tasks_upload(*, user: User, pool_id: int, data: bytes, kind: UploadFormat, preview: bool) -> UploadReport:
    """Add the tasks of a file to a pool, all of them or, where one row is wrong or this is a preview, none. Raises
    Forbidden, NotFound, TooLarge, and Conflict when the bridge is needed and does not answer."""
    role_check(user, Role.ADMIN)
    if len(data) > MAX_UPLOAD_BYTES:
        raise TooLarge(f"A file of tasks may have {MAX_UPLOAD_BYTES} bytes.")
    pool = _pool(pool_id)
    settings = settings_of(pool)
    upload = task_file_read(data, kind, settings.platform, settings.image)
    faults = upload.faults or _bridge_faults(pool, upload)
    return _add(user, pool_id, upload.tasks, faults, preview, source=kind, gold=upload.gold)


def _pool(pool_id: int) -> Pool:
    pool = Pool.objects.filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool_id")
    return pool


def _bridge_faults(pool: Pool, upload: TaskFile) -> tuple[RowFault, ...]:
    """The tasks that the bridge does not know, and those that no machine of the pool could judge. Raises Conflict when
    the bridge does not answer."""
    unknown = async_to_sync(unknown_tasks)(upload.tasks)
    unsupported = async_to_sync(unsupported_tasks)(pool.image, upload.tasks)
    faults = itertools.chain(
        (RowFault(row=upload.rows[key], reason=reason, code="unknown_task") for key, reason in unknown.items()),
        (RowFault(row=upload.rows[key], reason=reason, code="unsupported_task") for key, reason in unsupported.items()),
    )
    return tuple(sorted(itertools.islice(faults, MAX_FAULTS), key=lambda fault: fault.row))


def suite_upload(*, user: User, pool_id: int, choice: SuiteChoice, preview: bool) -> UploadReport:
    """The same with tasks that a suite of the bridge brings along: those chosen, once for each seed. Raises Forbidden,
    NotFound, Invalid, and Conflict when the bridge does not answer."""
    role_check(user, Role.ADMIN)
    pool = _pool(pool_id)
    tasks = tuple(_suite_tasks(choice))
    faults = tuple(
        RowFault(row=row, reason=f"platform: this pool's is {pool.platform}")
        for row, task in enumerate(tasks, start=1)
        if task.platform != pool.platform
    )
    return _add(user, pool_id, tasks, faults, preview, source=f"suite {choice.suite}")


def _suite_tasks(choice: SuiteChoice) -> Iterable[Task]:
    wanted = set(choice.tasks)
    for seed in range(choice.first_seed, choice.first_seed + choice.seeds):
        variant = TaskVariant(seed=seed, level=choice.level, language=choice.language, size=choice.size)
        made = async_to_sync(suite_tasks)(choice.suite, variant)
        if missing := sorted(wanted - {task.name for task in made}):
            size = "" if choice.size is None else " and size {}x{}".format(*choice.size)
            reason = f"The suite {choice.suite} has no task {missing[0]} of level {choice.level}{size}."
            raise Invalid(reason, code="unknown_task", extra={"fields": [{"field": "tasks", "message": reason}]})
        yield from (task for task in made if not wanted or task.name in wanted)


@transaction.atomic(durable=True)
def _add(
    user: User,
    pool_id: int,
    tasks: tuple[Task, ...],
    faults: tuple[RowFault, ...],
    preview: bool,
    *,
    source: str,
    gold: frozenset[str] = frozenset(),
) -> UploadReport:
    pool = pool_locked(pool_id)
    keys = [task.id for task in tasks]
    known = set(pool.tasks.filter(key__in=keys).values_list("key", flat=True))
    new = [task for task in tasks if task.id not in known]
    added = not faults and not preview
    if added:
        tasks_add(pool=pool, definitions=new, gold=gold)
        audit_record(
            actor=user, verb="tasks.loaded", subject=f"pool:{pool.pk}", details={"new": len(new), "source": source}
        )
    return UploadReport(
        added=added, new=len(new), known=len(known), faults=faults, first=tuple(map(_task_row, new[:TASKS_SHOWN]))
    )


def _task_row(task: Task) -> TaskRow:
    return TaskRow(
        id=0,
        key=task.id,
        instruction=task.instruction,
        state="waiting",
        done=0,
        gold=False,
        max_steps=task.max_steps,
        network=task.network,
    )
