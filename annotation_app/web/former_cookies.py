"""Keeps sign-ins valid after the upgrade that gave cookies a name specific to the installation."""

from collections.abc import Awaitable
from typing import Any

from asgiref.sync import markcoroutinefunction
from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable
from django.conf import settings


def with_former_cookies(application: Any) -> ASGI3Application:
    """The application, which finds a cookie of a former name under its name of today where a browser has no other."""

    def answer(scope: Any, receive: ASGIReceiveCallable, send: ASGISendCallable) -> Awaitable[None]:
        if settings.FORMER_COOKIE_NAMES and "headers" in scope:
            scope = {**scope, "headers": renamed_cookies(scope["headers"], settings.FORMER_COOKIE_NAMES)}
        connection: Awaitable[None] = application(scope, receive, send)
        return connection

    return markcoroutinefunction(answer)


def renamed_cookies(headers: list[tuple[bytes, bytes]], former: dict[str, str]) -> list[tuple[bytes, bytes]]:
    """These headers; a cookie of a former name is there once more under its name of today, unless that is there."""
    pairs = [pair.strip().partition(b"=") for name, value in headers if name == b"cookie" for pair in value.split(b";")]
    cookies = {name: value for name, _, value in pairs}
    today = {new.encode(): old.encode() for new, old in former.items()}
    added = [b"=".join((new, cookies[old])) for new, old in today.items() if old in cookies and new not in cookies]
    return [(name, b"; ".join((value, *added)) if name == b"cookie" else value) for name, value in headers]
