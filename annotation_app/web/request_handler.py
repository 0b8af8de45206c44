"""HTTP requests, each from beginning to end on one thread of a few: middleware, sign-in and view never wait for others.

Django would begin a thread for each request and give it one middleware after the other from the event loop: some
fifteen ways there and back, each of which waits until a processor is free.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import IO, Any, cast

from asgiref.sync import markcoroutinefunction, sync_to_async
from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, Scope
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.db import close_old_connections
from django.http import HttpResponseBase
from django.urls import set_script_prefix

REQUEST_THREAD_COUNT = 12
"""Requests of a process that are answered at once; with the event loop's own eight threads as many as it may have
connections."""
REQUEST_THREADS = ThreadPoolExecutor(max_workers=REQUEST_THREAD_COUNT, thread_name_prefix="request")

Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


def without_root_path(application: Any) -> ASGI3Application:
    """The application as it lies at the root of its host, whatever a client's `Daphne-Root-Path` header says.

    With a prefix of the client's choice, the path that is logged and the path that is answered would differ.
    """

    def answer(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> Awaitable[None]:
        connection: Awaitable[None] = application({**scope, "root_path": ""}, receive, send)
        return connection

    return markcoroutinefunction(answer)


class RequestHandler(ASGIHandler):
    """Django's own, but for the threads."""

    def load_middleware(self, is_async: bool = False) -> None:
        """All of it for threads: `is_async` is what Django asks for."""
        super().load_middleware(is_async=False)

    async def handle(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request."""
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        response = await sync_to_async(self._handle_in_thread, thread_sensitive=False, executor=REQUEST_THREADS)(
            scope, body
        )
        if response.streaming:
            await self._stream(response, receive, send)
        else:
            await self.send_response(response, send)

    def _handle_in_thread(self, scope: Message, body: IO[bytes]) -> HttpResponseBase:
        """What is answered; one that is no stream is done with."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, error_response = self.create_request(scope, body)
        response: Any = error_response if request is None else self.get_response(request)
        response._handler_class = self.__class__
        if response.streaming:
            close_old_connections()  # whoever sends the stream does so elsewhere
        else:
            response.close()
            body.close()
        return cast(HttpResponseBase, response)

    async def _stream(self, response: HttpResponseBase, receive: Receive, send: Send) -> None:
        """Send it until it ends, or until nobody listens any more."""
        sending = asyncio.create_task(self.send_response(response, send))
        disconnected = asyncio.create_task(self.listen_for_disconnect(receive))
        try:
            await asyncio.wait((sending, disconnected), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (disconnected, sending):
                task.cancel()
                with suppress(RequestAborted, asyncio.CancelledError):
                    await task
            await sync_to_async(response.close)()
