"""The health check: open to all, so it tells nothing but yes and no."""

from django.http import HttpRequest
from ninja import Router, Status

from annotation_app.health.selectors import checks_run
from vocabulary.base import Frozen

router = Router(tags=["health"])


class Health(Frozen):
    """Whether each thing the web app needs answers."""

    ok: bool
    checks: dict[str, bool]


@router.get("/health", auth=None, response={200: Health, 503: Health})
def health_get(request: HttpRequest) -> Status[Health]:
    """Whether the web app can work."""
    checks = checks_run()
    ok = all(checks.values())
    return Status(200 if ok else 503, Health(ok=ok, checks=checks))
