"""Queries on pools, tasks and assignments."""

import logging
from collections.abc import Collection, Iterable
from datetime import datetime
from functools import cache, lru_cache, partial
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils import timezone

import protocol.trajectory.tasks
from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import can_see_all_work
from annotation_app.audit.models import AuditEntry
from annotation_app.compiled_queries import CompiledQuery
from annotation_app.encryption import decrypt_value
from annotation_app.errors import Invalid
from annotation_app.natural_order import natural_key
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import PolicyServer, evaluated_kinds, policy_ref, policy_server
from annotation_app.tasks.active_hours import next_opening
from annotation_app.tasks.models import (
    Assignment,
    AssignmentState,
    Consent,
    Credential,
    Pool,
    ReviewMode,
    Tally,
    Task,
    TaskState,
)
from annotation_app.tasks.schemas import PoolSummary
from annotation_app.tasks.secret_masking import MCP_SERVER_KIND, TaskSecret, server_secret_refusal
from annotation_app.tasks.task_sampling import ProposalCounts, sampling_weight, seeded_chance
from protocol.trajectory.mcp_servers import VALUE_VARIABLE, fill_server_secrets

logger = logging.getLogger(__name__)

WEIGHTED_TASKS_LIMIT = 2_000
"""Waiting tasks of a pool that one claim weighs, at most."""
WAITING_COUNT_LIMIT = 1_000
"""Waiting tasks of a pool that are counted for a person, at most."""
NO_SUITE = '"suite":null'
"""What is in the text of a definition that names no suite."""


def pools_assigned_to(user: User) -> QuerySet[Pool]:
    """The pools whose tasks are for this person: by name, through a group, by skill, or as everybody's."""
    named = Pool.objects.filter(pk=OuterRef("pk"), members=user)
    grouped = Pool.objects.filter(pk=OuterRef("pk"), groups__members=user)
    mine = Q(open_to_all=True) | Q(Exists(named)) | Q(Exists(grouped))
    if user.skills:
        mine |= Q(skills__contained_by=user.skills) & ~Q(skills=[])
    return Pool.objects.filter(mine)


def pools_visible(user: User) -> QuerySet[Pool]:
    """The pools this person may know of."""
    return Pool.objects.all() if can_see_all_work(user) else pools_assigned_to(user)


def pools_by_image(*, waiting: bool = False) -> dict[str, list[str]]:
    """The names of pools that may give out tasks, by the machine image they need; with `waiting` those where tasks
    wait."""
    pools = Pool.objects.filter(paused=False, stopped_at__isnull=True)
    if waiting:
        pools = pools.filter(Exists(Task.objects.filter(pool=OuterRef("pk"), state=TaskState.WAITING)))
    found: dict[str, list[str]] = {}
    for image, name in pools.order_by("image", "name").values_list("image", "name"):
        found.setdefault(image, []).append(name)
    return found


def suite_tasks_waiting(*, other_than: Collection[str]) -> list[tuple[int, str, str, int]]:
    """The number and name of a pool, a kind, and how many tasks of it wait there: of suites, and not of these kinds.
    Pools that are paused or stopped are left out."""
    given_out = Task.objects.filter(state=TaskState.WAITING, pool__paused=False, pool__stopped_at__isnull=True)
    waiting = given_out.exclude(kind__in=other_than).exclude(kind="")
    of_suites = waiting.annotate(text=Cast("definition", TextField())).exclude(text__contains=NO_SUITE)
    counted = of_suites.order_by().values_list("pool", "pool__name", "kind").annotate(n=Count("pk"))
    return [(pool, name, kind, count) for pool, name, kind, count in counted]


def pools_with_tasks(user: User, *, pool_id: int | None, practice: bool) -> list[Pool]:
    """The pools that give tasks to this person now, in the order in which they are asked; `agreed` says whether they
    agreed to a pool's terms."""
    values = {"user": user.pk, **{f"skill_{number}": skill for number, skill in enumerate(user.skills)}}
    if pool_id is not None:
        values["pool"] = pool_id
    found = _pools_with_tasks(tuple(values), practice).instances(**values)
    now = timezone.now()
    return [pool for pool in found if pool.hours is None or next_opening(pool.hours, now) <= now]


@lru_cache(maxsize=100)
def _pools_with_tasks(values: tuple[str, ...], practice: bool) -> CompiledQuery[Pool]:
    """The query where these values are known; each skill is one."""

    def build(user: int, pool: int | None = None, **skills: str) -> QuerySet[Pool]:
        person = User(pk=user, skills=list(skills.values()))
        found = pools_assigned_to(person).filter(paused=False, stopped_at__isnull=True, practice=practice)
        if pool is not None:
            found = found.filter(pk=pool)
        return found.annotate(agreed=_consented(person)).order_by("-priority", "id")

    samples = {"user": -1, "pool": -2}
    return CompiledQuery(build, **{name: samples.get(name, name) for name in values})


