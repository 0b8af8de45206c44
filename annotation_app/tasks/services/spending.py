"""The cost of hosted models in a pool: reserved before a request, settled after it."""

from django.db import transaction
from django.db.models import F

from annotation_app.errors import Conflict
from annotation_app.tasks.models import PolicySpending, Pool

MICRODOLLARS = 1_000_000
"""In a US dollar."""


@transaction.atomic
def spending_reserve(*, pool_id: int, microdollars: int) -> None:
    """Set aside what a request may cost at most. Raises Conflict (`budget_spent`) where that is more than is left of
    the pool's budget; nothing is set aside then."""
    budget = Pool.objects.values_list("policy_budget", flat=True).get(pk=pool_id)
    row, _new = PolicySpending.objects.get_or_create(pool_id=pool_id)
    rows = PolicySpending.objects.filter(pool_id=pool_id)
    if budget is not None:
        rows = rows.filter(microdollars__lte=round(budget * MICRODOLLARS) - microdollars)
    if rows.update(microdollars=F("microdollars") + microdollars) == 0:
        spent = row.microdollars / MICRODOLLARS
        raise Conflict(
            f"The budget of this pool for hosted models, {budget:,.2f} USD, is spent: {spent:,.2f} USD are gone, and "
            "the next request may cost more than what is left. An admin can raise it on Pools.",
            code="budget_spent",
        )


def spending_settle(*, pool_id: int, reserved: int, spent: int) -> None:
    """Count what a request cost in place of what was set aside for it (millionths of a US dollar)."""
    PolicySpending.objects.filter(pool_id=pool_id).update(microdollars=F("microdollars") + spent - reserved)
