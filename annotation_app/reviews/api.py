"""HTTP routes of reviews: the queue, an episode's review sheet, remarks and corrections, agreement, checks."""

from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Path, Query, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.episodes.schemas import EpisodeSummary
from annotation_app.episodes.selectors import episode_of, episode_summary
from annotation_app.http_api import ShortText
from annotation_app.reviews import jobs, services
from annotation_app.reviews.schemas import (
    Agreement,
    Attempt,
    DecisionWord,
    Duplicates,
    JobOut,
    ReviewDetails,
    ReviewQueue,
    SharedTasks,
    SideBySide,
)
from annotation_app.reviews.selectors.agreement import agreement, comparison
from annotation_app.reviews.selectors.details import review_details
from annotation_app.reviews.selectors.jobs import duplicates, job_of
from annotation_app.reviews.selectors.queue import Direction, QueueFilters, review_queue
from annotation_app.reviews.selectors.shared_tasks import attempts, shared_tasks
from protocol.actions.types import Action
from protocol.base import FrozenModel
from protocol.trajectory.reviews import ReviewText, StepVerdict
from protocol.trajectory.trajectories import Outcome

router = Router(tags=["reviews"])
RowId = Annotated[int, Field(ge=1, le=2**31 - 1)]
StepIndex = Annotated[int, Path(), Field(ge=0, le=2**31 - 1)]


class ReviewIn(FrozenModel):
    """A reviewer's decision; all but an acceptance need a reason."""

    decision: DecisionWord
    reason: ShortText = ""


class ReviewNextIn(FrozenModel):
    """The position in the queue, and its filters."""

    after: UUID | None = None
    direction: Direction = "next"
    pool: RowId | None = None
    annotator: ShortText | None = None
    outcome: Outcome | None = None
    returned: bool = False


class RemarkIn(FrozenModel):
    """A remark on a step. An empty one removes the remark."""

    verdict: StepVerdict | None = None
    comment: ReviewText = ""


class FixIn(FrozenModel):
    """A better thought and action, over the revision it was written over (0: the executed step)."""

    base: Annotated[int, Field(ge=0)]
    thought: Annotated[str, Field(max_length=20_000, pattern=r"^[^\x00]*$")]
    action: Action
    reason: ShortText = ""


class CutIn(FrozenModel):
    """trim: from `first` to `last` counts; split: the second part begins at `first`; undo: as before the last cut."""

    do: Literal["trim", "split", "undo"]
    first: Annotated[int, Field(ge=0)] = 0
    last: Annotated[int, Field(ge=0)] = 0
    before: ShortText = ""
    after: ShortText = ""


class AdjudicationIn(FrozenModel):
    """Which attempt counts, and why."""

    chosen: UUID
    reason: ShortText = ""


@router.get("/reviews/queue", response=ReviewQueue, auth=TOKEN_OR_SESSION_AUTH)
def reviews_queue(
    request: HttpRequest,
    pool: Annotated[int | None, Query(), Field(ge=1, le=2**31 - 1)] = None,
    annotator: ShortText | None = None,
    outcome: Outcome | None = None,
    returned: bool = False,
    after: ShortText | None = None,
) -> ReviewQueue:
    """What waits for a decision, oldest first; for reviewers."""
    filters = QueueFilters(pool=pool, annotator=annotator, outcome=outcome, returned=returned)
    return review_queue(user=user_of(request), filters=filters, after=after)


@router.post("/reviews/next", response=EpisodeSummary | None, auth=TOKEN_OR_SESSION_AUTH)
def reviews_next(request: HttpRequest, body: ReviewNextIn) -> EpisodeSummary | None:
    """Claim the oldest waiting episode, or the one after the given one; null if none waits."""
    filters = QueueFilters(pool=body.pool, annotator=body.annotator, outcome=body.outcome, returned=body.returned)
    episode = services.review_next(user=user_of(request), filters=filters, after=body.after, direction=body.direction)
    return None if episode is None else episode_summary(episode_id=episode.pk)


@router.get("/episodes/{uuid:episode_id}/review", response=EpisodeSummary)
def episode_reviewed(request: HttpRequest, episode_id: UUID) -> EpisodeSummary:
    """An episode's line, with what a reviewer decided."""
    episode_of(user=user_of(request), episode_id=episode_id)
    return episode_summary(episode_id=episode_id)


@router.post("/episodes/{uuid:episode_id}/review", response=EpisodeSummary, auth=TOKEN_OR_SESSION_AUTH)
def episode_review(request: HttpRequest, episode_id: UUID, body: ReviewIn) -> EpisodeSummary:
    """Accept a finished episode, send it back to its annotator, or reject it."""
    services.review_decide(user=user_of(request), episode_id=episode_id, decision=body.decision, reason=body.reason)
    return episode_summary(episode_id=episode_id)


@router.get("/episodes/{uuid:episode_id}/review/sheet", response=ReviewDetails, auth=TOKEN_OR_SESSION_AUTH)
def review_sheet(request: HttpRequest, episode_id: UUID) -> ReviewDetails:
    """All that belongs to reviewing it: rounds, remarks, fixes, parts, and what changed since the last round."""
    return review_details(user=user_of(request), episode_id=episode_id)


@router.post("/episodes/{uuid:episode_id}/review/claim", response=ReviewDetails)
def review_claim(request: HttpRequest, episode_id: UUID) -> ReviewDetails:
    """Claim the episode, or extend the claim."""
    user = user_of(request)
    services.review_claim(user=user, episode_id=episode_id)
    return review_details(user=user, episode_id=episode_id)


