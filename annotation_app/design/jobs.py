"""Background jobs for wordings and task drafts."""

from typing import Any
from uuid import UUID

from annotation_app.celery import app
from annotation_app.design import selectors, services
from annotation_app.design.draft_schemas import DraftRequestIn, DraftRequestOut
from annotation_app.design.drafting import drafting_run
from annotation_app.design.rewording import writing_run
from annotation_app.design.schemas import WritingIn, WritingOut
from annotation_app.design.selectors.drafts import draft_request_out


@app.task(name="design.write")
def writing_job(writing_id: str) -> None:
    """Process one request. Rerunning it is harmless."""
    writing_run(writing_id=UUID(writing_id))


@app.task(name="design.draft")
def drafting_job(request_id: str) -> None:
    """Write the drafts of one request. A rerun resumes after the finished cells."""
    drafting_run(request_id=UUID(request_id))


@app.task(name="design.again")
def writings_again_job() -> None:
    """Requeue requests whose worker died or never received them."""
    for writing_id in services.writings_stale():
        writing_job.delay(str(writing_id))
    for request_id in services.draft_requests_stale():
        drafting_job.delay(str(request_id))


def writing_start(*, user: Any, task_id: int, wanted: WritingIn) -> WritingOut:
    """Request wordings and queue the job. Raises Forbidden, NotFound and Conflict."""
    writing = services.writing_request(user=user, task_id=task_id, wanted=wanted)
    writing_job.delay(str(writing.pk))
    writing.refresh_from_db()
    return selectors.writing_out(writing)


def drafting_start(*, user: Any, wanted: DraftRequestIn) -> DraftRequestOut:
    """Request drafts and queue the job. Raises Forbidden, NotFound and Conflict."""
    request = services.draft_request_add(user=user, wanted=wanted)
    drafting_job.delay(str(request.pk))
    request.refresh_from_db()
    return draft_request_out(request)
