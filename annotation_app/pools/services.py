"""Changing pools; each change is in the audit log."""

import itertools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from asgiref.sync import async_to_sync
from django.db import transaction
from django.db.models import Case, F, Value, When
from django.utils import timezone
from pydantic import JsonValue, TypeAdapter, ValidationError

from annotation_app.accounts.models import Group, Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.encryption import encrypt_value
from annotation_app.episodes.services.withdrawals import (
    pool_episodes_pause,
    pool_episodes_resume,
    unauthorized_episodes_withdraw,
)
from annotation_app.errors import Conflict, Invalid, NotFound, TooLarge
from annotation_app.live.suite_tasks import suite_tasks, unsupported_tasks
from annotation_app.policies.models import PolicyRevision
from annotation_app.pools.schemas import PoolRef, PoolSettings, TaskRow, UploadReport
from annotation_app.pools.selectors import changes_since, settings_of
from annotation_app.pools.task_files import MAX_FAULTS, RowFault, TaskFile, UploadFormat, task_file_read
from annotation_app.tasks.models import Credential, Pool, TaskState
from annotation_app.tasks.services import tasks_add
from protocol.trajectory.tasks import Task

MAX_UPLOAD_BYTES = 64 * 2**20
"""Bytes of a file of tasks."""
TASKS_SHOWN = 10
"""Tasks of an upload that are shown."""
NAME_TAKEN = "Another pool has this name."
CHANGES: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


@transaction.atomic(durable=True)
def pool_create(*, user: User, settings: PoolSettings, policy_id: int | None = None) -> Pool:
    """A new pool, empty and for nobody yet. Raises Forbidden, NotFound, and Conflict for a name that is taken."""
    role_check(user, Role.ADMIN)
    if policy_id is not None and not PolicyRevision.objects.filter(pk=policy_id).exists():
        raise NotFound("There is no such revision.")
    if Pool.objects.filter(name=settings.name).exists():
        raise Conflict(NAME_TAKEN, code="name_taken")
    pool = Pool.objects.create(policy_id=policy_id, **_columns(settings))
    details = {"settings": settings.model_dump(mode="json"), "policy": policy_id}
    audit_record(actor=user, verb="pool.created", subject=f"pool:{pool.pk}", details=details)
    return pool


@transaction.atomic(durable=True)
def pools_change(*, user: User, pools: tuple[PoolRef, ...], changes: dict[str, object]) -> None:
    """Change the same settings of these pools, of all or of none. Raises Forbidden, NotFound, Invalid, and Conflict
    where somebody else changed one of them meanwhile, which says what."""
    role_check(user, Role.ADMIN)
    for ref in sorted(pools, key=lambda each: each.id):
        pool = _locked(ref.id)
        if pool.version != ref.version:
            raise _version_conflict(pool, ref.version)
        _change(user, pool, changes)


def _change(user: User, pool: Pool, changes: dict[str, object]) -> None:
    before = settings_of(pool)
    after = _validated_settings(before, changes)
    old, new = before.model_dump(mode="json"), after.model_dump(mode="json")
    changed = {name: [old[name], new[name]] for name in new if new[name] != old[name]}
    if not changed:
        return
    if not changed.keys().isdisjoint(("platform", "practice")) and pool.tasks.exists():
        raise Conflict(
            f"{pool.name} has tasks; its platform, and whether it is practice, stay as they are.", code="pool_has_tasks"
        )
    if "image" in changed and pool.tasks.filter(definition__contains='"osworld":').exists():
        raise Conflict(
            f"{pool.name} has task files of OSWorld, which machines of its image judge; its image stays as it is.",
            code="unsupported_task",
        )
    if "name" in changed and Pool.objects.filter(name=after.name).exists():
        raise Conflict(NAME_TAKEN, code="name_taken")
    for name, value in _columns(after).items():
        setattr(pool, name, value)
    pool.version += 1
    pool.consent_version += "consent" in changed
    pool.save()
    if "overlap" in changed:
        _states_count(pool)
    if not changed.keys().isdisjoint(("open_to_all", "skills")):
        unauthorized_episodes_withdraw(pool_id=pool.pk)
    details = {"version": pool.version, "changes": changed}
    audit_record(actor=user, verb="pool.changed", subject=f"pool:{pool.pk}", details=details)