def pools_agreed_to(user: User) -> frozenset[int]:
    """The pools to whose present terms this person has agreed."""
    given = Consent.objects.filter(annotator=user, version=F("pool__consent_version"))
    return frozenset(given.values_list("pool", flat=True))


def _consented(user: User) -> Exists:
    consents = Consent.objects.filter(pool=OuterRef("pk"), annotator=user, version=OuterRef("consent_version"))
    return Exists(consents)


HELD_STATES = (AssignmentState.ACTIVE, AssignmentState.RETURNED)
"""States of an assignment in which somebody has the task."""


def assignments_held(user: User, *, pool_id: int | None, practice: bool) -> dict[int, str]:
    """What this person holds, each with its state: what they do, and what came back to them."""
    values = {"user": user.pk} if pool_id is None else {"user": user.pk, "pool": pool_id}
    return dict(_assignments_held(tuple(values), practice).rows(**values))


@cache
def _assignments_held(values: tuple[str, ...], practice: bool) -> CompiledQuery[Assignment]:
    def build(user: int, pool: int | None = None) -> QuerySet[Assignment, tuple[int, str]]:
        held = Assignment.objects.filter(annotator=user, state__in=HELD_STATES, task__pool__practice=practice)
        if pool is not None:
            held = held.filter(task__pool_id=pool)
        return held.values_list("pk", "state")

    samples = {"user": -1, "pool": -2}
    return CompiledQuery(build, **{name: samples[name] for name in values})


def tasks_open_in(pool: Pool, user: User) -> QuerySet[Task]:
    """Waiting tasks of a pool that this person does not hold, and has not done or skipped before, or since they were
    opened again (practice repeats)."""
    met = Q(state__in=HELD_STATES)
    if not pool.practice:
        since = Q(task__reopened_at__isnull=True) | Q(created_at__gt=F("task__reopened_at"))
        met |= since & Q(state__in=(AssignmentState.DONE, AssignmentState.SKIPPED))
    # A list of their own tasks, made once: the rest is read in order from the index, as far as the first that fits. It
    # names no pool: of one just filled the database knows no statistics, and would read the whole for each of theirs.
    theirs = Assignment.objects.filter(met, annotator=user)
    return Task.objects.filter(state=TaskState.WAITING, pool=pool).exclude(pk__in=theirs.values("task_id"))


def unseen_gold_tasks(user: User, pool: Pool) -> QuerySet[Task]:
    """Tasks of a pool with a known answer, not this person's own, that they have not met."""
    met = Assignment.objects.filter(
        task=OuterRef("pk"), annotator=user, state__in=(*HELD_STATES, AssignmentState.DONE, AssignmentState.SKIPPED)
    )
    tasks = Task.objects.exclude(state__in=(TaskState.BROKEN, TaskState.WITHDRAWN))
    return tasks.filter(~Exists(met), pool=pool, gold__isnull=False)


def tasks_blinded_for(user: User) -> QuerySet[Task]:
    """Tasks on which this person sees nobody else's work: several people do them, not all have, and this person does
    one or may still be given it."""
    if not can_annotate(user):
        return Task.objects.none()
    done = Assignment.objects.filter(task=OuterRef("pk"), annotator=user, state=AssignmentState.DONE)
    held = Assignment.objects.filter(task=OuterRef("pk"), annotator=user, state__in=HELD_STATES)
    # By their numbers, so that the database takes both parts of the condition from an index.
    shared = list(pools_assigned_to(user).filter(overlap__gt=1).values_list("pk", flat=True))
    several = Q(pool__in=shared) | Q(gold__isnull=False)
    waiting = Q(state__in=(TaskState.WAITING, TaskState.CLAIMED))
    return Task.objects.filter(several & (Exists(held) | (waiting & ~Exists(done))))


def review_wanted(pool: Pool, episode_id: UUID) -> bool:
    """Whether a finished episode of this pool is to be reviewed; in a sample always the same ones are."""
    if pool.review_mode == ReviewMode.SAMPLE:
        return seeded_chance(f"review:{episode_id}", pool.review_percent)
    return pool.review_mode == ReviewMode.ALL


def _waiting_in(pool: Pool, user: User) -> int:
    """How many tasks wait for this person, as far as is worth counting."""
    return tasks_open_in(pool, user).order_by()[:WAITING_COUNT_LIMIT].count()


def pool_order(pool: Pool) -> tuple[object, ...]:
    """What lists of pools are sorted by: those that are asked first for tasks, and among these by name."""
    return -pool.priority, natural_key(pool.name)


