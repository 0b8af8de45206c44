"""Saying how tasks should be spread over the levels of difficulty, and guessing the level of those without one."""

from django.db import transaction

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.design.application_schemas import GuessIn, WantedSharesIn
from annotation_app.design.difficulty import guess_rubric, level_of
from annotation_app.design.models import DifficultyTarget, Placement
from annotation_app.design.selectors.balance import balanced_tasks, pool_of

BATCH = 500


@transaction.atomic(durable=True)
def wanted_shares_set(*, user: User, wanted: WantedSharesIn) -> None:
    """Keep the shares of a pool, or of all pools without their own; None deletes them. Raises Forbidden and
    NotFound."""
    role_check(user, Role.ADMIN)
    pool = None if wanted.pool is None else pool_of(pool_id=wanted.pool)
    if wanted.shares is None:
        DifficultyTarget.objects.filter(pool=pool).delete()
    else:
        DifficultyTarget.objects.update_or_create(pool=pool, defaults={"shares": wanted.shares})
    details = {"levels": list(wanted.shares.levels) if wanted.shares else None}
    audit_record(
        actor=user, verb="design.balance_changed", subject=f"pool:{pool.pk}" if pool else "graph", details=details
    )


@transaction.atomic(durable=True)
def difficulties_guess(*, user: User, wanted: GuessIn) -> int:
    """Give the tasks without a rubric the one that they themselves suggest, and return how many; a guess says that it
    is one. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    if wanted.pool is not None:
        pool_of(pool_id=wanted.pool)
    found, guessed = balanced_tasks(pool_id=wanted.pool).filter(placement__isnull=True), 0
    while tasks := list(found[:BATCH]):
        rubrics = [(task, guess_rubric(task.definition)) for task in tasks]
        Placement.objects.bulk_create(
            [Placement(task=task, rubric=rubric, level=level_of(rubric)) for task, rubric in rubrics],
            ignore_conflicts=True,
        )
        guessed += len(tasks)
    subject = f"pool:{wanted.pool}" if wanted.pool else "graph"
    audit_record(actor=user, verb="design.difficulty_guessed", subject=subject, details={"tasks": guessed})
    return guessed