def _validated_settings(before: PoolSettings, changes: dict[str, object]) -> PoolSettings:
    """Raises Invalid."""
    if unknown := changes.keys() - PoolSettings.model_fields.keys():
        raise Invalid(f"A pool has no setting {sorted(unknown)[0]!r}.", code="unknown_setting")
    try:
        return PoolSettings.model_validate_json(
            CHANGES.dump_json({**before.model_dump(mode="json"), **changes})  # type: ignore[dict-item]
        )
    except ValidationError as error:
        fields = [
            {"field": ".".join(map(str, each["loc"])), "message": each["msg"]}
            for each in error.errors(include_input=False, include_url=False)
        ]
        raise Invalid("The settings are not understood.", extra={"fields": fields}) from error


def _columns(settings: PoolSettings) -> dict[str, object]:
    return {name: getattr(settings, name) for name in PoolSettings.model_fields} | {"skills": list(settings.skills)}


def _states_count(pool: Pool) -> None:
    """Where the tasks of a pool stand with its present overlap."""
    pool.tasks.filter(gold__isnull=True).exclude(state=TaskState.BROKEN).update(
        state=Case(
            When(finished__gte=pool.overlap, then=Value(TaskState.DONE)),
            When(held__gte=pool.overlap - F("finished"), then=Value(TaskState.CLAIMED)),
            default=Value(TaskState.WAITING),
        )
    )


def _version_conflict(pool: Pool, version: int) -> Conflict:
    changed, by = changes_since(pool, version)
    return Conflict(
        f"{pool.name} was changed by {by or 'somebody else'} meanwhile.",
        code="pool_changed",
        extra={"pool": pool.pk, "name": pool.name, "version": pool.version, "by": by, "changed": changed},
    )


@transaction.atomic(durable=True)
def worker_set(*, user: User, pool_id: int, person_id: int, works: bool) -> None:
    """Let somebody work in a pool, by name, or no longer: what they have open is ended and kept. Raises Forbidden,
    NotFound, and Conflict for who does no tasks."""
    role_check(user, Role.ADMIN)
    pool, person = _locked(pool_id), User.objects.filter(pk=person_id).first()
    if person is None:
        raise NotFound("There is no such person.")
    if works and not person.has_role(Role.ANNOTATOR):
        raise Conflict(f"{person.username} is no annotator.", code="no_annotator")
    pool.members.add(person) if works else pool.members.remove(person)
    _audience_changed(user, pool, {"user": person.username, "works": works})


@transaction.atomic(durable=True)
def group_set(*, user: User, pool_id: int, group_id: int, works: bool) -> None:
    """The same for everybody of a group, now and later. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    pool, group = _locked(pool_id), Group.objects.filter(pk=group_id).first()
    if group is None:
        raise NotFound("There is no such group.")
    pool.groups.add(group) if works else pool.groups.remove(group)
    _audience_changed(user, pool, {"group": group.name, "works": works})


def _audience_changed(user: User, pool: Pool, details: dict[str, object]) -> None:
    ended = unauthorized_episodes_withdraw(pool_id=pool.pk)
    audit_record(actor=user, verb="pool.assigned", subject=f"pool:{pool.pk}", details={**details, "ended": ended})


@transaction.atomic(durable=True)
def pool_stop(*, user: User, pool_id: int, reason: str) -> int:
    """Stop everything that runs in a pool at its next step, and give nothing out; how many episodes were stopped.
    Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    pool = _locked(pool_id)
    if pool.stopped_at is not None:
        return 0
    pool.stopped_at, pool.stop_reason = timezone.now(), reason
    pool.save(update_fields=["stopped_at", "stop_reason"])
    stopped = pool_episodes_pause(pool_id=pool.pk, reason=reason)
    details = {"reason": reason, "episodes": stopped}
    audit_record(actor=user, verb="pool.stopped", subject=f"pool:{pool.pk}", details=details)
    return stopped


