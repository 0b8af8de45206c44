"""Changing pools' tasks, the leases on them, and what goes with both: the only writers of their tables."""

from annotation_app.tasks.services.changes import gold_adopt, gold_want, task_change, tasks_delete, tasks_withdraw
from annotation_app.tasks.services.claims import (
    assignment_claim,
    assignment_end,
    assignment_return,
    lease_end,
    task_open_again,
    task_reopen,
)
from annotation_app.tasks.services.consents import consent_check, consent_give
from annotation_app.tasks.services.contents import (
    gold_set,
    pool_ensure,
    tally_add,
    task_pool_ensure,
    tasks_add,
    tasks_load,
)
from annotation_app.tasks.services.spending import spending_reserve, spending_settle

__all__ = [
    "assignment_claim",
    "assignment_end",
    "assignment_return",
    "consent_check",
    "consent_give",
    "gold_adopt",
    "gold_set",
    "gold_want",
    "lease_end",
    "pool_ensure",
    "spending_reserve",
    "spending_settle",
    "tally_add",
    "task_change",
    "task_open_again",
    "task_pool_ensure",
    "task_reopen",
    "tasks_add",
    "tasks_delete",
    "tasks_load",
    "tasks_withdraw",
]
