"""Queries on pools, for admins."""

from collections import defaultdict

from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotation_app.accounts.models import Group, Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes.models import OPEN_STATUSES, Episode
from annotation_app.errors import Invalid, NotFound
from annotation_app.live.missing_suites import missing_suites
from annotation_app.pools.schemas import (
    Board,
    CredentialRule,
    GroupRow,
    McpServerIn,
    PoolMcpServer,
    PoolRow,
    PoolSettings,
    PoolTasks,
    TaskCounts,
    TaskPage,
    TaskReference,
    TaskRow,
    Worker,
)
from annotation_app.tasks.active_hours import next_opening
from annotation_app.tasks.models import PolicySpending, Pool, Task
from annotation_app.tasks.selectors import pool_order
from protocol.trajectory.mcp_servers import add_mcp_servers

PAGE = 50
"""Tasks on a page."""


def settings_of(pool: Pool) -> PoolSettings:
    """What an admin sets of a pool; one made in the past may go beyond what is allowed now."""
    values = {name: getattr(pool, name) for name in PoolSettings.model_fields}
    return PoolSettings.model_construct(**{**values, "skills": tuple(pool.skills)})


def pools_page(*, user: User) -> tuple[PoolRow, ...]:
    """Every pool, those first that are asked first for tasks, and among these by name. Raises Forbidden."""
    role_check(user, Role.ADMIN)
    return _rows(Pool.objects.all())


def pool_row(*, user: User, pool_id: int) -> PoolRow:
    """One pool. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    rows = _rows(Pool.objects.filter(pk=pool_id))
    if not rows:
        raise NotFound("There is no such pool.", field="pool_id")
    return rows[0]


def _rows(pools: QuerySet[Pool]) -> tuple[PoolRow, ...]:
    related = pools.select_related("policy").prefetch_related("members", "groups", "credentials")
    found = sorted(related, key=pool_order)
    ids = [pool.pk for pool in found]
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    for pool_id, state, count in (
        Task.objects.filter(pool__in=ids).order_by().values_list("pool", "state").annotate(n=Count("*"))
    ):
        counts[pool_id][state] = count
    gold = dict(
        Task.objects.filter(pool__in=ids, gold__isnull=False).order_by().values_list("pool").annotate(n=Count("*"))
    )
    spent = dict(PolicySpending.objects.filter(pool__in=ids).values_list("pool", "microdollars"))
    opened = dict(
        Episode.objects.filter(status__in=OPEN_STATUSES, task__pool__in=ids)
        .order_by()
        .values_list("task__pool")
        .annotate(n=Count("id"))
    )
    now = timezone.now()
    return tuple(
        PoolRow(
            id=pool.pk,
            version=pool.version,
            settings=settings_of(pool),
            policy=str(pool.policy or ""),
            tasks=TaskCounts(**counts[pool.pk], gold=gold.get(pool.pk, 0)),
            open_episodes=opened.get(pool.pk, 0),
            policy_spent=spent.get(pool.pk, 0) / 1_000_000,
            stopped_at=pool.stopped_at,
            stop_reason=pool.stop_reason,
            opens_at=None if pool.hours is None or (opens := next_opening(pool.hours, now)) <= now else opens,
            credentials=tuple(each.name for each in pool.credentials.all()),
            credential_rules=tuple(
                CredentialRule(
                    name=each.name,
                    kinds=each.kinds,
                    hosts=each.hosts,
                    applications=each.applications,
                    confirm=each.confirm,
                )
                for each in pool.credentials.all()
            ),
            mcp_servers=tuple(
                PoolMcpServer(name=name, server=McpServerIn.of(server))
                for name, server in (pool.mcp_servers or {}).items()
            ),
            members=tuple(person.pk for person in pool.members.all()),
            groups=tuple(group.pk for group in pool.groups.all()),
        )
        for pool in found
    )


def board(*, user: User) -> Board:
    """Who works where. Raises Forbidden."""
    pools = pools_page(user=user)
    people = User.objects.filter(Q(roles__contains=[Role.ANNOTATOR]), is_active=True).prefetch_related("teams")
    return Board(
        pools=pools,
        people=tuple(
            Worker(
                id=person.pk,
                username=person.username,
                name=person.name,
                skills=tuple(person.skills),
                groups=tuple(group.pk for group in person.teams.all()),
            )
            for person in people.order_by("username")
        ),
        groups=tuple(
            GroupRow(id=group.pk, name=group.name, size=group.size)
            for group in Group.objects.annotate(size=Count("members"))
        ),
        missing_suites=missing_suites(),
    )


def task_row(task: Task) -> TaskRow:
    """A task in a list."""
    return TaskRow(
        id=task.pk or 0,
        key=task.key,
        instruction=task.definition.instruction,
        state=task.state,
        done=task.done,
        gold=task.gold_id is not None,
        gold_wanted=task.gold_wanted,
        max_steps=task.definition.max_steps,
        network=task.definition.network,
        reference=task.gold_id,
    )


def task_references(*, user: User, task_id: int) -> tuple[TaskReference, ...]:
    """The finished episodes of a task, the newest first. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN, Role.REVIEWER)
    if not Task.objects.filter(pk=task_id).exists():
        raise NotFound("There is no such task.")
    found = Episode.objects.filter(task_id=task_id, status="finished").select_related("annotator")
    return tuple(
        TaskReference(
            id=episode.pk,
            annotator=episode.annotator.name,
            outcome=episode.outcome,
            review=episode.review,
            steps=episode.n,
            finished_at=episode.finished_at,
        )
        for episode in found.annotate(n=Count("steps")).order_by("-finished_at")[:PAGE]
    )


