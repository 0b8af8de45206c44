"""Sets the audit source of a request to the browser, until a token is read in it."""

from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware

from annotation_app.audit.sources import source_context
from annotation_app.web.middleware import GetResponse


@sync_and_async_middleware
def note_audit_source(get_response: GetResponse) -> GetResponse:
    """Middleware around those that sign in."""
    if iscoroutinefunction(get_response):

        async def respond_async(request: HttpRequest) -> Any:
            with source_context("browser"):
                return await get_response(request)

        return respond_async

    def respond(request: HttpRequest) -> Any:
        with source_context("browser"):
            return get_response(request)

    return respond
