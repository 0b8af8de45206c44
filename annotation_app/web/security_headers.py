"""Security headers of every answer; the browser may load only what we serve and reach only our own servers."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from annotation_app.public_urls import public_csp_source
from annotation_app.web.middleware import response_middleware


def content_security_policy(host: str) -> str:
    """The content security policy for people who reach us under this host name (port included)."""
    name = urlsplit(f"//{host}").hostname or host
    bridge, vnc = (
        public_csp_source(url, host=name) for url in (settings.ENV.bridge_public_url, settings.ENV.vnc_public_url)
    )
    streams = (bridge, bridge.replace("http", "ws", 1), vnc)
    previews = public_csp_source(settings.ENV.preview_url, host=name) if settings.ENV.preview_url else bridge
    connect = " ".join(["'self'", f"ws://{host}", f"wss://{host}", *streams])
    return "; ".join(
        (
            "default-src 'self'",
            f"connect-src {connect}",
            f"frame-src {previews}",
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


def _add_security_headers(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """What Django's own middleware does not add. Style attributes are inline in the control library."""
    response.headers.setdefault("Content-Security-Policy", content_security_policy(request.get_host()))
    response.headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
    return response


security_headers = response_middleware(_add_security_headers)
