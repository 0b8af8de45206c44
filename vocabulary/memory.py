"""What a policy is reminded of: how many screenshots in full, and how much of the older past as text.

Shared, because a policy trained on other histories than it is served with would be another policy.
"""

from pydantic import Field

from vocabulary.base import Frozen
from vocabulary.steps import Step


class Budget(Frozen):
    """Bounds of a prompt's history: screenshots (the present one included) and characters of thoughts and actions."""

    images: int = Field(default=5, ge=1)
    characters: int = Field(default=24_000, ge=0)


def recalled(steps: tuple[Step, ...], budget: Budget) -> tuple[Step, ...]:
    """The latest steps whose thoughts and actions fit the budget, in order; those with a picture always fit.

    What is cut is the oldest, so a long episode is forgotten from its beginning and no prompt outgrows its model.
    """
    left = budget.characters
    kept = 0
    for step in reversed(steps):
        left -= len(step.thought) + len(step.action.model_dump_json())
        if left < 0 and kept >= budget.images - 1:
            break
        kept += 1
    return steps[len(steps) - kept :]
