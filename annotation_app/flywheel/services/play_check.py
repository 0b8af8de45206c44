"""Whether the pool, suite and levels that a recipe plays are there, as it is saved."""

from asgiref.sync import async_to_sync

from annotation_app.errors import Invalid
from annotation_app.flywheel.recipe import Recipe, RolloutSettings
from annotation_app.live.suite_tasks import machine_choices
from annotation_app.tasks.models import Pool


def play_check(recipe: Recipe, before: Recipe | None) -> None:
    """Check what a recipe plays, unless the recipe before it played the same. Suites are not checked while the bridge
    does not answer.

    Raises Invalid (`unknown_pool`, `unknown_suite`, `unknown_level`) with the field.
    """
    play = recipe.rl.play if recipe.rl else None
    if play is None or (before is not None and before.rl is not None and before.rl.play == play):
        return
    if play.source == "suite":
        _suite_check(play)
    elif play.pool and not Pool.objects.filter(name=play.pool).exists():
        raise _invalid("pool", f"There is no pool {play.pool!r}.")


def _suite_check(play: RolloutSettings) -> None:
    choices = async_to_sync(machine_choices)()
    if not choices.reachable:
        return
    suite = next((suite for suite in choices.suites if suite.name == play.suite), None)
    if suite is None:
        known = ", ".join(sorted(suite.name for suite in choices.suites))
        raise _invalid("suite", f"The bridge has no suite {play.suite!r}; there are {known}.")
    highest = max((task.levels for task in suite.tasks), default=1)
    if too_high := [level for level in play.levels if level > highest]:
        raise _invalid(
            "levels", f"The suite {play.suite} has no level {too_high[0]}; its highest is {highest}.", "level"
        )


def _invalid(field: str, message: str, what: str = "") -> Invalid:
    fields = [{"field": f"recipe.rl.play.{field}", "message": message}]
    return Invalid(message, code=f"unknown_{what or field}", extra={"fields": fields})
