"""Middleware made of one plain function, for sync and async requests alike."""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

ResponseTransform = Callable[[HttpRequest, HttpResponse], HttpResponse]
GetResponse = Callable[[HttpRequest], Any]


def response_middleware(transform: ResponseTransform) -> Callable[[GetResponse], GetResponse]:
    """Middleware that gives every response to `change`."""

    @sync_and_async_middleware
    def middleware(get_response: GetResponse) -> GetResponse:
        if iscoroutinefunction(get_response):

            async def respond_async(request: HttpRequest) -> HttpResponse:
                return transform(request, await get_response(request))

            return respond_async

        def respond(request: HttpRequest) -> HttpResponse:
            return transform(request, get_response(request))

        return respond

    return middleware
