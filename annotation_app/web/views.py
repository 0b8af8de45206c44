"""The front-end's one page, given for every address it knows, and the admin's way in."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

NOT_BUILT_MESSAGE = "The front-end is not built: run `./pilothouse setup`."


@require_safe
@ensure_csrf_cookie
def frontend_page(request: HttpRequest) -> HttpResponse:
    """`index.html`, never cached: it names the files of the present build."""
    index = settings.ENV.frontend / "index.html"
    if not index.is_file():
        return HttpResponse(NOT_BUILT_MESSAGE, status=503, content_type="text/plain")
    return HttpResponse(index.read_bytes(), content_type="text/html", headers={"Cache-Control": "no-cache"})


def admin_sign_in(request: HttpRequest) -> HttpResponse:
    """The admin's sign-in is everybody's, where guessing is slowed down; who is not of the staff goes home."""
    if request.user.is_authenticated:
        return redirect("/admin/" if request.user.is_staff else "/")
    return redirect("/sign-in?next=/admin/")
