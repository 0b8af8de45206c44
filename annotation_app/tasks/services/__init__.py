"""Changing pools' tasks, the leases on them, and what goes with both: the only writers of their tables."""

from annotation_app.tasks.services.claims import (
    assignment_claim,
    assignment_end,
    assignment_return,
    lease_end,
    task_open_again,
    task_reopen,
)
from annotation_app.tasks.services.consents import consent_give
from annotation_app.tasks.services.contents import gold_set, pool_ensure, tally_add, tasks_add, tasks_load
from annotation_app.tasks.services.spending import spending_reserve, spending_settle

__all__ = [
    "assignment_claim",
    "assignment_end",
    "assignment_return",
    "consent_give",
    "gold_set",
    "lease_end",
    "pool_ensure",
    "spending_reserve",
    "spending_settle",
    "tally_add",
    "task_open_again",
    "task_reopen",
    "tasks_add",
    "tasks_load",
]
