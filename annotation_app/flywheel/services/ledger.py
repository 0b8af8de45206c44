"""Cycles and their stages: recorded before they begin, and completed with the result."""

from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, Max, OuterRef, QuerySet
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.audit.services import audit_record
from annotation_app.episodes.models import Episode
from annotation_app.errors import Conflict, Forbidden, Invalid, NotFound
from annotation_app.flywheel.models import Sample, Stage, StageState, Turn, TurnState, Wheel
from annotation_app.flywheel.paths import general_data_path
from annotation_app.flywheel.recipe import Recipe
from annotation_app.flywheel.services.play_check import play_check
from annotation_app.flywheel.services.server_reservation import server_unreserved_check
from annotation_app.flywheel.services.training import serving_url
from annotation_app.promotions.services import sampling_change
from annotation_app.tasks.models import Pool, Sampling, Task

MAX_UNEXPECTED_ERRORS = 3
"""Number of unexpected errors in a stage at which the cycle fails. By then, temporary faults have passed, while a
defect recurs each time."""
UNEXPECTED_ERROR_CODE, TIMEOUT_CODE = "unforeseen", "too_long"

_WEIGHTS_CHANGING = Exists(Stage.objects.filter(turn=OuterRef("pk"), name="refresh", state=StageState.BEGUN))


def turn_permission_check(user: User) -> None:
    """Raises Forbidden for anyone but admins, because a cycle may change the active policy."""
    if not user.has_role(Role.ADMIN):
        raise Forbidden("Only admins turn the wheel.")


def wheel_set(*, user: User, name: str, pool: str, recipe: Recipe, every_hours: int | None = None) -> Wheel:
    """Create a flywheel, or change its recipe. Cycles that have begun keep theirs. Raises Forbidden, NotFound,
    Conflict, and Invalid for a recipe that plays something missing."""
    turn_permission_check(user)
    found = Pool.objects.filter(name=pool).first()
    if found is None:
        raise NotFound(f"There is no pool {pool!r}.")
    known = Wheel.objects.filter(name=name).first()
    play_check(recipe, known.recipe if known is not None else None)
    fields = {"recipe": recipe, "every_hours": every_hours, "owner": user}
    with transaction.atomic(durable=True):
        wheel, _made = Wheel.objects.update_or_create(
            name=name, defaults=fields, create_defaults={"pool": found, **fields}
        )
        if wheel.pool_id != found.pk:
            raise Conflict("A wheel stays with its pool; another pool has another wheel.", code="other_pool")
        _record_change(user, wheel)
    return wheel


def wheel_add(*, user: User, name: str, pool_id: int, recipe: Recipe, every_hours: int | None, by_need: bool) -> Wheel:
    """Create a flywheel. With `by_need` its pool selects tasks by need from now on. Raises Forbidden, NotFound,
    Conflict if its name is taken, and Invalid for a recipe that reads or plays something missing."""
    turn_permission_check(user)
    pool = Pool.objects.filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool")
    _check_paths(recipe, ())
    play_check(recipe, None)
    fields = {"pool": pool, "recipe": recipe, "every_hours": every_hours, "owner": user}
    with transaction.atomic(durable=True):
        wheel, made = Wheel.objects.get_or_create(name=name, defaults=fields)
        if not made:
            raise Conflict("There is a flywheel of this name.", code="name_taken")
        if by_need and pool.sampling != Sampling.BY_NEED:
            sampling_change(user=user, pool_id=pool.pk, sampling="by_need")
        _record_change(user, wheel)
    return wheel


def wheel_change(*, user: User, wheel_id: int, recipe: Recipe, every_hours: int | None) -> Wheel:
    """Change a flywheel's recipe or schedule, in this admin's name. Cycles that have begun keep theirs. Raises
    Forbidden, NotFound, and Invalid for a recipe that reads or plays something missing."""
    turn_permission_check(user)
    known = _wheel(Wheel.objects.all(), wheel_id)
    _check_paths(recipe, _general_paths(known.recipe))
    play_check(recipe, known.recipe)
    with transaction.atomic(durable=True):
        wheel = _wheel(Wheel.objects.select_for_update(), wheel_id)
        wheel.recipe, wheel.every_hours, wheel.owner = recipe, every_hours, user
        wheel.save(update_fields=["recipe", "every_hours", "owner"])
        _record_change(user, wheel)
    return wheel


@transaction.atomic(durable=True)
def wheel_delete(*, user: User, wheel_id: int) -> None:
    """Delete a flywheel that has had no cycle. Raises Forbidden, NotFound, and Conflict for any other, because its
    cycles document the lineage of checkpoints."""
    turn_permission_check(user)
    wheel = _wheel(Wheel.objects.select_for_update(), wheel_id)
    if wheel.turns.exists():
        raise Conflict("It has had cycles, which stay. Stop its schedule instead.", code="has_cycles")
    audit_record(actor=user, verb="wheel.deleted", subject=f"wheel:{wheel.pk}", details={"name": wheel.name})
    wheel.delete()


