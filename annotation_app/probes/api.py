"""HTTP routes of probes, for admins."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.http_api import ShortText
from annotation_app.policies.selectors import policies_reader_check
from annotation_app.probes import runs, selectors, services
from annotation_app.probes.jobs import probe_run_job
from annotation_app.probes.schemas import ProbeIn, ProbeOut

router = Router(tags=["policies"], auth=TOKEN_OR_SESSION_AUTH)


@router.get("/probes", response=list[ProbeOut])
def probes_list(request: HttpRequest) -> list[ProbeOut]:
    """The newest probe of each model at each address, without the single points."""
    return list(selectors.probes_latest(user=user_of(request)))


@router.post("/probes", response={202: ProbeOut})
def probe_start(request: HttpRequest, body: ProbeIn) -> Status[ProbeOut]:
    """Probe a model in the background. If a probe of the same model is queued or running, that one is returned."""
    probe, new = services.probe_request(user=user_of(request), endpoint=body, reason="requested")
    if new:
        probe_run_job.delay(str(probe.id))
    return Status(202, selectors.probe_get(user=user_of(request), probe_id=probe.id))


@router.get("/probes/screens/{screen}", response={200: None})
def probe_screen(request: HttpRequest, screen: ShortText) -> HttpResponse:
    """A bundled screen as PNG."""
    policies_reader_check(user_of(request))
    return HttpResponse(
        runs.screen_png(screen), content_type="image/png", headers={"Cache-Control": "private, max-age=86400"}
    )


@router.get("/probes/{probe_id}", response=ProbeOut)
def probe_get(request: HttpRequest, probe_id: UUID) -> ProbeOut:
    """One probe with its points."""
    return selectors.probe_get(user=user_of(request), probe_id=probe_id)


@router.delete("/probes/{probe_id}", response={204: None})
def probe_cancel(request: HttpRequest, probe_id: UUID) -> Status[None]:
    """Cancel a queued or running probe."""
    services.probe_cancel(user=user_of(request), probe_id=probe_id)
    return Status(204, None)
