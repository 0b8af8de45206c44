"""What a token allows: `AREA:read` or `AREA:write`. The area is the first part of an address, or a part named in
`AREAS_WITHIN` wherever it occurs; `*` is every area.
"""

import re
from collections.abc import Iterable

ALL_SCOPES = ("*:read", "*:write")
SCOPE_PATTERN = re.compile(r"^(\*|[a-z][a-z-]{0,31}):(read|write)$")
AREAS_WITHIN = {"review": "reviews", "judges": "judges"}
"""Decisions on work and judges need scopes of their own, also below the address of an episode or a pool."""
READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def required_scope(method: str, route: str) -> str:
    """The scope that a call needs, for example `exports:write` for a POST to the route `api/exports`.

    Args:
        route: The address pattern that matched the call. The path that a client reports may differ from it.
    """
    first, *further = route.removeprefix("api/").split("/")
    area = next((AREAS_WITHIN[part] for part in further if part in AREAS_WITHIN), first)
    return f"{area}:{'read' if method in READ_METHODS else 'write'}"


def scopes_allow(scopes: Iterable[str], needed: str) -> bool:
    """Whether these scopes suffice. Writing does not include reading."""
    return needed in scopes or f"*:{needed.rpartition(':')[2]}" in scopes
