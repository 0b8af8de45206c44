"""Every route as everybody, over HTTP, by the permission table."""

import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.parts.figures import print_progress
from benchmarks.parts.safety.requests import JSON, Answer, HttpConnection, Session, http_connection

REFUSALS = frozenset({401, 403, 404})
READS = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class RouteCall:
    """A route with its path filled in, and who may call it."""

    route: str
    method: str
    target: str
    body: Any
    file: Sequence[str] | None
    """Name and contents of a file that is sent instead of `body`."""
    fields: Mapping[str, str]
    callers: frozenset[str]


def try_roles(address: str, calls: Sequence[RouteCall], sessions: Mapping[str, Session]) -> dict[str, int]:
    """Call each route as everybody who may not, and the reading ones as everybody.

    Routes that change something are not called by those who may: one such call changes what the next is told.

    Args:
        address: `host:port` of the web process.
        calls: The routes.
        sessions: By caller; `nobody` has an empty one.
    """
    counts: Counter[str] = Counter()
    with http_connection(address) as connection:
        for caller, session in sessions.items():
            if caller != "nobody" and connection.call("PATCH", "/api/me", session, {"preferences": {}}).status != 200:
                raise RuntimeError(f"the session of {caller} is none; nothing was tried")
        for call in calls:
            for caller, session in sessions.items():
                allowed = caller in call.callers
                if allowed and call.method not in READS:
                    continue
                answer = _call(connection, call, session)
                counts["routes_x_roles"] += 1
                if not allowed and answer.status not in REFUSALS:
                    counts["open_that_should_not"] += 1
                    print_progress(f"open: {call.route} as {caller}: {answer.status}")
                if allowed and answer.status in (401, 403):
                    counts["closed_that_should_not"] += 1
                    print_progress(f"closed: {call.route} as {caller}: {answer.status}")
    names = ("routes_x_roles", "open_that_should_not", "closed_that_should_not")
    return {name: counts[name] for name in names}


def _call(connection: HttpConnection, call: RouteCall, session: Session) -> Answer:
    if call.file is not None:
        kind, body = multipart(call.file, call.fields)
    elif call.method in READS:
        return connection.send(call.method, call.target, session.headers())
    else:
        kind, body = JSON, json.dumps(call.body).encode()
    return connection.send(call.method, call.target, {**session.headers(), "Content-Type": kind}, body)


def multipart(file: Sequence[str], fields: Mapping[str, str]) -> tuple[str, bytes]:
    """The content type and the body of a form with one file."""
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'
        for name, text in fields.items()
    ]
    name, contents = file
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
        f"Content-Type: application/octet-stream\r\n\r\n{contents}\r\n--{boundary}--\r\n"
    )
    return f"multipart/form-data; boundary={boundary}", "".join(parts).encode()
