"""How those who act came in: in a browser, by an access token, by a command, or as a background job.

Set where work begins, and stored with every entry of the audit log that is written meanwhile.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, get_args

SourceKind = Literal["browser", "token", "command", "job", "part"]
"""`part`: no person acted, but a part of the platform."""
Part = Literal["access_check", "command", "gate", "leases", "passwords", "refills", "retention", "sampling", "webhooks"]
"""What of the platform acts by itself. The front-end has words for each in every language."""

PARTS: tuple[Part, ...] = get_args(Part)
MAX_SOURCE_CHARACTERS = 80
_source: ContextVar[str] = ContextVar("audit_source", default="")


def current_source() -> str:
    """How the present work was begun, as `kind` or `kind:name`; empty where that is not known."""
    return _source.get()


def source_begin(kind: SourceKind, name: str = "") -> None:
    """Note how the work that follows was begun, until the surrounding `source_context` ends. `name` is that of the
    token, command or job."""
    _source.set(_joined(kind, name))


@contextmanager
def source_context(kind: SourceKind, name: str = "") -> Iterator[None]:
    """What is done inside was begun so."""
    token = _source.set(_joined(kind, name))
    try:
        yield
    finally:
        _source.reset(token)


def part_source(part: Part) -> str:
    """The source of what a part does; a command is named where one runs."""
    running = current_source()
    return running if part == "command" and running.startswith("command:") else _joined("part", part)


def _joined(kind: SourceKind, name: str) -> str:
    return (f"{kind}:{name}" if name else kind)[:MAX_SOURCE_CHARACTERS]
