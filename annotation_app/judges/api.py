"""HTTP routes of judges, for admins."""

from typing import Annotated
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Path, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.http_api import SessionAuth
from annotation_app.judges import jobs, selectors, services
from annotation_app.judges.schemas import WHOLE_POOL, JudgeIn, JudgeOut, JudgesPage, RunIn, RunOut, Threshold
from annotation_app.spreadsheets import spreadsheet_response
from protocol.base import FrozenModel
from protocol.evaluation.calibration import DEFAULT_THRESHOLD, Sweep

router = Router(tags=["judges"], auth=TOKEN_OR_SESSION_AUTH)
RowId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


class PoolJudgeIn(FrozenModel):
    """From which score on the judge is believed in the pool."""

    threshold: Threshold = DEFAULT_THRESHOLD


@router.get("/judges", response=JudgesPage)
def judges_get(request: HttpRequest) -> JudgesPage:
    """Every judge, where it judges, and how far it agrees with people."""
    return selectors.judges_page(user=user_of(request))


@router.get("/judges/calibrations.csv", response={200: None})
def calibrations_download(request: HttpRequest) -> HttpResponse:
    """Every judge in every pool at every threshold, for a spreadsheet."""
    rows = selectors.calibrations_table(user=user_of(request))
    return spreadsheet_response(rows, name="pilothouse-judges.csv")


@router.post("/judges", response={201: JudgeOut}, auth=SessionAuth())
def judge_create(request: HttpRequest, body: JudgeIn) -> Status[JudgeOut]:
    """Add a judge. Another model, prompt or setting is another revision. It may set a server's key,
    so a person does it."""
    return Status(201, selectors.judge_out(services.judge_create(user=user_of(request), judge=body)))


@router.delete("/judges/{judge_id}", response={204: None})
def judge_delete(request: HttpRequest, judge_id: RowId) -> Status[None]:
    """Delete a judge that was never used."""
    services.judge_delete(user=user_of(request), judge_id=judge_id)
    return Status(204, None)


@router.post("/pools/{pool_id}/judges/{judge_id}", response={204: None})
def pool_judge_set(request: HttpRequest, pool_id: RowId, judge_id: RowId, body: PoolJudgeIn) -> Status[None]:
    """Let a judge judge in a pool, or set from which score on it is believed there."""
    services.pool_judge_set(user=user_of(request), pool_id=pool_id, judge_id=judge_id, threshold=body.threshold)
    return Status(204, None)


@router.delete("/pools/{pool_id}/judges/{judge_id}", response={204: None})
def pool_judge_remove(request: HttpRequest, pool_id: RowId, judge_id: RowId) -> Status[None]:
    """Let it judge there no longer; what it said is kept."""
    services.pool_judge_remove(user=user_of(request), pool_id=pool_id, judge_id=judge_id)
    return Status(204, None)


@router.get("/pools/{pool_id}/judges/{judge_id}/sweep", response=Sweep)
def pool_judge_sweep(request: HttpRequest, pool_id: RowId, judge_id: RowId) -> Sweep:
    """It against people at every threshold."""
    return selectors.sweep(user=user_of(request), pool_id=pool_id, judge_id=judge_id)


@router.post("/pools/{pool_id}/judges/{judge_id}/runs", response={202: RunOut})
def judge_run(request: HttpRequest, pool_id: RowId, judge_id: RowId) -> Status[RunOut]:
    """Have it judge what it has not judged yet; done in the background."""
    return Status(202, jobs.run_start(user=user_of(request), pool_id=pool_id, judge_id=judge_id, scope=WHOLE_POOL))


@router.post("/pools/{pool_id}/judges/{judge_id}/trials", response={202: RunOut})
def judge_trial(request: HttpRequest, pool_id: RowId, judge_id: RowId, body: RunIn) -> Status[RunOut]:
    """Try it on some of what it has not judged yet, such as episodes that people labelled."""
    return Status(202, jobs.run_start(user=user_of(request), pool_id=pool_id, judge_id=judge_id, scope=body))


@router.post("/judge-runs/{uuid:run_id}/cancel", response={204: None})
def judge_run_cancel(request: HttpRequest, run_id: UUID) -> Status[None]:
    """Stop; what was judged is kept."""
    services.run_cancel(user=user_of(request), run_id=run_id)
    return Status(204, None)
