"""Middleware made of one plain function, for sync and async requests alike."""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware

Change = Callable[[HttpRequest, HttpResponse], HttpResponse]
Handler = Callable[[HttpRequest], Any]


def middleware_of(change: Change) -> Callable[[Handler], Handler]:
    """Middleware that gives every response to `change`."""

    @sync_and_async_middleware
    def middleware(get_response: Handler) -> Handler:
        if iscoroutinefunction(get_response):

            async def answer_async(request: HttpRequest) -> HttpResponse:
                return change(request, await get_response(request))

            return answer_async

        def answer(request: HttpRequest) -> HttpResponse:
            return change(request, get_response(request))

        return answer

    return middleware
