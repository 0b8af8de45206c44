"""The pools that a flywheel learns from."""

from annotation_app.errors import Conflict
from annotation_app.flywheel.models import Turn, Wheel
from annotation_app.flywheel.recipe import Recipe
from annotation_app.tasks.models import Pool


def pools_of(wheel: Wheel, recipe: Recipe) -> tuple[Pool, ...]:
    """The flywheel's own pool and the others that a recipe learns from. Raises Conflict if one does not exist."""
    names = [name for name in dict.fromkeys(recipe.pools) if name != wheel.pool.name]
    found = {pool.name: pool for pool in Pool.objects.filter(name__in=names)}
    for name in names:
        if name not in found:
            raise Conflict(f"There is no pool {name!r} to learn from.", code="unknown_pool")
    return (wheel.pool, *(found[name] for name in names))


def turn_pools(turn: Turn) -> tuple[Pool, ...]:
    """The pools that a cycle learns from, its flywheel's own first. Raises Conflict if one does not exist."""
    return pools_of(turn.wheel, turn.recipe)