@transaction.atomic(durable=True)
def pool_start(*, user: User, pool_id: int) -> None:
    """Let a stopped pool go on: its people resume by themselves. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    pool = _locked(pool_id)
    if pool.stopped_at is None:
        return
    reason, pool.stopped_at, pool.stop_reason = pool.stop_reason, None, ""
    pool.save(update_fields=["stopped_at", "stop_reason"])
    pool_episodes_resume(pool_id=pool.pk, reason=reason)
    audit_record(actor=user, verb="pool.started", subject=f"pool:{pool.pk}")


@transaction.atomic(durable=True)
def credential_set(
    *, user: User, pool_id: int, name: str, value: str | None = None, rules: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Keep a value that tasks may have typed as `secret:NAME`. No page or answer shows it.

    Args:
        value: None keeps the value there is.
        rules: The `kinds`, `hosts`, `applications` and `confirm` of the credential that change.

    Raises:
        Invalid: `value_missing` for a new one without a value; `hosts_missing` where its use needs no confirmation and
            it is bound to no host and no application.
        Forbidden, NotFound
    """
    role_check(user, Role.ADMIN)
    pool = _locked(pool_id)
    credential = pool.credentials.filter(name=name).first() or Credential(pool=pool, name=name)
    if value is not None:
        credential.sealed = encrypt_value(value)
    if not credential.sealed:
        raise Invalid("A new secret needs a value.", code="value_missing")
    for field, given in rules.items():
        setattr(credential, field, list(given) if isinstance(given, tuple) else given)
    if not (credential.confirm or credential.hosts or credential.applications):
        raise Invalid(
            "Name the hosts or applications where a policy may use it without a person's word.", code="hosts_missing"
        )
    credential.save()
    bound = {field: getattr(credential, field) for field in ("kinds", "hosts", "applications", "confirm")}
    audit_record(actor=user, verb="credential.set", subject=f"pool:{pool.pk}", details={"name": name, **bound})


@transaction.atomic(durable=True)
def credential_remove(*, user: User, pool_id: int, name: str) -> None:
    """Forget a value. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    pool = _locked(pool_id)
    if not pool.credentials.filter(name=name).delete()[0]:
        raise NotFound("There is no such credential.")
    audit_record(actor=user, verb="credential.removed", subject=f"pool:{pool.pk}", details={"name": name})


def tasks_upload(*, user: User, pool_id: int, data: bytes, kind: UploadFormat, preview: bool) -> UploadReport:
    """Add the tasks of a file to a pool, all of them or, where one row is wrong or this is a preview, none. Raises
    Forbidden, NotFound, TooLarge, and Conflict when the bridge is needed and does not answer."""
    role_check(user, Role.ADMIN)
    if len(data) > MAX_UPLOAD_BYTES:
        raise TooLarge(f"A file of tasks may have {MAX_UPLOAD_BYTES} bytes.")
    pool = Pool.objects.filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.")
    upload = task_file_read(data, kind, settings_of(pool).platform)
    return _add(user, pool_id, upload.tasks, upload.faults or _unsupported_tasks(pool, upload), preview, source=kind)


def _unsupported_tasks(pool: Pool, upload: TaskFile) -> tuple[RowFault, ...]:
    """The tasks that no machine of the pool could judge. Raises Conflict when the bridge does not answer."""
    refused = async_to_sync(unsupported_tasks)(pool.image, upload.tasks)
    return tuple(
        RowFault(row=upload.rows[key], reason=reason, code="unsupported_task")
        for key, reason in itertools.islice(refused.items(), MAX_FAULTS)
    )


def suite_upload(*, user: User, pool_id: int, suite: str, preview: bool) -> UploadReport:
    """The same with the tasks that a suite of the bridge brings along. Raises Forbidden, NotFound, and Conflict when
    the bridge does not answer."""
    role_check(user, Role.ADMIN)
    pool = Pool.objects.filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.")
    tasks: tuple[Task, ...] = async_to_sync(suite_tasks)(suite)
    faults = tuple(
        RowFault(row=row, reason=f"platform: this pool's is {pool.platform}")
        for row, task in enumerate(tasks, start=1)
        if task.platform != pool.platform
    )
    return _add(user, pool_id, tasks, faults, preview, source=f"suite {suite}")


@transaction.atomic(durable=True)
def _add(
    user: User, pool_id: int, tasks: tuple[Task, ...], faults: tuple[RowFault, ...], preview: bool, *, source: str
) -> UploadReport:
    pool = _locked(pool_id)
    keys = [task.id for task in tasks]
    known = set(pool.tasks.filter(key__in=keys).values_list("key", flat=True))
    new = [task for task in tasks if task.id not in known]
    added = not faults and not preview
    if added:
        tasks_add(pool=pool, definitions=new)
        audit_record(
            actor=user, verb="tasks.loaded", subject=f"pool:{pool.pk}", details={"new": len(new), "source": source}
        )
    return UploadReport(
        added=added, new=len(new), known=len(known), faults=faults, first=tuple(map(_task_row, new[:TASKS_SHOWN]))
    )


def _task_row(task: Task) -> TaskRow:
    return TaskRow(id=0, key=task.id, instruction=task.instruction, state="waiting", done=0, gold=False)


def _locked(pool_id: int) -> Pool:
    pool = Pool.objects.select_for_update().filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.")
    return pool
