"""What is in pools: their tasks, which of them are gold, and what became of proposals."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import F, Max

import protocol.trajectory.tasks
from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, NotFound
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Pool, Tally, Task
from annotation_app.tasks.services.claims import state_of
from annotation_app.tasks.task_sampling import ProposalCounts
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import task_kind

BATCH = 1_000
"""Tasks written in one statement."""


def tally_add(*, task: Task, counts: Mapping[PolicyRef, ProposalCounts]) -> None:
    """Count what became of the policies' proposals in an episode of this task that ended. Runs inside the caller's
    transaction; rows are taken in one order, so that two ends at once do not wait for each other in a circle."""
    named = {(policy.name, policy.revision): count for policy, count in counts.items()}
    revisions = PolicyRevision.objects.filter(name__in={name for name, _ in named}).order_by("pk")
    for revision in revisions:
        count = named.get((revision.name, revision.revision))
        if count is not None:
            row, _ = Tally.objects.get_or_create(pool_id=task.pool_id, revision=revision, kind=task.kind)
            more = {column: F(column) + value for column, value in count.model_dump().items()}
            Tally.objects.filter(pk=row.pk).update(**more)


def pool_ensure(*, name: str, members: list[User], **settings: object) -> Pool:
    """The pool of this name, made with these settings where there is none."""
    pool, made = Pool.objects.get_or_create(name=name, defaults=settings)
    if made:
        pool.members.set(members)
    return pool


def tasks_add(*, pool: Pool, definitions: Sequence[protocol.trajectory.tasks.Task], gold: Collection[str] = ()) -> int:
    """Add the definitions the pool does not have yet behind its others, in this order; how many were new.

    Those with an id in `gold` are to become gold (`Task.gold_wanted`). Runs inside the caller's transaction, with the
    pool locked where others may add to it.
    """
    keys = [definition.id for definition in definitions]
    known = set(pool.tasks.filter(key__in=keys).values_list("key", flat=True))
    last = pool.tasks.aggregate(last=Max("position"))["last"]
    new = [definition for definition in definitions if definition.id not in known]
    Task.objects.bulk_create(
        (
            Task(
                pool=pool,
                key=definition.id,
                definition=definition,
                position=position,
                kind=task_kind(definition),
                gold_wanted=definition.id in gold,
            )
            for position, definition in enumerate(new, start=0 if last is None else last + 1)
        ),
        batch_size=BATCH,
    )
    return len(new)


@transaction.atomic(durable=True)
def tasks_load(
    *,
    definitions: Sequence[protocol.trajectory.tasks.Task],
    pool_name: str = "",
    pool_id: int = 0,
    user: User | None = None,
) -> int:
    """Add tasks to the pool of this name or number; how many it did not have yet. Raises NotFound, and Conflict for an
    id given twice."""
    chosen = {"name": pool_name} if pool_name else {"pk": pool_id}
    pool = Pool.objects.select_for_update().filter(**chosen).first()
    if pool is None:
        raise NotFound(f"There is no pool {pool_name!r}." if pool_name else "There is no such pool.")
    return _load(pool, definitions, user)


@transaction.atomic(durable=True)
def task_pool_ensure(
    *, name: str, worker: User, definitions: Sequence[protocol.trajectory.tasks.Task], **settings: object
) -> tuple[Pool, int]:
    """The pool of this name with these tasks, in which this person works; made with these settings where there is none.
    Gives also how many tasks it did not have yet. Raises Conflict for an id given twice."""
    made = pool_ensure(name=name, members=[worker], **settings)
    pool = Pool.objects.select_for_update().get(pk=made.pk)
    pool.members.add(worker)
    return pool, _load(pool, definitions, None)


def _load(pool: Pool, definitions: Sequence[protocol.trajectory.tasks.Task], user: User | None) -> int:
    twice = [key for key, count in Counter(definition.id for definition in definitions).items() if count > 1]
    if twice:
        raise Conflict(f"The id {twice[0]!r} is there twice.", code="duplicate_task")
    new = tasks_add(pool=pool, definitions=definitions)
    audit_record(actor=user, verb="tasks.loaded", subject=f"pool:{pool.pk}", details={"new": new})
    return new


@transaction.atomic(durable=True)
def gold_set(*, user: User, task_id: int, episode_id: UUID | None) -> None:
    """Let an episode show how its task is done well, so that people are measured by it; None: the task is one of many
    again. Raises Forbidden, NotFound, and Conflict for an episode that is not a finished one of this task."""
    role_check(user, Role.ADMIN, Role.REVIEWER)
    task = Task.objects.select_for_update(of=("self",)).select_related("pool").filter(pk=task_id).first()
    if task is None:
        raise NotFound("There is no such task.", field="task_id")
    if episode_id is not None and not task.episodes.filter(pk=episode_id, status="finished").exists():
        raise Conflict("A task is measured by a finished episode of its own.", code="no_reference")
    if task.held and episode_id is not None and task.gold_id is None:
        raise Conflict("An annotator is doing this task; wait until they have finished.", code="task_held")
    task.gold_id = episode_id
    task.state = state_of(task)
    task.save(update_fields=["gold", "state"])
    details = {"episode": str(episode_id or "")}
    audit_record(actor=user, verb="task.gold_set", subject=f"task:{task.pk}", details=details)
