"""Rules for `permissions.ROUTES`: which roles a route accepts."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from benchmarks.parts.safety.things import Things

Caller = Literal["nobody", "owner", "annotator", "reviewer", "researcher", "admin"]
"""`owner` is the annotator whose episode it is (token, session, …), `annotator` another one."""
CALLERS: tuple[Caller, ...] = ("nobody", "owner", "annotator", "reviewer", "researcher", "admin")
SIGNED_IN = frozenset(CALLERS) - {"nobody"}
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Rule:
    """Which callers a route accepts. Others get 401 without a sign-in, 404 where the object is hidden from them, else
    403."""

    callers: frozenset[Caller]
    hidden: frozenset[Caller] = frozenset()
    body: Callable[[Things], dict[str, Any]] = field(default=lambda things: {})
    absent: bool = False
    """Whether accepted callers get 404 here: the object needs a running machine or two episodes."""
    path: str = ""
    """What follows the path: a query that the route insists on."""


def body_of(**fields: Any) -> Callable[[Things], dict[str, Any]]:
    """A body that needs nothing of the database."""
    return lambda things: fields


def only(*callers: Caller, **rule: Any) -> Rule:
    """For these roles; others get 403."""
    return Rule(frozenset(callers), **rule)


def open_to_all(**rule: Any) -> Rule:
    """Without a sign-in."""
    return Rule(frozenset(CALLERS), **rule)


def everybody(**rule: Any) -> Rule:
    """Every signed-in person may call it."""
    return Rule(SIGNED_IN, **rule)


def owner_and_staff(**rule: Any) -> Rule:
    """For the owner and the staff; to others it does not exist."""
    return Rule(SIGNED_IN - {"annotator"}, frozenset({"annotator"}), **rule)


def staff(**rule: Any) -> Rule:
    """For reviewers, researchers and admins."""
    return Rule(frozenset({"reviewer", "researcher", "admin"}), **rule)


def reviewing(**rule: Any) -> Rule:
    """For reviewers and admins; where it is somebody's, other annotators are not told that there is such a thing."""
    return Rule(frozenset({"reviewer", "admin"}), **rule)


def owner_only(**rule: Any) -> Rule:
    """For the owner alone; to others it does not exist."""
    return Rule(frozenset({"owner"}), SIGNED_IN - {"owner"}, **rule)


def recording(**rule: Any) -> Rule:
    """For the annotator whose recording or paired computer it is; to other annotators it does not exist."""
    return Rule(frozenset({"owner"}), frozenset({"annotator"}), **rule)


def uploading(**rule: Any) -> Rule:
    """For the researcher whose upload it is; to an admin, who may import as well, it does not exist."""
    return Rule(frozenset({"researcher"}), frozenset({"admin"}), **rule)
