"""What a token allows: `AREA:read` or `AREA:write`, an area being the first part of an address; `*` is every area."""

import re
from collections.abc import Iterable

EVERYTHING = ("*:read", "*:write")
SCOPE = re.compile(r"^(\*|[a-z][a-z-]{0,31}):(read|write)$")
READING = frozenset({"GET", "HEAD", "OPTIONS"})


def scope_of(method: str, path: str) -> str:
    """The scope a call needs, for example `exports:write` for a POST to `/api/exports`."""
    area = path.removeprefix("/api/").split("/", 1)[0]
    return f"{area}:{'read' if method in READING else 'write'}"


def allows(scopes: Iterable[str], needed: str) -> bool:
    """Whether these scopes are enough; writing does not include reading."""
    return needed in scopes or f"*:{needed.rpartition(':')[2]}" in scopes
