"""Refuses sign-ins beyond the hashing capacity before they cost anything."""

import json
from typing import Any

from asgiref.typing import ASGI3Application, ASGIReceiveCallable, ASGISendCallable, Scope

from annotation_app.accounts.hashers import BUSY_MESSAGE, MAX_PARALLEL_HASHES, MAX_WAITING_HASHES
from annotation_app.errors import TooMany
from annotation_app.health.metrics import record_response

SIGN_IN_PATHS = frozenset({"/api/session", "/api/join", "/admin/login/"})
"""Where somebody without a sign-in has a password hashed, by POST."""
MAX_SIGN_INS = MAX_PARALLEL_HASHES + MAX_WAITING_HASHES
"""Sign-ins that a process works on at once."""
BUSY_BODY = json.dumps({"code": "sign_in_busy", "message": BUSY_MESSAGE, "extra": {}}).encode()


def bounded_sign_ins(application: Any) -> ASGI3Application:
    """The application, which gets at most `MAX_SIGN_INS` sign-ins at once. Others are told `sign_in_busy`.

    They are answered on the event loop: a flood takes neither threads nor connections of the database from others.
    """
    under_way = 0

    async def answer(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        nonlocal under_way
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] not in SIGN_IN_PATHS:
            await application(scope, receive, send)
            return
        if under_way >= MAX_SIGN_INS:
            await _refuse(send)
            return
        under_way += 1
        try:
            await application(scope, receive, send)
        finally:
            under_way -= 1

    return answer


async def _refuse(send: Any) -> None:
    record_response(TooMany.status)
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(BUSY_BODY)).encode())]
    await send({"type": "http.response.start", "status": TooMany.status, "headers": headers})
    await send({"type": "http.response.body", "body": BUSY_BODY})
