"""Trace ids: one id from a click to all its effects. It is set where work begins, passed on, and added to every log
line.

A command of the annotation page uses its own id, which the bridge and the guest also use. An HTTP request brings one
in `X-Request-ID` or gets a new one. A job has the id of the work that queued it.
"""

import json
import logging
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from protocol.log_lines import LineFormatter, escape_controls

TRACE_HEADER = "X-Request-ID"
JOB_HEADER = "pilothouse_trace"
TRACE_ID_PATTERN = re.compile(r"^[A-Za-z0-9_-]{8,64}$")
_trace: ContextVar[str] = ContextVar("trace", default="")


def trace_id() -> str:
    """The id of the current work; empty if none was set."""
    return _trace.get()


def trace_begin(requested_id: str | None) -> str:
    """Set the id for the work from now on, or a new one if it is not valid."""
    trace = _valid_or_new(requested_id)
    _trace.set(trace)
    return trace


@contextmanager
def trace_context(requested_id: str | None) -> Iterator[str]:
    """Run the block under this id, or under a new one if it is not valid."""
    trace = _valid_or_new(requested_id)
    token = _trace.set(trace)
    try:
        yield trace
    finally:
        _trace.reset(token)


def _valid_or_new(requested_id: str | None) -> str:
    return requested_id if requested_id and TRACE_ID_PATTERN.match(requested_id) else secrets.token_hex(8)


class TraceFilter(logging.Filter):
    """Adds the trace id to every log record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.trace = trace_id()
        return True


class JsonFormatter(logging.Formatter):
    """One JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "trace": getattr(record, "trace", ""),
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return escape_controls(json.dumps(line, ensure_ascii=False))


def log_formatter(form: str) -> logging.Formatter:
    """The log format: `plain` or `json`."""
    return JsonFormatter() if form == "json" else LineFormatter("%(levelname)s %(name)s [%(trace)s] %(message)s")
