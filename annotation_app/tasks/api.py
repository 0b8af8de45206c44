"""Tasks that are to be done again."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.tasks import services

router = Router(tags=["tasks"])
TaskId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


@router.post("/tasks/{task_id}/reopen", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def task_reopen(request: HttpRequest, task_id: TaskId) -> Status[None]:
    """Let a task that was done be done again; for admins."""
    services.task_reopen(user=user_of(request), task_id=task_id)
    return Status(204, None)
