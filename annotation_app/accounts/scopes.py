"""What a token allows: `AREA:read` or `AREA:write`, an area being the first part of an address; `*` is every area."""

import re
from collections.abc import Iterable

ALL_SCOPES = ("*:read", "*:write")
SCOPE_PATTERN = re.compile(r"^(\*|[a-z][a-z-]{0,31}):(read|write)$")
READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def required_scope(method: str, route: str) -> str:
    """The scope a call needs, for example `exports:write` for a POST to the route `api/exports`.

    Args:
        route: The pattern of addresses that the call was led by. What a client says the path is may differ from it.
    """
    area = route.removeprefix("api/").split("/", 1)[0]
    return f"{area}:{'read' if method in READ_METHODS else 'write'}"


def scopes_allow(scopes: Iterable[str], needed: str) -> bool:
    """Whether these scopes are enough; writing does not include reading."""
    return needed in scopes or f"*:{needed.rpartition(':')[2]}" in scopes
