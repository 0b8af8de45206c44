"""The first flywheel of an installation, and the address of its policy server."""

from annotation_app.accounts.models import User
from annotation_app.flywheel.drafts import draft_recipe
from annotation_app.flywheel.models import Wheel
from annotation_app.flywheel.recipe import Recipe, server_root
from annotation_app.flywheel.selectors.drafts import pool_facts
from annotation_app.policies.gate import Gate
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Pool


def flywheel_ensure(*, pool: str, owner: User) -> None:
    """Create a flywheel for this pool, ready for its first cycle, and a gate that judges its results, unless they
    exist. Creates none if the recipe needs information that only a person has."""
    found = Pool.objects.select_related("policy").get(name=pool)
    draft = draft_recipe(pool_facts(found))
    if Wheel.objects.filter(pool=found).exists() or set(draft.missing) - {"gate"}:
        return
    if found.gate is None:
        found.gate = Gate(attempts=min(Gate().attempts, draft.seeds), improvement="estimated")
        found.save(update_fields=["gate"])
    Wheel.objects.create(name=pool, pool=found, recipe=Recipe.model_validate(draft.recipe), owner=owner)


def policy_server_moved(*, before: str, now: str) -> None:
    """Replace the address of a moved model server in revisions, and in flywheels that load weights into it."""
    PolicyRevision.objects.filter(base_url=before).update(base_url=now)
    for wheel in Wheel.objects.select_for_update():
        if wheel.recipe.server and server_root(wheel.recipe.server) == server_root(before):
            wheel.recipe = wheel.recipe.model_copy(update={"server": server_root(now)})
            wheel.save(update_fields=["recipe"])
