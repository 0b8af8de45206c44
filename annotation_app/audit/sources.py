"""How an actor came in: in a browser, by an access token, by a command, or as a background job.

The source is set where work begins, and stored with every audit log entry written during that work.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, get_args

SourceKind = Literal["browser", "token", "command", "job", "part"]
"""`part`: a part of the platform acted, not a person."""
Part = Literal["access_check", "command", "gate", "leases", "passwords", "refills", "retention", "sampling", "webhooks"]
"""The parts of the platform that act on their own. The front-end has a name for each in every language."""

PARTS: tuple[Part, ...] = get_args(Part)
MAX_SOURCE_CHARACTERS = 80
_source: ContextVar[str] = ContextVar("audit_source", default="")


def current_source() -> str:
    """How the current work was started, as `kind` or `kind:name`; empty if unknown."""
    return _source.get()


def source_begin(kind: SourceKind, name: str = "") -> None:
    """Set the source of the work that follows, until the surrounding `source_context` ends. `name` is that of the
    token, command or job."""
    _source.set(_joined(kind, name))


@contextmanager
def source_context(kind: SourceKind, name: str = "") -> Iterator[None]:
    """Set the source of the work in the block."""
    token = _source.set(_joined(kind, name))
    try:
        yield
    finally:
        _source.reset(token)


def part_source(part: Part) -> str:
    """The source for a part's work. For the part `command` it names the running command, if there is one."""
    running = current_source()
    return running if part == "command" and running.startswith("command:") else _joined("part", part)


def _joined(kind: SourceKind, name: str) -> str:
    return (f"{kind}:{name}" if name else kind)[:MAX_SOURCE_CHARACTERS]
