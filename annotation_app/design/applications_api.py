"""HTTP routes of applications and the balance of difficulty. Admins change; researchers read."""

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import File, Form, Path, Query, Router, Status
from ninja.files import UploadedFile
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.design import services
from annotation_app.design.application_schemas import (
    ApplicationIn,
    ApplicationsPage,
    BalancePage,
    DecisionIn,
    GuessIn,
    GuessOut,
    ReadingIn,
    ReadingReport,
    WantedSharesIn,
)
from annotation_app.design.applications import ScoringRule
from annotation_app.design.reading_files import LARGEST, readings_csv
from annotation_app.design.selectors.applications import applications_page, reading_rows
from annotation_app.design.selectors.balance import balance_page
from annotation_app.errors import TooLarge
from annotation_app.spreadsheets import spreadsheet_response
from protocol.base import FrozenModel

router = Router(tags=["design"], auth=TOKEN_OR_SESSION_AUTH)
RowId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


class RecordedOut(FrozenModel):
    """What was made or changed."""

    id: int


class ScoringVersionOut(FrozenModel):
    """The version of the rule that counts now."""

    version: int


class DecidedOut(FrozenModel):
    """The top node of the graph that the application is, if it was ever chosen."""

    node: int | None


@router.get("/design/applications", response=ApplicationsPage)
def applications_get(request: HttpRequest) -> ApplicationsPage:
    """Every application with its readings and its score, the highest first."""
    return applications_page(user=user_of(request))


@router.get("/design/applications.csv", response={200: None})
def readings_download(request: HttpRequest) -> HttpResponse:
    """Every reading, for a spreadsheet."""
    return spreadsheet_response(readings_csv(reading_rows(user=user_of(request))), name="pilothouse-applications.csv")


@router.post("/design/applications", response={201: RecordedOut})
def application_add(request: HttpRequest, body: ApplicationIn) -> Status[RecordedOut]:
    """Add a candidate."""
    return Status(201, RecordedOut(id=services.application_add(user=user_of(request), wanted=body).pk))


@router.post("/design/applications/file", response=ReadingReport)
def readings_upload(
    request: HttpRequest, file: Annotated[UploadedFile, File()], preview: Annotated[bool, Form()] = False
) -> ReadingReport:
    """Take over the readings of a CSV file; where a row is wrong nothing is changed."""
    if (file.size or 0) > LARGEST:
        raise TooLarge(f"A file of readings may have {LARGEST} bytes.")
    return services.readings_import(user=user_of(request), data=file.read(), preview=preview)


@router.patch("/design/applications/{application_id}", response={204: None})
def application_rename(request: HttpRequest, application_id: RowId, body: ApplicationIn) -> Status[None]:
    """Name an application otherwise."""
    services.application_rename(user=user_of(request), application_id=application_id, wanted=body)
    return Status(204, None)


@router.delete("/design/applications/{application_id}", response={204: None})
def application_delete(request: HttpRequest, application_id: RowId) -> Status[None]:
    """Delete an application with its readings; its node stays in the graph."""
    services.application_delete(user=user_of(request), application_id=application_id)
    return Status(204, None)


@router.post("/design/applications/{application_id}/readings", response={201: RecordedOut})
def reading_add(request: HttpRequest, application_id: RowId, body: ReadingIn) -> Status[RecordedOut]:
    """Keep a value of an indicator with its source and day."""
    reading = services.reading_add(user=user_of(request), application_id=application_id, wanted=body)
    return Status(201, RecordedOut(id=reading.pk))


@router.delete("/design/readings/{reading_id}", response={204: None})
def reading_delete(request: HttpRequest, reading_id: RowId) -> Status[None]:
    """Delete a reading."""
    services.reading_delete(user=user_of(request), reading_id=reading_id)
    return Status(204, None)


@router.post("/design/applications/{application_id}/decision", response=DecidedOut)
def application_decide(request: HttpRequest, application_id: RowId, body: DecisionIn) -> DecidedOut:
    """Choose or drop an application; a chosen one is a top node of the graph."""
    decided = services.application_decide(user=user_of(request), application_id=application_id, wanted=body)
    return DecidedOut(node=decided.node_id)


@router.post("/design/scoring", response=ScoringVersionOut)
def scoring_change(request: HttpRequest, body: ScoringRule) -> ScoringVersionOut:
    """Score applications by another rule, a new version."""
    return ScoringVersionOut(version=services.scoring_change(user=user_of(request), rule=body))


@router.get("/design/balance", response=BalancePage)
def balance_get(
    request: HttpRequest, pool: Annotated[int | None, Query(), Field(ge=1, le=2**31 - 1)] = None
) -> BalancePage:
    """How the tasks of a pool, or of all, are spread over the levels of difficulty, and what is missing."""
    return balance_page(user=user_of(request), pool_id=pool)


@router.post("/design/balance", response={204: None})
def wanted_shares_set(request: HttpRequest, body: WantedSharesIn) -> Status[None]:
    """Say how they should be spread."""
    services.wanted_shares_set(user=user_of(request), wanted=body)
    return Status(204, None)


@router.post("/design/difficulties", response=GuessOut)
def difficulties_guess(request: HttpRequest, body: GuessIn) -> GuessOut:
    """Guess the difficulty of tasks without one."""
    return GuessOut(guessed=services.difficulties_guess(user=user_of(request), wanted=body))
