"""Wordings in the background."""

from typing import Any
from uuid import UUID

from annotation_app.celery import app
from annotation_app.design import selectors, services
from annotation_app.design.rewording import writing_run
from annotation_app.design.schemas import WritingIn, WritingOut


@app.task(name="design.write")
def writing_job(writing_id: str) -> None:
    """Do one request; doing it again does no harm."""
    writing_run(writing_id=UUID(writing_id))


@app.task(name="design.again")
def writings_again_job() -> None:
    """Have requests done whose worker died or never heard of them."""
    for writing_id in services.writings_stale():
        writing_job.delay(str(writing_id))


def writing_start(*, user: Any, task_id: int, wanted: WritingIn) -> WritingOut:
    """Ask for wordings and have them written. Raises Forbidden, NotFound and Conflict."""
    writing = services.writing_request(user=user, task_id=task_id, wanted=wanted)
    writing_job.delay(str(writing.pk))
    writing.refresh_from_db()
    return selectors.writing_out(writing)
