"""Flywheels and their cycles."""

from pathlib import Path
from typing import Any, get_args
from uuid import UUID

from django.db.models import Count, Prefetch, Q, QuerySet, Sum

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.errors import NotFound
from annotation_app.flywheel.curves import TRAININGS, read_curves
from annotation_app.flywheel.models import Checkpoint, Sample, Stage, Turn, TurnState, Wheel
from annotation_app.flywheel.schemas import (
    CheckpointOut,
    PlayedOut,
    RouteCounts,
    SampleOut,
    SamplePage,
    Source,
    StageOut,
    TurnOut,
    TurnRow,
    WheelOut,
)
from annotation_app.flywheel.selectors.people import gate_gain, people_time
from annotation_app.flywheel.selectors.reports import gate_report_id
from annotation_app.policies.gate import Reason
from annotation_app.policies.models import Evaluation, PolicyRevision
from annotation_app.queues import training_worker_alive
from annotation_app.tasks.models import Pool, Tally
from protocol.evaluation.reports import Rate, TaskChange
from protocol.evaluation.statistics import wilson_rate

TURNS_SHOWN = 30
"""Most cycles of a flywheel that are shown, the newest."""
PAGE_SIZE = 50


def flywheel_reader_check(user: User) -> None:
    """Raises Forbidden for anyone but researchers and admins."""
    role_check(user, Role.RESEARCHER, Role.ADMIN)


def turn_of(turn_id: UUID) -> Turn:
    """A cycle with what its stages need. Raises Turn.DoesNotExist."""
    return Turn.objects.select_related("wheel__pool", "active", "requested_by").get(pk=turn_id)


def own_active(turn: Turn) -> PolicyRevision | None:
    """The active revision at the start of the cycle, if it belongs to the policy that the cycle trains. Another policy
    or a script is no starting point: its weights and its server are not the candidate's."""
    active = turn.active
    return active if active is not None and active.name == turn.recipe.policy and not active.scripted else None


def wheel_named(name: str) -> Wheel:
    """A flywheel. Raises NotFound."""
    found = Wheel.objects.select_related("owner").filter(name=name).first()
    if found is None:
        raise NotFound(f"There is no wheel {name!r}.")
    return found


def turn_running(wheel: Wheel) -> Turn | None:
    """The running cycle of a flywheel."""
    return wheel.turns.filter(state=TurnState.RUNNING).first()


def turn_last(wheel: Wheel) -> Turn | None:
    """The last cycle that a flywheel began."""
    return wheel.turns.order_by("-number").first()


def turns_running() -> tuple[UUID, ...]:
    """Cycles that are to continue."""
    return tuple(Turn.objects.filter(state=TurnState.RUNNING).values_list("pk", flat=True))


def wheels_page(*, user: User) -> tuple[WheelOut, ...]:
    """All flywheels. Raises Forbidden."""
    flywheel_reader_check(user)
    return tuple(map(_wheel_out, Wheel.objects.select_related("pool")))


def wheel_out(*, user: User, wheel_id: int) -> WheelOut:
    """One flywheel. Raises Forbidden, and Wheel.DoesNotExist."""
    flywheel_reader_check(user)
    return _wheel_out(Wheel.objects.select_related("pool").get(pk=wheel_id))


def _wheel_out(wheel: Wheel) -> WheelOut:
    return WheelOut(
        id=wheel.pk,
        name=wheel.name,
        pool=wheel.pool.name,
        every_hours=wheel.every_hours,
        recipe=wheel.recipe,
        turns=tuple(map(turn_row, _turns().filter(wheel=wheel)[:TURNS_SHOWN])),
    )


def turn_out(*, user: User, turn_id: UUID, folder: Path | None = None) -> TurnOut:
    """A cycle in detail; `folder` contains its curves. Raises Forbidden and NotFound."""
    flywheel_reader_check(user)
    turn = _turns().select_related("wheel__pool").filter(pk=turn_id).first()
    if turn is None:
        raise NotFound("There is no such turn.", field="turn_id")
    registered = gate_report_id(turn)
    report = None if registered is None else Evaluation.objects.get(pk=registered)
    played = (
        PlayedOut(kind=one.kind, rate=_rate(one.succeeded, one.attempts), chosen=one.chosen)
        for one in turn.played.all()
    )
    return TurnOut(
        wheel=turn.wheel.name,
        pool=turn.wheel.pool.name,
        recipe=turn.recipe,
        row=turn_row(turn),
        last=not Turn.objects.filter(wheel=turn.wheel_id, number__gt=turn.number).exists(),
        compared=() if report is None else _task_changes(report),
        evaluation=None if report is None else report.pk,
        checkpoints=tuple(map(checkpoint_out, checkpoints_with_counts().filter(turn=turn))),
        played=tuple(played),
        curves=() if folder is None else tuple(read_curves(folder, _domains(turn))),
        folder="" if folder is None or not (folder / TRAININGS).exists() else str(folder / TRAININGS),
    )


