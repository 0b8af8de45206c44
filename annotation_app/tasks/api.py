"""Pools, as people see them, and who proposes in them."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.tasks import selectors, services
from annotation_app.tasks.schemas import PoolSummary, RevisionSummary
from vocabulary.base import Frozen

router = Router(tags=["tasks"])
PoolId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]
RevisionId = Annotated[int, Field(ge=1, le=2**31 - 1)]


class ActivateIn(Frozen):
    """Which revision proposes from now on; None: nobody."""

    revision: RevisionId | None


class TryIn(Frozen):
    """Which revision a share of the episodes tries (percent); None ends the trial."""

    revision: RevisionId | None
    share: Annotated[int, Field(ge=0, le=100)] = 10


@router.get("/pools", response=list[PoolSummary])
def pools_list(request: HttpRequest) -> list[PoolSummary]:
    """The pools this person may see."""
    return selectors.pools_of(user=user_of(request))


@router.get("/policies", response=list[RevisionSummary])
def policies_list(request: HttpRequest) -> list[RevisionSummary]:
    """Every revision of every policy, and where it proposes; for admins."""
    return list(selectors.policies_page(user=user_of(request)))


@router.post("/pools/{pool_id}/policy", response={204: None})
def policy_activate(request: HttpRequest, pool_id: PoolId, body: ActivateIn) -> Status[None]:
    """Make a revision the one that proposes in this pool."""
    services.policy_activate(user=user_of(request), pool_id=pool_id, revision_id=body.revision)
    return Status(204, None)


@router.post("/pools/{pool_id}/canary", response={204: None})
def policy_try(request: HttpRequest, pool_id: PoolId, body: TryIn) -> Status[None]:
    """Let a share of this pool's episodes try a revision."""
    services.policy_try(user=user_of(request), pool_id=pool_id, revision_id=body.revision, share=body.share)
    return Status(204, None)
