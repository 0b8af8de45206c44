"""Which pages may open a WebSocket: those of the web app itself.

A browser sends cookies of a host name to every port of it, and asks no server whether it may open a WebSocket. Scheme,
host and port of the page are therefore compared whole, as Django compares them for forms.
"""

from collections.abc import Awaitable
from typing import Any
from urllib.parse import urlsplit

from asgiref.sync import markcoroutinefunction
from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, Scope
from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import is_same_domain


def same_origin_only(application: Any) -> ASGI3Application:
    """The application for WebSockets that pages of the web app open; the handshake of any other is refused."""
    denier: Any = WebsocketDenier.as_asgi()

    def answer(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> Awaitable[None]:
        connection: Awaitable[None] = (application if origin_allowed(scope) else denier)(scope, receive, send)
        return connection

    return markcoroutinefunction(answer)


def origin_allowed(scope: Any) -> bool:
    """Whether the page that opens a WebSocket is the web app's own, or of an origin in `CSRF_TRUSTED_ORIGINS`.

    A handshake without an `Origin` is refused: every browser sends one.
    """
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    origin, host = headers.get(b"origin", ""), headers.get(b"host", "")
    if any(_matches(origin, trusted) for trusted in settings.CSRF_TRUSTED_ORIGINS):
        return True
    known = bool(validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS))
    return known and origin == f"{_scheme(scope, headers)}://{host.lower()}"


def _scheme(scope: Any, headers: dict[bytes, str]) -> str:
    """`https` where the browser speaks TLS, be it with a proxy before us."""
    header, secure = getattr(settings, "SECURE_PROXY_SSL_HEADER", None) or ("", "")
    name = header.removeprefix("HTTP_").replace("_", "-").lower().encode()
    behind_tls = bool(header) and headers.get(name) == secure
    return "https" if behind_tls or scope.get("scheme") == "wss" else "http"


def _matches(origin: str, trusted: str) -> bool:
    """Whether an origin is a trusted one, which may have `*.` before its name."""
    if "*" not in trusted:
        return origin == trusted
    origin_url, pattern = urlsplit(origin), urlsplit(trusted)
    return origin_url.scheme == pattern.scheme and bool(is_same_domain(origin_url.netloc, pattern.netloc.lstrip("*")))
