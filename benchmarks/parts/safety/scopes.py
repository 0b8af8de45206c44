"""A token that may read one area asks for everything else, under every spelling of a path that we know."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from benchmarks.parts.figures import print_progress
from benchmarks.parts.safety.requests import JSON, Answer, Session, http_connection

SCOPE = "feed:read"
SCOPE_PATH = "/api/feed"
FREE_PATHS = ("/api/feed", "/api/me/signed-in")
"""What the scope allows, and what only says whether a token is one."""
PREFIX_HEADERS = (
    *("Daphne-Root-Path", "Script-Name", "X-Script-Name", "X-Forwarded-Prefix", "X-Forwarded-Path"),
    *("X-Original-URL", "X-Original-URI", "X-Rewrite-URL", "X-Envoy-Original-Path", "Path-Info", "Raw-Path"),
)
TOO_MANY, TRIES = 429, 3
OPEN_STATUSES = frozenset({200, 201, 202, 204, 206, 304, 409, 422, 500})
"""Answers that are given to somebody who was let in; 409, 422 and 500 come after the sign-in was checked."""


@dataclass(frozen=True, slots=True)
class Form:
    """A way to write one request: its target, and headers."""

    name: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)


def forms(path: str) -> Iterator[Form]:
    """A path as it is, and in the ways that might be read as another path."""
    rest = path.removeprefix("/")
    tail = path.removeprefix("/api")
    yield Form("plain", path)
    for header in PREFIX_HEADERS:
        yield Form(header, path, {header: SCOPE_PATH})
    yield Form("method override", path, {"X-HTTP-Method-Override": "GET", "X-HTTP-Method": "GET"})
    yield Form("root path in the target", f"{SCOPE_PATH}{path}", {"Daphne-Root-Path": SCOPE_PATH})
    yield Form("dots", f"{SCOPE_PATH}/../..{path}")
    yield Form("encoded dots", f"{SCOPE_PATH}/%2e%2e/%2e%2e{path}")
    yield Form("encoded slashes", f"{SCOPE_PATH}%2f..%2f..%2f{rest}")
    yield Form("double slash", f"//{rest}")
    yield Form("encoded", f"/%61pi{quote(tail, safe='/')}")
    yield Form("backslash", f"/api\\..{path}")
    yield Form("parameter", f"{SCOPE_PATH};/..{path}")
    yield Form("absolute", f"http://localhost{path}")
    yield Form("capital", f"/API{tail}")
    yield Form("slash at the end", f"{path}/")
    yield Form("dot", f"/./{rest}")
    yield Form("query", f"{path}?path={SCOPE_PATH}&SCRIPT_NAME={SCOPE_PATH}")


def is_open(answer: Answer) -> bool:
    """Whether an answer is one of the API to somebody who was let in; the front end's page is open to all."""
    return answer.status in OPEN_STATUSES and not answer.kind.startswith("text/html")


def try_scopes(addresses: Sequence[str], token: str, routes: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Call every route in every form at every address, with a token of `SCOPE` alone.

    Args:
        addresses: `host:port` of a web process, and of the proxy before it.
        routes: Method and path of each, without those that need no sign-in.
    """
    counts: Counter[str] = Counter()
    session = Session(bearer=token)
    for address in addresses:
        with http_connection(address) as connection:
            if connection.call("GET", SCOPE_PATH, session).status not in (200, 400):
                raise RuntimeError("the token does not open what it is for; nothing was tried")
            for method, path in routes:
                if path.startswith(FREE_PATHS):
                    continue
                for form in forms(path):
                    headers = {**session.headers(), **form.headers, "Content-Type": JSON}
                    body = None if method in ("GET", "HEAD") else b"{}"
                    answer = next(
                        (answer for _ in range(TRIES)
                         if (answer := connection.send(method, form.target, headers, body)).status != TOO_MANY),
                        Answer(TOO_MANY),
                    )  # fmt: skip
                    if answer.status in (0, TOO_MANY):
                        continue
                    counts["scope_tries"] += 1
                    if is_open(answer):
                        counts["scope_bypass"] += 1
                        print_progress(f"open: {method} {form.target} ({form.name}) at {address}: {answer.status}")
    return {"scope_tries": counts["scope_tries"], "scope_bypass": counts["scope_bypass"]}
