"""The front-end's one page, given for every address it knows."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

NOT_BUILT = "The front-end is not built: run `./pilothouse setup`."


@require_safe
@ensure_csrf_cookie
def page(request: HttpRequest) -> HttpResponse:
    """`index.html`, never cached: it names the files of the present build."""
    index = settings.ENV.frontend / "index.html"
    if not index.is_file():
        return HttpResponse(NOT_BUILT, status=503, content_type="text/plain")
    return HttpResponse(index.read_bytes(), content_type="text/html", headers={"Cache-Control": "no-cache"})
