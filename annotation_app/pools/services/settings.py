"""Changing pools: their settings, people and secrets."""

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
from annotation_app.errors import Conflict, Invalid, NotFound
from annotation_app.live.suite_tasks import MachineChoices, machine_choices
from annotation_app.policies.models import PolicyRevision
from annotation_app.pools.schemas import PoolRef, PoolSettings
from annotation_app.pools.selectors import changes_since, settings_of
from annotation_app.tasks.models import Credential, Pool, TaskState
from annotation_app.tasks.secret_masking import server_secret_refusal
from annotation_app.tasks.selectors import credentials_of
from protocol.trajectory.mcp_servers import find_server_secrets

NAME_TAKEN = "Another pool has this name."
CHANGES: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


def pool_create(*, user: User, settings: PoolSettings, policy_id: int | None = None) -> Pool:
    """Make a new pool, without tasks and people.

    Raises Forbidden, NotFound, Conflict for a name that is taken, and Invalid for an image that no host makes.
    """
    role_check(user, Role.ADMIN)
    image_check(settings.image)
    return _create(user, settings, policy_id)


@transaction.atomic(durable=True)
def _create(user: User, settings: PoolSettings, policy_id: int | None) -> Pool:
    if policy_id is not None and not PolicyRevision.objects.filter(pk=policy_id, retired_at__isnull=True).exists():
        raise NotFound("There is no such revision.", field="policy")
    if Pool.objects.filter(name=settings.name).exists():
        raise Conflict(NAME_TAKEN, code="name_taken", field="name")
    pool = Pool.objects.create(policy_id=policy_id, **_columns(settings))
    details = {"settings": settings.model_dump(mode="json"), "policy": policy_id}
    audit_record(actor=user, verb="pool.created", subject=f"pool:{pool.pk}", details=details)
    return pool


def choices(*, user: User) -> MachineChoices:
    """What settings and tasks of pools are chosen from. Raises Forbidden."""
    role_check(user, Role.ADMIN)
    return async_to_sync(machine_choices)()


def image_check(image: str) -> None:
    """Raises Invalid where hosts report their images and none makes this one."""
    images = async_to_sync(machine_choices)().images
    if images and image not in images:
        reason = f"No host makes the machine image {image}; there are {', '.join(images)}."
        raise Invalid(
            reason, code="unknown_image", extra={"fields": [{"field": "image", "message": reason}], "images": images}
        )


def pools_change(*, user: User, pools: tuple[PoolRef, ...], changes: dict[str, object]) -> None:
    """Change the same settings of these pools, of all or of none. Raises Forbidden, NotFound, Invalid, and Conflict
    where somebody else changed one of them meanwhile, which says what."""
    role_check(user, Role.ADMIN)
    if isinstance(image := changes.get("image"), str):
        image_check(image)
    _change_all(user, pools, changes)


@transaction.atomic(durable=True)
def _change_all(user: User, pools: tuple[PoolRef, ...], changes: dict[str, object]) -> None:
    for ref in sorted(pools, key=lambda each: each.id):
        pool = pool_locked(ref.id)
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
        raise Conflict(NAME_TAKEN, code="name_taken", field="name")
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
        name = sorted(unknown)[0]
        raise Invalid(f"A pool has no setting {name!r}.", code="unknown_setting", field=name)
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
    """The states of a pool's tasks with its present overlap."""
    pool.tasks.filter(gold__isnull=True).exclude(state__in=(TaskState.BROKEN, TaskState.WITHDRAWN)).update(
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
    pool, person = pool_locked(pool_id), User.objects.filter(pk=person_id).first()
    if person is None:
        raise NotFound("There is no such person.", field="person_id")
    if works and not person.has_role(Role.ANNOTATOR):
        raise Conflict(f"{person.username} is no annotator.", code="no_annotator")
    pool.members.add(person) if works else pool.members.remove(person)
    _audience_changed(user, pool, {"user": person.username, "works": works})


@transaction.atomic(durable=True)
def group_set(*, user: User, pool_id: int, group_id: int, works: bool) -> None:
    """The same for everybody of a group, now and later. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    pool, group = pool_locked(pool_id), Group.objects.filter(pk=group_id).first()
    if group is None:
        raise NotFound("There is no such group.", field="group_id")
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
    pool = pool_locked(pool_id)
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
    """Restart a stopped pool. Its people resume by themselves. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    pool = pool_locked(pool_id)
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
        Conflict: `credential_in_use` where an MCP server of the pool uses it otherwise.
        Forbidden, NotFound
    """
    role_check(user, Role.ADMIN)
    pool = pool_locked(pool_id)
    credential = pool.credentials.filter(name=name).first() or Credential(pool=pool, name=name)
    if value is not None:
        credential.sealed = encrypt_value(value)
    if not credential.sealed:
        raise Invalid("A new secret needs a value.", code="value_missing", field="value")
    for field, given in rules.items():
        setattr(credential, field, list(given) if isinstance(given, tuple) else given)
    if not (credential.confirm or credential.hosts or credential.applications):
        raise Invalid(
            "Name the hosts or applications where a policy may use it without a person's word.",
            code="hosts_missing",
            field="hosts",
        )
    credential.save()
    _check_servers(pool)
    bound = {field: getattr(credential, field) for field in ("kinds", "hosts", "applications", "confirm")}
    audit_record(actor=user, verb="credential.set", subject=f"pool:{pool.pk}", details={"name": name, **bound})


@transaction.atomic(durable=True)
def credential_remove(*, user: User, pool_id: int, name: str) -> None:
    """Forget a value. Raises Forbidden, NotFound, and Conflict (`credential_in_use`)."""
    role_check(user, Role.ADMIN)
    pool = pool_locked(pool_id)
    if not pool.credentials.filter(name=name).delete()[0]:
        raise NotFound("There is no such credential.")
    _check_servers(pool)
    audit_record(actor=user, verb="credential.removed", subject=f"pool:{pool.pk}", details={"name": name})


def _check_servers(pool: Pool) -> None:
    """Raises Conflict where an MCP server of the pool may not use a secret that it asks for; the change is undone."""
    rules = credentials_of(pool=pool.name)
    for server, host, name in find_server_secrets(pool.mcp_servers or {}):
        if reason := server_secret_refusal(rules, name, host):
            raise Conflict(f"The MCP server {server} uses it. {reason}", code="credential_in_use")


def pool_locked(pool_id: int) -> Pool:
    """The pool, its row locked until the transaction ends. Raises NotFound."""
    pool = Pool.objects.select_for_update().filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool_id")
    return pool
