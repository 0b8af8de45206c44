"""Security headers of every answer; the browser may load only what we serve and reach only our own servers."""

from collections.abc import Awaitable, Callable

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse

Handler = Callable[[HttpRequest], Awaitable[HttpResponse]]


def policy_for(host: str) -> str:
    """The content security policy for people who reach us under this host name (port included)."""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    streams = [url.replace("{host}", name) for url in (settings.ENV.bridge_public_url, settings.ENV.vnc_public_url)]
    connect = " ".join(["'self'", f"ws://{host}", f"wss://{host}", *streams])
    return "; ".join(
        (
            "default-src 'self'",
            f"connect-src {connect}",
            "img-src 'self' data: blob:",
            "media-src 'self' blob:",
            "style-src 'self' 'unsafe-inline'",
            "font-src 'self' data:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


class SecurityHeadersMiddleware:
    """Adds what Django's own middleware does not. Style attributes are inline in the control library."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponse | Awaitable[HttpResponse]:
        if iscoroutinefunction(self):
            return self.__acall__(request)
        return self._add(request, self.get_response(request))

    async def __acall__(self, request: HttpRequest) -> HttpResponse:
        return self._add(request, await self.get_response(request))  # type: ignore[misc]  # async here

    def _add(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.headers.setdefault("Content-Security-Policy", policy_for(request.get_host()))
        response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        return response
