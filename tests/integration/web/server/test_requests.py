"""Requests on threads: each stays on one, and streams end with who listens."""

import asyncio
import io
import threading
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from daphne.access import AccessLogGenerator
from django.db.models.signals import post_init
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path

from annotation_app.accounts.models import User
from annotation_app.live.store import run_in_db_thread
from annotation_app.web.former_cookies import with_former_cookies
from annotation_app.web.request_handler import REQUEST_THREAD_COUNT, RequestHandler, without_root_path
from annotation_app.web.request_logging import silence_access_log
from annotation_app.web.sign_in_admission import MAX_SIGN_INS, SIGN_IN_PATHS, bounded_sign_ins
from tests.integration.web.conftest import BOUND, World, session_of

pytestmark = pytest.mark.django_db(transaction=True)
Sent = dict[str, Any]

ended = asyncio.Event()
together = threading.Barrier(REQUEST_THREAD_COUNT)


async def endless() -> AsyncIterator[bytes]:
    """A stream that goes on until nobody listens."""
    try:
        while True:
            yield b"more"
            await asyncio.sleep(0)
    finally:
        ended.set()


def meeting(request: HttpRequest) -> HttpResponse:
    """An answer that waits until as many others are being made as there are threads."""
    together.wait(BOUND)
    return HttpResponse(threading.current_thread().name)


def thread_of(request: HttpRequest) -> HttpResponse:
    """Who answers, and whom."""
    return HttpResponse(f"{threading.current_thread().name} {request.user.pk}")


urlpatterns = [
    path("endless", lambda request: StreamingHttpResponse(endless())),
    path("meeting", meeting),
    path("thread", thread_of),
    path("where", lambda request: HttpResponse(f"{request.path} {request.path_info}")),
]


def make_request(where: str, *headers: tuple[bytes, bytes], root_path: str = "") -> Any:
    """A GET request on its way to the application, as daphne hands it over."""
    scope = {"type": "http", "http_version": "1.1", "method": "GET", "path": where, "raw_path": where.encode()}
    more = {"query_string": b"", "headers": [(b"host", b"localhost"), *headers], "client": ("127.0.0.1", 1)}
    communicator: Any = ApplicationCommunicator
    application = without_root_path(with_former_cookies(RequestHandler()))
    return communicator(application, {**scope, **more, "root_path": root_path})


async def answer(request: Any) -> bytes:
    """The whole body of a good answer."""
    await request.send_input({"type": "http.request", "body": b""})
    begun: Sent = await request.receive_output(BOUND)
    assert begun["status"] == 200
    body: bytes = b""
    while True:
        part: Sent = await request.receive_output(BOUND)
        body += bytes(part["body"])
        if not part.get("more_body"):
            await request.wait(BOUND)
            return body


@pytest.mark.urls(__name__)
class TestThreads:
    async def test_who_asks_is_loaded_on_the_thread_that_answers(self, committed: World) -> None:
        loaded: list[str] = []

        def note(**_: object) -> None:
            loaded.append(threading.current_thread().name)

        session = await run_in_db_thread(session_of, user=committed.ada)
        post_init.connect(note, sender=User)
        try:
            told = await answer(make_request("/thread", (b"cookie", f"sessionid={session}".encode())))
        finally:
            post_init.disconnect(note, sender=User)
        assert [*loaded, str(committed.ada.pk)] == told.decode().split()
        assert loaded[0].startswith("request")

    async def test_a_sign_in_outlives_the_former_name_of_its_cookie(self, committed: World, settings: Any) -> None:
        former = settings.SESSION_COOKIE_NAME
        session = await run_in_db_thread(session_of, user=committed.ada)
        settings.SESSION_COOKIE_NAME = "0a1b2c3d-sessionid"
        request = partial(make_request, "/thread", (b"cookie", f"{former}={session}".encode()))
        assert (await answer(request())).split()[-1] == b"None"
        settings.FORMER_COOKIE_NAMES = {settings.SESSION_COOKIE_NAME: former}
        assert (await answer(request())).split()[-1] == str(committed.ada.pk).encode()

    async def test_no_client_says_where_the_application_lies(self) -> None:
        assert await answer(make_request("/where", root_path="/where")) == b"/where /where"

    async def test_as_many_are_answered_at_once_as_there_are_threads(self) -> None:
        names = await asyncio.gather(*(answer(make_request("/meeting")) for _ in range(REQUEST_THREAD_COUNT)))
        assert len(set(names)) == REQUEST_THREAD_COUNT

    async def test_a_stream_ends_when_nobody_listens(self) -> None:
        ended.clear()
        request = make_request("/endless")
        await request.send_input({"type": "http.request", "body": b""})
        await request.receive_output(BOUND)
        assert (await request.receive_output(BOUND))["body"] == b"more"
        await request.send_input({"type": "http.disconnect"})
        await asyncio.wait_for(ended.wait(), BOUND)
        await request.wait(BOUND)


async def test_sign_ins_beyond_what_is_hashed_cost_nothing() -> None:
    """They are refused on the event loop, and others go on."""
    going_on, begun = asyncio.Event(), asyncio.Semaphore(0)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        begun.release()
        await going_on.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    bounded = bounded_sign_ins(application)
    communicator: Any = ApplicationCommunicator

    def ask(path: str) -> Any:
        return communicator(bounded, {"type": "http", "method": "POST", "path": path})

    admitted = [ask(path) for path in [*SIGN_IN_PATHS, *["/api/session"] * MAX_SIGN_INS][:MAX_SIGN_INS]]
    admitted.append(ask("/api/queue/next"))
    for request in admitted:
        await request.send_input({"type": "http.request"})
    for _ in admitted:
        await asyncio.wait_for(begun.acquire(), BOUND)
    one_more = ask("/api/session")
    assert (await one_more.receive_output(BOUND))["status"] == 429
    assert b"sign_in_busy" in (await one_more.receive_output(BOUND))["body"]
    going_on.set()
    assert [(await request.receive_output(BOUND))["status"] for request in admitted] == [200] * len(admitted)
    assert (await ask("/api/session").receive_output(BOUND))["status"] == 200


def test_daphne_writes_no_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """They have queries with codes of single sign-on."""
    monkeypatch.setattr(AccessLogGenerator, "write_entry", AccessLogGenerator.write_entry)
    silence_access_log()
    written = io.StringIO()
    told = {"client": "c", "method": "GET", "path": "/sso/oidc/login/callback/?code=secret", "status": 200, "size": 1}
    AccessLogGenerator(written)("http", "complete", told)
    assert written.getvalue() == ""