def tasks_page(*, user: User, pool_id: int, search: str = "", state: str = "", after: str = "") -> TaskPage:
    """Tasks of a pool in order, those behind `after`, as the page before named it; a search finds words of the
    definition, the last one by its beginning. Raises Forbidden, NotFound and Invalid."""
    role_check(user, Role.ADMIN)
    if not Pool.objects.filter(pk=pool_id).exists():
        raise NotFound("There is no such pool.", field="pool_id")
    found = Task.objects.filter(pool_id=pool_id)
    if state:
        found = found.filter(state=state)
    if words := "".join(each if each.isalnum() else " " for each in search).split():
        query = " & ".join([*words[:-1], f"{words[-1]}:*"])
        found = found.annotate(words=SearchVector("definition", config="simple")).filter(
            words=SearchQuery(query, search_type="raw", config="simple")
        )
    if after:
        position, _, number = after.partition(".")
        if not (position.removeprefix("-").isdecimal() and number.isdecimal() and len(after) < 30):
            raise Invalid("This is no place in the list.", code="invalid_after", field="after")
        found = found.filter(Q(position__gt=int(position)) | Q(position=int(position), id__gt=int(number)))
    rows = list(found.order_by("position", "id")[: PAGE + 1])
    more = rows[PAGE - 1] if len(rows) > PAGE else None
    return TaskPage(
        items=tuple(map(task_row, rows[:PAGE])), after=f"{more.position}.{more.pk}" if more is not None else None
    )


def task_definitions(*, user: User, name: str, after: int = 0) -> PoolTasks:
    """The tasks of a pool with its MCP servers, in order of their numbers, those after one, as programs play them.

    Raises Forbidden and NotFound.
    """
    role_check(user, Role.ADMIN)
    pool = Pool.objects.filter(name=name).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool")
    rows = list(Task.objects.filter(pool=pool, id__gt=after).order_by("id")[: PAGE + 1])
    return PoolTasks(
        image=pool.image,
        items=tuple(add_mcp_servers(row.definition, pool.mcp_servers or {}) for row in rows[:PAGE]),
        after=rows[PAGE - 1].pk if len(rows) > PAGE else None,
    )


def changes_since(pool: Pool, version: int) -> tuple[dict[str, list[object]], str]:
    """What was changed in a pool since a version, each setting with its value before and now, and by whom last."""
    entries = AuditEntry.objects.filter(subject=f"pool:{pool.pk}", verb="pool.changed", details__version__gt=version)
    changed: dict[str, list[object]] = {}
    by = ""
    for entry in entries.select_related("actor").order_by("id"):
        by = entry.actor.username if entry.actor else ""
        for name, (before, now) in entry.details["changes"].items():
            changed[name] = [changed[name][0] if name in changed else before, now]
    return changed, by