def _domains(turn: Turn) -> dict[str, str]:
    """The pools that may have specialists, by number. A renamed or missing pool has none."""
    names = (turn.wheel.pool.name, *turn.recipe.pools) if turn.recipe.specialists is not None else ()
    return {str(pool.pk): pool.name for pool in Pool.objects.filter(name__in=names)}


def samples_page(*, user: User, turn_id: UUID, route: str | None, after: int) -> SamplePage:
    """A page of a cycle's samples, of one route or of all. Raises Forbidden."""
    flywheel_reader_check(user)
    found = Sample.objects.filter(turn=turn_id, pk__gt=after).order_by("id")
    rows = list((found.filter(route=route) if route else found)[: PAGE_SIZE + 1])
    return SamplePage(
        items=tuple(map(sample_out, rows[:PAGE_SIZE])), next=rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None
    )


def turn_row(turn: Turn) -> TurnRow:
    """A cycle's summary."""
    stages = {stage.name: stage for stage in turn.stages.all()}
    tried, registered = _result(stages, "gate"), _result(stages, "register")
    routed = dict(turn.samples.exclude(route="").values_list("route").annotate(Count("pk")).order_by())
    made = _registered_revision(turn)
    people = {"accepted": 0, "overridden": 0}
    if made is not None:
        pools = Q(pool=turn.wheel.pool_id) | Q(pool__name__in=turn.recipe.pools)
        of = Tally.objects.filter(pools, revision=made)
        people = of.aggregate(accepted=Sum("accepted", default=0), overridden=Sum("overridden", default=0))
    return TurnRow(
        id=turn.pk,
        number=turn.number,
        state=turn.state,
        unheard=turn.state == TurnState.RUNNING and not training_worker_alive(),
        by_clock=turn.by_clock,
        requested_by=turn.requested_by.username,
        created_at=turn.created_at,
        ended_at=turn.ended_at,
        stages=tuple(map(_stage_out, stages.values())),
        routes=RouteCounts(**{name: routed.get(name, 0) for name in RouteCounts.model_fields}),
        active=str(turn.active or ""),
        revision=str(made or ""),
        success=_rate(tried.get("successes", 0), tried.get("attempts", 0)),
        success_before=_rate(tried.get("active_successes", 0), tried.get("active_attempts", 0)),
        gain=gate_gain(tried),
        overridden=_rate(people["overridden"], people["accepted"] + people["overridden"]),
        people=people_time(_result(stages, "collect"), tried),
        passed=registered["passed"] if registered.get("judged") else None,
        reasons=tuple(Reason.model_validate(one) for one in registered.get("reasons", ())),
    )


def sample_out(sample: Sample) -> SampleOut:
    """The output schema of a sample."""
    told = {name: getattr(sample, name) for name in SampleOut.model_fields}
    return SampleOut.model_validate({**told, "route": sample.route or None, "reason": sample.reason or None})


def checkpoints_with_counts() -> QuerySet[Checkpoint]:
    """Checkpoints with the number of samples that they were trained on."""
    counted = {source: Count("uses", filter=Q(uses__source=source)) for source in get_args(Source)}
    found = Checkpoint.objects.select_related("turn__wheel", "revision").prefetch_related("parts")
    return found.annotate(**counted).order_by("id")


def checkpoint_out(checkpoint: Checkpoint) -> CheckpointOut:
    """The output schema of a checkpoint from `checkpoints_with_counts`."""
    told = {name: getattr(checkpoint, name) for name in ("id", "phase", "domain", "path", "sha256", "begun_with")}
    counts = {name: getattr(checkpoint, name) for name in get_args(Source)}
    return CheckpointOut(
        **told,
        **counts,
        turn=checkpoint.turn.number,
        parent=checkpoint.parent_id,
        parts=tuple(sorted(part.pk for part in checkpoint.parts.all())),
        revision=str(checkpoint.revision or ""),
    )


def _turns() -> QuerySet[Turn]:
    made = Prefetch("checkpoints", queryset=Checkpoint.objects.select_related("revision"))
    return Turn.objects.select_related("wheel", "active", "requested_by").prefetch_related("stages", made)


def _registered_revision(turn: Turn) -> PolicyRevision | None:
    """The revision that a cycle from `_turns` registered."""
    return next((one.revision for one in reversed(turn.checkpoints.all()) if one.revision), None)


def _task_changes(report: Evaluation) -> tuple[TaskChange, ...]:
    """The findings of a report, task by task."""
    return () if report.document.comparison is None else report.document.comparison.tasks


def _stage_out(stage: Stage) -> StageOut:
    return StageOut.model_validate({name: getattr(stage, name) for name in StageOut.model_fields})


def _result(stages: dict[str, Stage], name: str) -> dict[str, Any]:
    return stages[name].result if name in stages else {}


def _rate(good: int, of: int) -> Rate | None:
    return wilson_rate(good, of) if of else None
