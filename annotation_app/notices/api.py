"""What one is told, over HTTP: everybody's own."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.notices import selectors, services
from annotation_app.notices.schemas import NoticesOut
from protocol.base import FrozenModel

router = Router(tags=["notices"])


class ReadIn(FrozenModel):
    """The newest that was seen."""

    until: Annotated[int, Field(ge=0, le=2**63 - 1)]


@router.get("/notices", response=NoticesOut)
def notices_list(request: HttpRequest) -> NoticesOut:
    """The newest of one's own."""
    return selectors.notices_of(user=user_of(request))


@router.post("/notices/read", response={204: None})
def notices_read(request: HttpRequest, body: ReadIn) -> Status[None]:
    """Note that one has read them, up to this one."""
    services.notices_read(user=user_of(request), until=body.until)
    return Status(204, None)
