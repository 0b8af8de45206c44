"""HTTP routes of the policy registry: for admins, for researchers to read, and for programs with tokens."""

from typing import Annotated, Literal

from django.http import HttpRequest
from ninja import Path, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.policies.gate import Gate
from annotation_app.policies.schemas import DialectExample, RevisionChange, RevisionRegistration
from annotation_app.policies.services import revision_add, revision_change
from annotation_app.promotions import selectors, services
from annotation_app.promotions.schemas import PoolPolicies, Registered, RevisionSummary
from protocol.base import FrozenModel
from protocol.dialects.prompt_template import PromptTemplate
from protocol.evaluation.reports import Evaluation

router = Router(tags=["policies"])
DialectPath = Annotated[str, Path(), Field(max_length=64)]
PathId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]
RevisionId = Annotated[int, Field(ge=1, le=2**31 - 1)]


class RevisionOut(FrozenModel):
    """A registered revision's number; `new` is False if an identical one existed."""

    id: int
    new: bool


class ActivateIn(FrozenModel):
    """The revision that proposes from now on; None for no policy."""

    revision: RevisionId | None


class TryIn(FrozenModel):
    """A revision on trial and its share of the episodes (percent); None ends the trial."""

    revision: RevisionId | None
    share: Annotated[int, Field(ge=0, le=100)] = 10


class GateIn(FrozenModel):
    """The gate's requirements on a report; None removes the gate."""

    gate: Gate | None


class SamplingIn(FrozenModel):
    """How the next task is chosen."""

    sampling: Literal["in_order", "by_need"]


@router.get("/policies", response=list[RevisionSummary], auth=TOKEN_OR_SESSION_AUTH)
def policies_list(request: HttpRequest) -> list[RevisionSummary]:
    """Every revision of every policy, with its pools and evaluations."""
    return list(selectors.policies_page(user=user_of(request)))


@router.post("/policies", response=RevisionOut, auth=TOKEN_OR_SESSION_AUTH)
def policy_register(request: HttpRequest, body: RevisionRegistration) -> RevisionOut:
    """Register a revision. It proposes nowhere yet."""
    revision, new = revision_add(user=user_of(request), revision=body, api_key=body.api_key)
    return RevisionOut(id=revision.pk, new=new)


@router.get("/policies/dialects", response=list[DialectExample], auth=TOKEN_OR_SESSION_AUTH)
def policy_dialects(request: HttpRequest) -> list[DialectExample]:
    """Every dialect, with an example of a reply."""
    return list(selectors.dialect_examples(user=user_of(request)))


@router.get("/policies/prompts/{dialect}", response=PromptTemplate, auth=TOKEN_OR_SESSION_AUTH)
def dialect_prompt(request: HttpRequest, dialect: DialectPath) -> PromptTemplate:
    """The default prompt of a dialect, as a starting point for a custom one."""
    return selectors.dialect_prompt(user=user_of(request), dialect=dialect)


@router.get("/policies/pools", response=list[PoolPolicies], auth=TOKEN_OR_SESSION_AUTH)
def policies_pools(request: HttpRequest) -> list[PoolPolicies]:
    """Every pool with its policy and its gate."""
    return list(selectors.pools_page(user=user_of(request)))


@router.patch("/policies/{revision_id}", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def policy_change(request: HttpRequest, revision_id: PathId, body: RevisionChange) -> Status[None]:
    """Change the server address of a revision, retire it, or bring it back."""
    revision_change(user=user_of(request), revision_id=revision_id, change=body)
    return Status(204, None)


@router.post("/policies/{revision_id}/evaluations", response=Registered, auth=TOKEN_OR_SESSION_AUTH)
def evaluation_register(request: HttpRequest, revision_id: PathId, body: Evaluation) -> Registered:
    """Register the report that `python -m agent_backend.evaluation --out` wrote on this revision. Gates judge it."""
    evaluation, new = services.evaluation_add(user=user_of(request), revision_id=revision_id, report=body)
    return Registered(evaluation=selectors.evaluation_summary(evaluation.pk), new=new)


@router.post("/pools/{pool_id}/policy", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def policy_activate(request: HttpRequest, pool_id: PathId, body: ActivateIn) -> Status[None]:
    """Make a revision the active one of this pool."""
    services.policy_activate(user=user_of(request), pool_id=pool_id, revision_id=body.revision)
    return Status(204, None)


@router.post("/pools/{pool_id}/canary", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def policy_try(request: HttpRequest, pool_id: PathId, body: TryIn) -> Status[None]:
    """Try a revision in a share of this pool's episodes."""
    services.policy_try(user=user_of(request), pool_id=pool_id, revision_id=body.revision, share=body.share)
    return Status(204, None)


@router.post("/pools/{pool_id}/gate", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def gate_set(request: HttpRequest, pool_id: PathId, body: GateIn) -> Status[None]:
    """Set what a report must show before a revision is promoted in this pool."""
    services.gate_set(user=user_of(request), pool_id=pool_id, gate=body.gate)
    return Status(204, None)


@router.post("/pools/{pool_id}/sampling", response={204: None}, auth=TOKEN_OR_SESSION_AUTH)
def sampling_set(request: HttpRequest, pool_id: PathId, body: SamplingIn) -> Status[None]:
    """Set how the next task of this pool is chosen."""
    services.sampling_set(user=user_of(request), pool_id=pool_id, sampling=body.sampling)
    return Status(204, None)
