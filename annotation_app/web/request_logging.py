"""Gives every request an id, which the response carries, and measures its duration."""

import logging
import time
from http import HTTPMethod
from typing import Any

from asgiref.sync import iscoroutinefunction
from daphne.access import AccessLogGenerator
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

from annotation_app.health.metrics import record_request, record_response
from annotation_app.trace import TRACE_HEADER, trace_context
from annotation_app.web.middleware import GetResponse

logger = logging.getLogger("pilothouse.http")
KNOWN_METHODS = {method.value for method in HTTPMethod}
"""A client may invent others, each of which would be a series of figures that is kept for ever."""
UNLOGGED_PATHS = ("/api/health", "/api/metrics", "/assets/")
"""What is asked so often that a line for each would hide the rest."""


def silence_access_log() -> None:
    """Have Daphne write no line for each request, whatever it was told: the line has the query of the address, in which
    single sign-on puts codes. Our own is without."""
    AccessLogGenerator.write_entry = _write_nothing


def _write_nothing(_: AccessLogGenerator, **entry: object) -> None:
    """In place of a line."""


@sync_and_async_middleware
def trace_requests(get_response: GetResponse) -> GetResponse:
    """Middleware around all others."""
    if iscoroutinefunction(get_response):

        async def respond_async(request: HttpRequest) -> Any:
            began = time.monotonic()
            with trace_context(request.headers.get(TRACE_HEADER)) as trace:
                return _record_response(request, await get_response(request), trace, began)

        return respond_async

    def respond(request: HttpRequest) -> Any:
        began = time.monotonic()
        with trace_context(request.headers.get(TRACE_HEADER)) as trace:
            return _record_response(request, get_response(request), trace, began)

    return respond


def _record_response(request: HttpRequest, response: HttpResponse, trace: str, began: float) -> HttpResponse:
    seconds = time.monotonic() - began
    route = request.resolver_match.route if request.resolver_match else "none"
    method = request.method if request.method in KNOWN_METHODS else "other"
    record_request(method, route, seconds)
    record_response(response.status_code)
    response.headers[TRACE_HEADER] = trace
    if not request.path_info.startswith(UNLOGGED_PATHS):
        logger.info("%s %s %s in %.0f ms", request.method, request.path, response.status_code, seconds * 1000)
    return response
