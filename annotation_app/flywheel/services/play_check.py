"""Checks, when a recipe is saved, that the pools, suite and levels that it uses exist."""

from asgiref.sync import async_to_sync

from annotation_app.errors import Invalid
from annotation_app.flywheel.recipe import SEEDED_SUITES, Recipe, RolloutSettings
from annotation_app.live.suite_tasks import machine_choices
from annotation_app.tasks.models import Pool


def play_check(recipe: Recipe, before: Recipe | None) -> None:
    """Check the pools that a recipe learns from, the pages of its gate, and what it plays, as far as they changed since
    the previous recipe. Suites are not checked while the bridge does not answer.

    Raises Invalid (`unknown_pool`, `unknown_suite`, `unknown_level`, `no_fresh_pages`) with the field.
    """
    known = set(Pool.objects.filter(name__in=recipe.pools).values_list("name", flat=True))
    for place, name in enumerate(recipe.pools):
        if name not in known and (before is None or name not in before.pools):
            raise _invalid(f"recipe.pools.{place}", f"There is no pool {name!r}.", "pool")
    if recipe.trials.fresh_pages and not recipe.trials.tries_fresh_pages:
        message = f"Fresh seeds are for the suites {', '.join(sorted(SEEDED_SUITES))}. Switch them off."
        fields = [{"field": "recipe.trials.fresh_pages", "message": message}]
        raise Invalid(message, code="no_fresh_pages", extra={"fields": fields})
    play = recipe.rl.play if recipe.rl else None
    if play is None or (before is not None and before.rl is not None and before.rl.play == play):
        return
    if play.source == "suite":
        _suite_check(play)
    elif play.pool and not Pool.objects.filter(name=play.pool).exists():
        raise _invalid("recipe.rl.play.pool", f"There is no pool {play.pool!r}.", "pool")


def _suite_check(play: RolloutSettings) -> None:
    choices = async_to_sync(machine_choices)()
    if not choices.reachable:
        return
    suite = next((suite for suite in choices.suites if suite.name == play.suite), None)
    if suite is None:
        known = ", ".join(sorted(suite.name for suite in choices.suites))
        raise _invalid("recipe.rl.play.suite", f"The bridge has no suite {play.suite!r}; there are {known}.", "suite")
    highest = max((task.levels for task in suite.tasks), default=1)
    if too_high := [level for level in play.levels if level > highest]:
        raise _invalid(
            "recipe.rl.play.levels",
            f"The suite {play.suite} has no level {too_high[0]}; its highest is {highest}.",
            "level",
        )


def _invalid(field: str, message: str, what: str) -> Invalid:
    fields = [{"field": field, "message": message}]
    return Invalid(message, code=f"unknown_{what}", extra={"fields": fields})