def _wheel(wheels: QuerySet[Wheel], wheel_id: int) -> Wheel:
    """Raises NotFound."""
    wheel = wheels.filter(pk=wheel_id).first()
    if wheel is None:
        raise NotFound("There is no such flywheel.")
    return wheel


def _general_paths(recipe: Recipe) -> tuple[str, ...]:
    return tuple(path for source in recipe.general.values() for path in source.paths)


def _check_paths(recipe: Recipe, known: tuple[str, ...]) -> None:
    """Raises Invalid for general data outside the folder for it, because training data is shown to researchers. A path
    that an operator's command named before is permitted."""
    folder = general_data_path()
    for path in set(_general_paths(recipe)).difference(known):
        if not (Path(path).is_absolute() and Path(path).resolve().is_relative_to(folder.resolve())):
            message = f"{path} is not in {folder}: put general data there, or name it with configure_flywheel."
            raise Invalid(message, code="path_not_allowed")


def _record_change(user: User, wheel: Wheel) -> None:
    details = {"recipe": wheel.recipe.model_dump(mode="json"), "every_hours": wheel.every_hours}
    audit_record(actor=user, verb="wheel.set", subject=f"wheel:{wheel.pk}", details=details)


def turn_begin(*, user: User, wheel_id: int, by_clock: bool = False) -> Turn:
    """Record that a cycle begins. Raises Forbidden, NotFound, and Conflict if one is running, or if no server would
    serve its result. A scheduled cycle records that failure in its ledger, where people see it."""
    turn_permission_check(user)
    try:
        with transaction.atomic(durable=True):
            wheel = _wheels_locked().get(wheel_id)
            if wheel is None:
                raise NotFound("There is no such wheel.", field="wheel_id")
            server_unreserved_check(wheel.recipe, wheel.pk)
            last = wheel.turns.aggregate(last=Max("number"))["last"] or 0
            turn = Turn.objects.create(
                wheel=wheel,
                number=last + 1,
                recipe=_recipe_of_next_turn(wheel),
                active=wheel.pool.policy,
                by_clock=by_clock,
                requested_by=user,
            )
            if not by_clock:
                serving_url(turn)
            audit_record(actor=user, verb="wheel.turned", subject=f"turn:{turn.pk}", details={"turn": str(turn)})
    except IntegrityError:
        raise Conflict("The wheel is turning already.", code="turning") from None
    return turn


def _recipe_of_next_turn(wheel: Wheel) -> Recipe:
    """The flywheel's recipe, with the pages that its next gate tries."""
    recipe: Recipe = wheel.recipe
    earlier: list[Recipe] = [turn.recipe for turn in wheel.turns.only("recipe")]
    stepping = any(one.trials.tries_fresh_pages for one in (recipe, *earlier))
    learned = _learned_end(wheel, [recipe, *earlier]) if stepping else 0
    return recipe.model_copy(update={"trials": recipe.trials.after([one.trials for one in earlier], learned)})


def _learned_end(wheel: Wheel, recipes: Iterable[Recipe]) -> int:
    """The seed after all those of the gate's suite that a flywheel learned from as samples, or played."""
    suite = wheel.recipe.trials.seeded_suite
    learned = Sample.objects.filter(wheel=wheel, route__in=("sft", "ct"))
    tasks = Task.objects.filter(pk__in=Episode.objects.filter(pk__in=learned.values("episode")).values("task"))
    seeds = [task.definition.seed for task in tasks.only("definition").iterator() if task.definition.suite == suite]
    plays = [recipe.rl.play for recipe in recipes if recipe.rl is not None and recipe.rl.play is not None]
    ends = [play.first_seed + play.pages for play in plays if play.suite == suite]
    return max([*(seed + 1 for seed in seeds), *ends], default=0)


@transaction.atomic(durable=True)
def turn_cancel(*, user: User, turn_id: UUID) -> None:
    """Cancel a cycle. Its results are kept; one that has ended stays unchanged. Raises Forbidden, NotFound, and
    Conflict while it replaces the active revision, even if its worker died then. Half done, weights that were never
    activated would answer people."""
    turn_permission_check(user)
    turn = _turn(turn_id)
    running = Turn.objects.filter(pk=turn_id, state=TurnState.RUNNING)
    if running.filter(_WEIGHTS_CHANGING).exists():
        raise Conflict("The turn is changing the pool's policy. It cannot stop before that is done.", code="exchanging")
    if running.update(state=TurnState.CANCELLED, ended_at=timezone.now()):
        audit_record(actor=user, verb="wheel.cancelled", subject=f"turn:{turn_id}", details={"turn": str(turn)})


