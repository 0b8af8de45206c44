"""Facts about a pool for a draft recipe."""

from collections import Counter

from annotation_app.accounts.models import User
from annotation_app.errors import NotFound
from annotation_app.flywheel.drafts import PoolFacts, RecipeDraft, draft_recipe
from annotation_app.flywheel.recipe import server_root
from annotation_app.flywheel.selectors.turns import flywheel_reader_check
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Pool, Task

TASKS_LOOKED_AT = 2_000
"""Number of a pool's tasks that are read to find its suite."""


def recipe_draft(*, user: User, pool_id: int) -> RecipeDraft:
    """A draft recipe for a pool. Raises Forbidden and NotFound."""
    flywheel_reader_check(user)
    pool = Pool.objects.select_related("policy").filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool")
    return draft_recipe(pool_facts(pool))


def pool_facts(pool: Pool) -> PoolFacts:
    """The facts about a pool that a recipe needs."""
    suite, names, size = _suite(pool)
    return PoolFacts(
        name=pool.name, suite=suite, tasks=names, size=size, has_gate=pool.gate is not None, **_trained(pool.policy)
    )


def _trained(active: PolicyRevision | None) -> dict[str, str]:
    if active is None or active.scripted or active.teacher:
        return {}
    return {
        "policy": active.name,
        "dialect": active.dialect,
        "checkpoint": active.checkpoint,
        "server": server_root(active.base_url),
    }


def _suite(pool: Pool) -> tuple[str, tuple[str, ...], str]:
    """The suite of most tasks, the names of its tasks, and the screen size if it is set."""
    definitions = [
        task.definition
        for task in Task.objects.filter(pool=pool).only("definition")[:TASKS_LOOKED_AT]
        if task.definition.suite and task.definition.name
    ]
    if not definitions:
        return "", (), ""
    suite = Counter(definition.suite for definition in definitions).most_common(1)[0][0]
    own = [definition for definition in definitions if definition.suite == suite]
    size = own[0].parameters.get("size")
    text = "x".join(map(str, size)) if isinstance(size, list | tuple) and len(size) == 2 else ""
    return suite or "", tuple(dict.fromkeys(definition.name or "" for definition in own)), text
