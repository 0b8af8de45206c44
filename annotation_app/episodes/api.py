"""Episodes over HTTP: lists, replay, screenshots."""

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router, Status
from pydantic import Field, StringConstraints

from annotation_app.accounts.selectors import can_see_all_work, user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.blobs.responses import blob_response
from annotation_app.episodes import selectors, services
from annotation_app.episodes.schemas import BranchCandidate, EpisodePage, ReviewState, SupervisorNoteOut
from annotation_app.episodes.selectors import branch_candidates, supervision, trajectories
from annotation_app.errors import NotFound
from annotation_app.http_api import ShortText
from annotation_app.policies.selectors import Proposer, proposer_of
from protocol.base import FrozenModel
from protocol.blobs import BlobRef, Sha256
from protocol.evaluation.judge_prompts import without_references
from protocol.messages.events import EpisodeStatus
from protocol.trajectory.trajectories import Trajectory

router = Router(tags=["episodes"])


class BranchIn(FrozenModel):
    """Index of the step before which the task starts over."""

    step: Annotated[int, Field(ge=0, le=100_000)]


class SupervisorNoteIn(FrozenModel):
    """Message for the annotator."""

    text: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2_000, pattern=r"^[^\x00]*$")
    ]


@router.get("/episodes", response=EpisodePage, auth=TOKEN_OR_SESSION_AUTH)
def episodes_list(
    request: HttpRequest,
    status: EpisodeStatus | None = None,
    review: ReviewState | None = None,
    pool: int | None = None,
    annotator: ShortText | None = None,
    page: Annotated[int, Query(), Field(ge=1, le=100_000)] = 1,
) -> EpisodePage:
    """The episodes that the caller may see, newest first."""
    return selectors.episodes_page(
        user=user_of(request), status=status, review=review, pool=pool, annotator=annotator, page=page
    )


@router.get("/pools/{pool_id}/states", response=list[BranchCandidate], auth=TOKEN_OR_SESSION_AUTH)
def states_of_need(
    request: HttpRequest, pool_id: Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]
) -> list[BranchCandidate]:
    """States at which this pool's active revision was overridden or failed, most needed first; for admins."""
    return list(branch_candidates.branch_candidates(user=user_of(request), pool_id=pool_id))


@router.get("/episodes/{uuid:episode_id}/trajectory", response=Trajectory, auth=TOKEN_OR_SESSION_AUTH)
def episode_trajectory(request: HttpRequest, episode_id: UUID) -> Trajectory:
    """Every step with the proposals made for it. Callers who may not see all work, such as annotators, do not get the
    task's reference answer."""
    user = user_of(request)
    selectors.episode_of(user=user, episode_id=episode_id)
    whole = trajectories.episode_trajectory(episode_id=episode_id)
    return whole if can_see_all_work(user) else whole.model_copy(update={"task": without_references(whole.task)})


@router.get("/episodes/{uuid:episode_id}/notes", response=list[SupervisorNoteOut])
def episode_notes(request: HttpRequest, episode_id: UUID) -> list[SupervisorNoteOut]:
    """Supervisors' notes to the episode's annotator, oldest first."""
    return list(supervision.supervisor_notes_of(user=user_of(request), episode_id=episode_id))


@router.post("/episodes/{uuid:episode_id}/notes", response=SupervisorNoteOut)
def episode_note_add(request: HttpRequest, episode_id: UUID, body: SupervisorNoteIn) -> SupervisorNoteOut:
    """Add a note that appears on the annotator's page; for reviewers and admins."""
    note = services.supervisor_note_add(user=user_of(request), episode_id=episode_id, text=body.text)
    return supervision.supervisor_note_out(note)


@router.get("/episodes/{uuid:episode_id}/blobs/{sha256}", response={200: None})
def episode_blob(request: HttpRequest, episode_id: UUID, sha256: Annotated[Sha256, Path()]) -> HttpResponse:
    """The bytes of a picture or video of this episode. Supports range requests."""
    selectors.episode_of(user=user_of(request), episode_id=episode_id)
    blob = selectors.episode_blob(episode_id=episode_id, sha256=sha256)
    if blob is None:
        raise NotFound("This episode has no such picture.")
    return blob_response(request, BlobRef(sha256=blob.sha256, media_type=blob.media_type, size=blob.size))


@router.get("/episodes/{uuid:episode_id}/proposer", response=Proposer | None)
def episode_proposer(request: HttpRequest, episode_id: UUID) -> Proposer | None:
    """The server, model and weights behind the policy that the annotation page names; null without a policy."""
    return proposer_of(selectors.episode_of(user=user_of(request), episode_id=episode_id).desk.policy)


@router.post("/episodes/{uuid:episode_id}/branch", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def episode_branch(request: HttpRequest, episode_id: UUID, body: BranchIn) -> Status[None]:
    """Queue an ended episode's task again, from the state before one of its steps; for admins."""
    services.episode_branch(user=user_of(request), episode_id=episode_id, step=body.step)
    return Status(204, None)
