"""Whether the platform works: for load balancers yes and no, for admins every part, for Prometheus its figures."""

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Path, Router, Status
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.health import metrics
from annotation_app.health.schemas import HealthPage, ModelServerStatus
from annotation_app.health.selectors import admin_check, health_page, model_server_status, run_readiness_checks
from protocol.base import FrozenModel

router = Router(tags=["health"])
RevisionPath = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


class Health(FrozenModel):
    """Whether each thing the web app needs answers."""

    ok: bool
    checks: dict[str, bool]


@router.get("/health", auth=None, response={200: Health, 503: Health})
def health_get(request: HttpRequest) -> Status[Health]:
    """Whether the web app can work; open to all, so it tells nothing but yes and no. A full disk is no reason to take
    the web app away (503): people make room with it."""
    checks = run_readiness_checks()
    ready = checks["database"] and checks["redis"]
    return Status(200 if ready else 503, Health(ok=all(checks.values()), checks=checks))


@router.get("/health/parts", response=HealthPage, auth=TOKEN_OR_SESSION_AUTH)
def health_parts(request: HttpRequest) -> HealthPage:
    """Every process, queue, disk and model server, asked now."""
    return health_page(user=user_of(request))


@router.get("/health/models/{revision_id}", response=ModelServerStatus, auth=TOKEN_OR_SESSION_AUTH)
def health_model(request: HttpRequest, revision_id: RevisionPath) -> ModelServerStatus:
    """Whether the server of a revision answers, asked now."""
    return model_server_status(user=user_of(request), revision_id=revision_id)


@router.get("/metrics", response={200: None}, auth=TOKEN_OR_SESSION_AUTH)
def metrics_get(request: HttpRequest) -> HttpResponse:
    """The figures in Prometheus' text format; for an admin's token with the scope `metrics:read`."""
    admin_check(user_of(request))
    return HttpResponse(metrics.render_metrics(), content_type=CONTENT_TYPE_LATEST)