@router.delete("/episodes/{uuid:episode_id}/review/claim", response={204: None})
def review_release(request: HttpRequest, episode_id: UUID) -> Status[None]:
    """Release the claim."""
    services.review_release(user=user_of(request), episode_id=episode_id)
    return Status(204, None)


@router.post("/episodes/{uuid:episode_id}/review/steps/{index}", response=ReviewDetails)
def review_step(request: HttpRequest, episode_id: UUID, index: StepIndex, body: RemarkIn) -> ReviewDetails:
    """Say whether a step is right, and what there is to say of it."""
    user = user_of(request)
    services.remark_set(user=user, episode_id=episode_id, index=index, verdict=body.verdict, comment=body.comment)
    return review_details(user=user, episode_id=episode_id)


@router.post("/episodes/{uuid:episode_id}/review/steps/{index}/fixes", response=ReviewDetails)
def review_fix(request: HttpRequest, episode_id: UUID, index: StepIndex, body: FixIn) -> ReviewDetails:
    """Correct a step's thought and action: for reviewers, and for the annotator of a returned episode."""
    user = user_of(request)
    services.step_fix(
        user=user,
        episode_id=episode_id,
        index=index,
        base=body.base,
        thought=body.thought,
        action=body.action,
        reason=body.reason,
    )
    return review_details(user=user, episode_id=episode_id)


@router.post("/episodes/{uuid:episode_id}/review/cuts", response=ReviewDetails)
def review_cut(request: HttpRequest, episode_id: UUID, body: CutIn) -> ReviewDetails:
    """Trim or split the episode, or undo the last cut. The recorded episode is not changed."""
    user = user_of(request)
    if body.do == "trim":
        services.episode_trim(user=user, episode_id=episode_id, first=body.first, last=body.last)
    elif body.do == "split":
        services.episode_split(user=user, episode_id=episode_id, at=body.first, before=body.before, after=body.after)
    else:
        services.cut_undo(user=user, episode_id=episode_id)
    return review_details(user=user, episode_id=episode_id)


@router.post("/episodes/{uuid:episode_id}/review/resubmission", response=ReviewDetails)
def review_resubmit(request: HttpRequest, episode_id: UUID) -> ReviewDetails:
    """Resubmit a returned episode after corrections; for its annotator."""
    user = user_of(request)
    services.review_resubmit(user=user, episode_id=episode_id)
    return review_details(user=user, episode_id=episode_id)


@router.get("/reviews/agreement", response=Agreement, auth=TOKEN_OR_SESSION_AUTH)
def reviews_agreement(
    request: HttpRequest, pool: Annotated[int | None, Query(), Field(ge=1, le=2**31 - 1)] = None
) -> Agreement:
    """How far people agree on steps and on verdicts, and how they do at gold tasks."""
    return agreement(user=user_of(request), pool_id=pool)


@router.get("/reviews/comparison", response=SideBySide, auth=TOKEN_OR_SESSION_AUTH)
def reviews_comparison(request: HttpRequest, one: UUID, other: UUID) -> SideBySide:
    """Two attempts at one task beside each other."""
    return comparison(user=user_of(request), one=one, other=other)


@router.get("/reviews/attempts", response=list[Attempt], auth=TOKEN_OR_SESSION_AUTH)
def reviews_attempts(request: HttpRequest, of: UUID) -> list[Attempt]:
    """The finished attempts at an episode's task."""
    return list(attempts(user=user_of(request), episode_id=of))


@router.get("/reviews/meetings", response=SharedTasks, auth=TOKEN_OR_SESSION_AUTH)
def reviews_meetings(request: HttpRequest, one: ShortText | None = None, other: ShortText | None = None) -> SharedTasks:
    """The tasks that two policies, named as `NAME REVISION`, both were given."""
    return shared_tasks(user=user_of(request), one=one, other=other)


@router.post("/reviews/adjudications", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def review_adjudicate(request: HttpRequest, body: AdjudicationIn) -> Status[None]:
    """Choose which of a task's attempts counts."""
    services.task_adjudicate(user=user_of(request), chosen=body.chosen, reason=body.reason)
    return Status(204, None)


@router.post("/episodes/{uuid:episode_id}/review/checks", response={202: JobOut})
def review_check(request: HttpRequest, episode_id: UUID) -> Status[JobOut]:
    """Replay the episode's acts in a fresh sandbox, in the background."""
    return Status(202, jobs.check_start(user=user_of(request), episode_id=episode_id))


@router.get("/pools/{pool_id}/duplicates", response=Duplicates)
def pool_duplicates(request: HttpRequest, pool_id: Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]) -> Duplicates:
    """What the last search of a pool found to be nearly the same."""
    return duplicates(user=user_of(request), pool_id=pool_id)


@router.post("/pools/{pool_id}/duplicates", response={202: JobOut})
def pool_duplicates_search(
    request: HttpRequest, pool_id: Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]
) -> Status[JobOut]:
    """Search a pool for attempts that are nearly the same; done in the background."""
    return Status(202, jobs.duplicates_start(user=user_of(request), pool_id=pool_id))


@router.get("/review-jobs/{uuid:job_id}", response=JobOut)
def review_job(request: HttpRequest, job_id: UUID) -> JobOut:
    """The status of a check or a search."""
    return job_of(user=user_of(request), job_id=job_id)


@router.post("/review-jobs/{uuid:job_id}/cancel", response={204: None})
def review_job_cancel(request: HttpRequest, job_id: UUID) -> Status[None]:
    """Cancel a check or a search."""
    services.job_cancel(user=user_of(request), job_id=job_id)
    return Status(204, None)
