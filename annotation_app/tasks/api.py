"""Pools, as people see them."""

from django.http import HttpRequest
from ninja import Router

from annotation_app.accounts.selectors import user_of
from annotation_app.tasks import selectors
from annotation_app.tasks.schemas import PoolSummary

router = Router(tags=["tasks"])


@router.get("/pools", response=list[PoolSummary])
def pools_list(request: HttpRequest) -> list[PoolSummary]:
    """The pools this person may see."""
    return selectors.pools_of(user=user_of(request))
