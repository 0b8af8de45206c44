"""HTTP routes of evaluations. Researchers and admins read and compare; admins register and delete."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Status

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.evaluations import selectors, services
from annotation_app.evaluations.schemas import (
    EvaluationComparison,
    EvaluationId,
    EvaluationOut,
    EvaluationPage,
    RegisteredRun,
    RunRegistration,
)

router = Router(tags=["evaluations"], auth=TOKEN_OR_SESSION_AUTH)
Id = Annotated[EvaluationId, Path()]


@router.get("/evaluations", response=EvaluationPage)
def evaluations_list(request: HttpRequest) -> EvaluationPage:
    """The newest evaluations: reports on revisions, and finished benchmark runs."""
    return selectors.evaluations_page(user=user_of(request))


@router.post("/evaluations", response=RegisteredRun)
def run_register(request: HttpRequest, body: RunRegistration) -> RegisteredRun:
    """Register a benchmark run: its revision if that is new, and its report. This promotes nothing."""
    return services.run_register(user=user_of(request), registration=body)


@router.get("/evaluations/{evaluation_id}", response=EvaluationOut)
def evaluation_get(request: HttpRequest, evaluation_id: Id) -> EvaluationOut:
    """An evaluation with its whole report."""
    return selectors.evaluation_out(user=user_of(request), evaluation_id=evaluation_id)


@router.delete("/evaluations/{evaluation_id}", response={204: None})
def evaluation_delete(request: HttpRequest, evaluation_id: Id) -> Status[None]:
    """Delete a registered report that has no dependents, or a benchmark run that is not running."""
    services.evaluation_delete(user=user_of(request), evaluation_id=evaluation_id)
    return Status(204, None)


@router.get("/evaluations/{evaluation_id}/against/{before_id}", response=EvaluationComparison)
def evaluation_compare(request: HttpRequest, evaluation_id: Id, before_id: Id) -> EvaluationComparison:
    """Compare an evaluation with an earlier one, in total and by task."""
    return selectors.evaluations_compare(user=user_of(request), before=before_id, after=evaluation_id)
