"""The flywheel that an installation begins with."""

from annotation_app.accounts.models import User
from annotation_app.flywheel.drafts import draft_recipe
from annotation_app.flywheel.models import Wheel
from annotation_app.flywheel.recipe import Recipe
from annotation_app.flywheel.selectors.drafts import pool_facts
from annotation_app.policies.gate import Gate
from annotation_app.tasks.models import Pool


def flywheel_ensure(*, pool: str, owner: User) -> None:
    """A flywheel of this pool, ready for its first cycle, and a gate that judges what it makes; what is there stays.
    There is none for a pool where something is missing that only people know."""
    found = Pool.objects.select_related("policy").get(name=pool)
    draft = draft_recipe(pool_facts(found))
    if Wheel.objects.filter(pool=found).exists() or set(draft.missing) - {"gate"}:
        return
    if found.gate is None:
        found.gate = Gate(attempts=min(Gate().attempts, draft.seeds))
        found.save(update_fields=["gate"])
    Wheel.objects.create(name=pool, pool=found, recipe=Recipe.model_validate(draft.recipe), owner=owner)