def pools_of(*, user: User) -> list[PoolSummary]:
    """What waits for this person, pool by pool, in the order of `pool_order`."""
    now = timezone.now()
    worked = set(pools_assigned_to(user).values_list("pk", flat=True))
    done = dict(
        Assignment.objects.filter(annotator=user, state=AssignmentState.DONE)
        .values_list("task__pool_id")
        .annotate(n=Count("id"))
        .order_by()
    )
    return [
        PoolSummary(
            id=pool.id,
            name=pool.name,
            description=pool.description,
            platform=pool.platform,
            waiting=_waiting_in(pool, user) if pool.id in worked and not pool.paused and not pool.stopped_at else 0,
            mine_done=done.get(pool.id, 0),
            practice=pool.practice,
            policy=policy_ref(pool.policy),
            paused=pool.paused,
            stopped=pool.stopped_at is not None,
            stop_reason=pool.stop_reason,
            opens_at=None if pool.hours is None or (opens := next_opening(pool.hours, now)) <= now else opens,
        )
        for pool in sorted(pools_visible(user).select_related("policy"), key=pool_order)
    ]


def pool_had_credentials(*, pool_id: int, since: datetime) -> bool:
    """Whether the pool has secrets, or one of its secrets was removed after this moment."""
    removed = AuditEntry.objects.filter(subject=f"pool:{pool_id}", verb="credential.removed", at__gte=since)
    return Credential.objects.filter(pool=pool_id).exists() or removed.exists()


def credentials_of(*, pool: str) -> dict[str, TaskSecret]:
    """The secrets of the pool of this name, by name; one whose key is not there any more is left out."""
    secrets = {}
    for each in Credential.objects.filter(pool__name=pool):
        try:
            value = decrypt_value(each.sealed)
        except ValueError as error:
            logger.error("the credential %s of %s cannot be used: %s", each.name, pool, error)
            continue
        secrets[each.name] = TaskSecret(
            value, frozenset(each.kinds), tuple(each.hosts), each.confirm, tuple(each.applications)
        )
    return secrets


def server_secrets_environment(*, pool: str) -> dict[str, str]:
    """The secrets of the pool of this name that MCP servers may use, as environment variables of the programs that
    attempt its tasks."""
    secrets = credentials_of(pool=pool)
    usable = {name: secret.value for name, secret in secrets.items() if MCP_SERVER_KIND in secret.kinds}
    return {f"{VALUE_VARIABLE}{name}": value for name, value in usable.items()}


def server_secrets_check(tasks: Iterable[protocol.trajectory.tasks.Task], *, pool: str) -> None:
    """Check the MCP servers of tasks before programs attempt them: those get the pool's secrets without their rules.

    Raises Invalid (`secret_not_allowed`) where a server asks for a secret that it may not use.
    """
    secrets = credentials_of(pool=pool)
    for task in tasks:
        fill_server_secrets(task, partial(_server_value, secrets, task.id))


def _server_value(secrets: dict[str, TaskSecret], task_id: str, name: str, host: str) -> str:
    if reason := server_secret_refusal(secrets, name, host):
        raise Invalid(f"The MCP servers of the task {task_id} do not start. {reason}", code="secret_not_allowed")
    return secrets[name].value


def revision_of(pool: Pool, episode_id: UUID) -> PolicyRevision | None:
    """Who proposes in an episode now: the pool's one active revision, or the canary in its share of the episodes,
    which always are the same ones."""
    if pool.canary is not None and episode_id.int % 100 < pool.canary_share:
        return pool.canary
    return pool.policy


def policy_server_in(pool: Pool, episode_id: UUID) -> PolicyServer | None:
    """Who proposes in an episode now, within the pool's budget; None where nobody proposes."""
    return policy_server(
        revision_of(pool, episode_id),
        candidates=pool.candidates,
        pool=pool.pk,
        budget_limited=pool.policy_budget is not None,
    )


def counts_by_kind(pool: Pool) -> dict[str, ProposalCounts]:
    """What became of the active revision at each kind of task: in this pool's episodes, and in its last evaluation."""
    columns = ("accepted", "overridden", "succeeded", "failed")
    rows = Tally.objects.filter(pool=pool, revision_id=pool.policy_id).values_list("kind", *columns)
    found = {kind: ProposalCounts(**dict(zip(columns, counts, strict=True))) for kind, *counts in rows}
    for kind, (successes, attempts) in evaluated_kinds(pool.policy).items():
        seen = found.get(kind, ProposalCounts())
        found[kind] = seen.model_copy(
            update={"succeeded": seen.succeeded + successes, "failed": seen.failed + attempts - successes}
        )
    return found


def weights_of(pool: Pool, waiting: QuerySet[Task]) -> dict[int, float]:
    """How much each of the first tasks that wait is needed; the others are weighed when those are done."""
    counts = counts_by_kind(pool)
    first = (
        waiting.filter(pool=pool).order_by("position", "id").values_list("pk", "kind", "done")[:WEIGHTED_TASKS_LIMIT]
    )
    return {task: sampling_weight(counts.get(kind, ProposalCounts()), done) for task, kind, done in first}


def can_annotate(user: User) -> bool:
    """Whether they may claim tasks."""
    return user.has_role(Role.ANNOTATOR)


def pool_image(*, name: str) -> str:
    """The machine image of a pool; empty where there is none of that name."""
    return Pool.objects.filter(name=name).values_list("image", flat=True).first() or ""
