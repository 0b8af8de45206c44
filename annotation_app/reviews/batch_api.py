"""Refining, and writing variants of, the thoughts of many recorded sessions at once."""

from uuid import UUID

from django.http import HttpRequest
from ninja import Router, Status

from annotation_app.accounts.selectors import user_of
from annotation_app.reviews import jobs, services
from annotation_app.reviews.batch_schemas import BatchesOut, BatchIn, BatchOut
from annotation_app.reviews.selectors.batches import batch_out, batches_out

router = Router(tags=["reviews"])


@router.get("/reviews/batches", response=BatchesOut)
def review_batches(request: HttpRequest) -> BatchesOut:
    """Your newest batches (an admin sees all), and the models that can write."""
    return batches_out(user=user_of(request))


@router.post("/reviews/batches", response={202: BatchOut})
def review_batch_start(request: HttpRequest, body: BatchIn) -> Status[BatchOut]:
    """Start a model on the thoughts of many sessions, one after the other, in the background."""
    user = user_of(request)
    batch_id = jobs.batch_start(user=user, wanted=body)
    return Status(202, batch_out(user=user, batch_id=batch_id))


@router.get("/reviews/batches/{uuid:batch_id}", response=BatchOut)
def review_batch(request: HttpRequest, batch_id: UUID) -> BatchOut:
    """The status of a batch and of each of its sessions."""
    return batch_out(user=user_of(request), batch_id=batch_id)


@router.post("/reviews/batches/{uuid:batch_id}/cancel", response={204: None})
def review_batch_cancel(request: HttpRequest, batch_id: UUID) -> Status[None]:
    """Cancel a batch. Finished texts stay."""
    services.batch_cancel(user=user_of(request), batch_id=batch_id)
    return Status(204, None)


@router.post("/reviews/batches/{uuid:batch_id}/resume", response={202: BatchOut})
def review_batch_resume(request: HttpRequest, batch_id: UUID) -> Status[BatchOut]:
    """Retry the sessions that failed or were cancelled."""
    user = user_of(request)
    jobs.batch_go_on(user=user, batch_id=batch_id)
    return Status(202, batch_out(user=user, batch_id=batch_id))
