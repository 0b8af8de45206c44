"""HTTP routes of flywheels. Researchers and admins read; admins start cycles."""

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.flywheel import jobs
from annotation_app.flywheel.drafts import RecipeDraft
from annotation_app.flywheel.paths import turn_path
from annotation_app.flywheel.sample_rules import Route
from annotation_app.flywheel.schemas import (
    CheckpointLineage,
    CheckpointRegistration,
    RegisteredCheckpoint,
    SamplePage,
    SeedTrials,
    Side,
    TrajectoryLineage,
    TrialComparison,
    TurnOut,
    TurnRow,
    WheelChange,
    WheelIn,
    WheelOut,
)
from annotation_app.flywheel.selectors import drafts, lineage, trials, turns
from annotation_app.flywheel.services import ledger, registration
from protocol.blobs import Sha256

router = Router(tags=["flywheel"], auth=TOKEN_OR_SESSION_AUTH)
RowId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]
Place = Annotated[int, Field(ge=0, le=2**31 - 1)]
Name = Annotated[str, Query(), Field(max_length=400)]
After = Annotated[int, Query(), Field(ge=0, le=2**63 - 1)]


@router.get("/wheels", response=list[WheelOut])
def wheels_list(request: HttpRequest) -> list[WheelOut]:
    """All flywheels with their last cycles."""
    return list(turns.wheels_page(user=user_of(request)))


@router.get("/wheels/draft", response=RecipeDraft)
def wheel_draft(request: HttpRequest, pool: Annotated[int, Query(), Field(ge=1, le=2**31 - 1)]) -> RecipeDraft:
    """A draft recipe for a pool, and what is missing for it to work."""
    return drafts.recipe_draft(user=user_of(request), pool_id=pool)


@router.post("/wheels", response={201: WheelOut})
def wheel_add(request: HttpRequest, body: WheelIn) -> Status[WheelOut]:
    """Create a flywheel."""
    made = ledger.wheel_add(
        user=user_of(request),
        name=body.name,
        pool_id=body.pool,
        recipe=body.recipe,
        every_hours=body.every_hours,
        by_need=body.by_need,
    )
    return Status(201, turns.wheel_out(user=user_of(request), wheel_id=made.pk))


@router.patch("/wheels/{wheel_id}", response=WheelOut)
def wheel_change(request: HttpRequest, wheel_id: RowId, body: WheelChange) -> WheelOut:
    """Change a flywheel's recipe or schedule. A running cycle keeps its own."""
    ledger.wheel_change(user=user_of(request), wheel_id=wheel_id, recipe=body.recipe, every_hours=body.every_hours)
    return turns.wheel_out(user=user_of(request), wheel_id=wheel_id)


@router.delete("/wheels/{wheel_id}", response={204: None})
def wheel_delete(request: HttpRequest, wheel_id: RowId) -> Status[None]:
    """Delete a flywheel that has had no cycle."""
    ledger.wheel_delete(user=user_of(request), wheel_id=wheel_id)
    return Status(204, None)


@router.post("/wheels/{wheel_id}/turns", response={202: TurnRow})
def turn_start(request: HttpRequest, wheel_id: RowId) -> Status[TurnRow]:
    """Start a cycle in the background."""
    return Status(202, jobs.turn_start(user=user_of(request), wheel_id=wheel_id))


@router.get("/turns/{uuid:turn_id}", response=TurnOut)
def turn_get(request: HttpRequest, turn_id: UUID) -> TurnOut:
    """A cycle in detail, with its training curves so far."""
    return turns.turn_out(user=user_of(request), turn_id=turn_id, folder=turn_path(turn_id))


@router.get("/turns/{uuid:turn_id}/samples", response=SamplePage)
def samples_list(request: HttpRequest, turn_id: UUID, route: Route | None = None, after: After = 0) -> SamplePage:
    """The samples of a cycle, with their routes and the reasons."""
    return turns.samples_page(user=user_of(request), turn_id=turn_id, route=route, after=after)


@router.get("/turns/{uuid:turn_id}/trials", response=list[SeedTrials])
def trials_list(
    request: HttpRequest, turn_id: UUID, name: Name, suite: Name = "", level: Annotated[int, Query(), Field(ge=1)] = 1
) -> list[SeedTrials]:
    """Attempts of the active revision and of the candidate at a gate task, by seed."""
    return trials.task_trials(user=user_of(request), turn_id=turn_id, suite=suite, name=name, level=level)


@router.get("/turns/{uuid:turn_id}/trials/beside", response=TrialComparison)
def trials_beside(
    request: HttpRequest, turn_id: UUID, active: Annotated[Place, Query()], candidate: Annotated[Place, Query()]
) -> TrialComparison:
    """Two attempts at one task and seed side by side, by their positions in the list."""
    return trials.trials_beside(user=user_of(request), turn_id=turn_id, active=active, candidate=candidate)


@router.get("/turns/{uuid:turn_id}/trials/{side}/{place}/pictures/{sha256}", response={200: None})
def trial_picture(
    request: HttpRequest,
    turn_id: UUID,
    side: Annotated[Side, Path()],
    place: Annotated[Place, Path()],
    sha256: Annotated[Sha256, Path()],
) -> HttpResponse:
    """A picture of an attempt. Other pictures are not served."""
    user = user_of(request)
    ref, data = trials.trial_picture(user=user, turn_id=turn_id, side=side, place=place, sha256=sha256)
    headers = {"Cache-Control": "private, max-age=31536000, immutable", "ETag": f'"{ref.sha256}"'}
    return HttpResponse(data, content_type=ref.media_type, headers=headers)


@router.post("/turns/{uuid:turn_id}/cancel", response={204: None})
def turn_cancel(request: HttpRequest, turn_id: UUID) -> Status[None]:
    """Cancel a cycle. Its results are kept for a resumption."""
    ledger.turn_cancel(user=user_of(request), turn_id=turn_id)
    return Status(204, None)


@router.post("/turns/{uuid:turn_id}/resume", response={202: TurnRow})
def turn_resume(request: HttpRequest, turn_id: UUID) -> Status[TurnRow]:
    """Resume a cycle that failed or was cancelled."""
    return Status(202, jobs.turn_requeue(user=user_of(request), turn_id=turn_id))


@router.get("/trajectories/{uuid:episode_id}/lineage", response=list[TrajectoryLineage])
def trajectory_lineage(request: HttpRequest, episode_id: UUID) -> list[TrajectoryLineage]:
    """The route of a trajectory, the reason, and the checkpoints trained on it."""
    return list(lineage.trajectory_lineage(user=user_of(request), episode_id=episode_id))


@router.get("/checkpoints/{checkpoint_id}/lineage", response=CheckpointLineage)
def checkpoint_lineage(request: HttpRequest, checkpoint_id: RowId, after: After = 0) -> CheckpointLineage:
    """The training data of a checkpoint with routes and reasons, and its ancestors."""
    return lineage.checkpoint_lineage(user=user_of(request), checkpoint_id=checkpoint_id, after=after)


@router.post("/checkpoints/{checkpoint_id}/register", response=RegisteredCheckpoint)
def checkpoint_register(
    request: HttpRequest, checkpoint_id: RowId, body: CheckpointRegistration
) -> RegisteredCheckpoint:
    """Register weights that a cycle trained as a revision. It proposes nowhere yet."""
    revision, new = registration.checkpoint_register(
        user=user_of(request), checkpoint_id=checkpoint_id, registration=body
    )
    return RegisteredCheckpoint(revision=revision.pk, new=new)