def turn_resume(*, user: User, turn_id: UUID) -> None:
    """Resume a cycle that failed or was cancelled, from its current stage. Only a flywheel's last cycle can be resumed.
    Raises Forbidden, NotFound and Conflict."""
    turn_permission_check(user)
    with transaction.atomic(durable=True):
        turn = _turn(turn_id)
        _wheels_locked()
        if Turn.objects.filter(wheel=turn.wheel_id, number__gt=turn.number).exists():
            raise Conflict("A later turn has begun; this one stays as it is.", code="not_last")
        server_unreserved_check(turn.recipe, turn.wheel_id)
        ended = Turn.objects.filter(pk=turn_id, state__in=(TurnState.FAILED, TurnState.CANCELLED))
        if not ended.update(state=TurnState.RUNNING, resumed_at=timezone.now(), ended_at=None):
            raise Conflict("Only a turn that failed or was cancelled is resumed.", code="not_ended")
        turn.stages.update(stumbles=0)
        audit_record(actor=user, verb="wheel.resumed", subject=f"turn:{turn_id}", details={"turn": str(turn)})


def _wheels_locked() -> dict[int, Wheel]:
    """All flywheels, locked until the transaction ends. If two cycles begin at once, the second sees the first, which
    may have reserved the model server of both."""
    wheels = Wheel.objects.select_for_update(of=("self",)).select_related("pool__policy").order_by("pk")
    return {wheel.pk: wheel for wheel in wheels}


def turn_running(*, turn_id: UUID) -> bool:
    """Whether a cycle is to continue."""
    return Turn.objects.filter(pk=turn_id, state=TurnState.RUNNING).exists()


def stage_begin(*, turn_id: UUID, name: str) -> bool:
    """Record that a stage begins or is rerun. Returns False if it is already done."""
    stage, new = Stage.objects.get_or_create(turn_id=turn_id, name=name)
    if stage.state == StageState.DONE:
        return False
    if not new:
        again = {"state": StageState.BEGUN, "tries": F("tries") + 1, "code": "", "error": ""}
        Stage.objects.filter(pk=stage.pk).update(**again)
    return True


def stage_end(*, turn_id: UUID, name: str, result: dict[str, Any]) -> None:
    """Record the result of a stage."""
    begun = Stage.objects.filter(turn_id=turn_id, name=name, state=StageState.BEGUN)
    begun.update(state=StageState.DONE, result=result, ended_at=timezone.now())


@transaction.atomic(durable=True)
def stage_fail(*, turn_id: UUID, name: str, code: str, error: str) -> None:
    """Record why a stage failed. This ends the cycle."""
    begun = Stage.objects.filter(turn_id=turn_id, name=name, state=StageState.BEGUN)
    begun.update(state=StageState.FAILED, code=code, error=error[:4000])
    turn_end(turn_id=turn_id, state=TurnState.FAILED)


def stage_error_record(*, turn_id: UUID, name: str, error: str) -> bool:
    """Record an unexpected error in, before or after a stage. Returns whether to retry. After too many of them the
    cycle fails."""
    Stage.objects.get_or_create(turn_id=turn_id, name=name, defaults={"tries": 0})
    at = Stage.objects.filter(turn_id=turn_id, name=name)
    at.update(state=StageState.BEGUN, stumbles=F("stumbles") + 1, code=UNEXPECTED_ERROR_CODE, error=error[:4000])
    if not at.filter(stumbles__gte=MAX_UNEXPECTED_ERRORS).exists():
        return True
    stage_fail(turn_id=turn_id, name=name, code=UNEXPECTED_ERROR_CODE, error=error)
    return False


def overlong_turns_fail(*, longest: timedelta) -> None:
    """Fail cycles that have run for too long since they were first started or last resumed by a person. A worker ends
    after that time, and the next one would run for just as long."""
    latest = timezone.now() - longest
    for turn in Turn.objects.filter(~_WEIGHTS_CHANGING, state=TurnState.RUNNING):
        first, at = turn.stages.first(), turn.stages.filter(state=StageState.BEGUN).last()
        if first is not None and at is not None and (turn.resumed_at or first.began_at) < latest:
            error = f"The turn took longer than {longest.days} days."
            stage_fail(turn_id=turn.pk, name=at.name, code=TIMEOUT_CODE, error=error)


def turn_end(*, turn_id: UUID, state: str = TurnState.DONE) -> None:
    """Record that a cycle has ended. A cancelled one stays cancelled."""
    running = Turn.objects.filter(pk=turn_id, state=TurnState.RUNNING)
    running.update(state=state, ended_at=timezone.now())


def _turn(turn_id: UUID) -> Turn:
    turn = Turn.objects.select_related("wheel").filter(pk=turn_id).first()
    if turn is None:
        raise NotFound("There is no such turn.", field="turn_id")
    return turn
