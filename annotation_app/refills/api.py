"""HTTP routes of refills."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.refills import selectors, services
from annotation_app.refills.jobs import refill_job
from annotation_app.refills.schemas import RefillPage, RefillSettings

router = Router(tags=["pools"], auth=TOKEN_OR_SESSION_AUTH)
PoolId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


@router.get("/pools/{pool_id}/refill", response=RefillPage)
def refill_get(request: HttpRequest, pool_id: PoolId) -> RefillPage:
    """A pool's rule, what it would add now, and what became of the tasks that were added."""
    return selectors.refill_page(user=user_of(request), pool_id=pool_id)


@router.post("/pools/{pool_id}/refill", response=RefillPage)
def refill_set(request: HttpRequest, pool_id: PoolId, body: RefillSettings) -> RefillPage:
    """Say when a pool gets new tasks, and how many."""
    services.refill_set(user=user_of(request), pool_id=pool_id, settings=body)
    return selectors.refill_page(user=user_of(request), pool_id=pool_id)


@router.post("/pools/{pool_id}/refill/now", response=RefillPage)
def refill_now(request: HttpRequest, pool_id: PoolId) -> RefillPage:
    """Have tasks added now, within the rule's bounds; `pending` until it is done."""
    services.refill_request(user=user_of(request), pool_id=pool_id)
    refill_job.delay(pool_id)
    return selectors.refill_page(user=user_of(request), pool_id=pool_id)
