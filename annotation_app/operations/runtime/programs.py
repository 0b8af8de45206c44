"""Supervised programs: command, environment, and readiness check."""

import asyncio
import signal
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

POLL_SECONDS = 0.05
RESPONSE_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class OutputReadiness:
    """Ready when a line of its output contains this text."""

    text: str


@dataclass(frozen=True, slots=True)
class PortReadiness:
    """Ready when this TCP port accepts a connection."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class HttpReadiness:
    """Ready when this URL answers with a status below 400."""

    url: str


Readiness = OutputReadiness | PortReadiness | HttpReadiness


@dataclass(frozen=True, slots=True)
class Program:
    """One process of the platform. Times are seconds."""

    name: str
    command: tuple[str, ...]
    ready: Readiness
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the supervisor's own environment."""
    ready_timeout_seconds: float = 60.0
    stop_signal: signal.Signals = signal.SIGTERM
    stop_timeout_seconds: float = 10.0


async def wait_until_ready(readiness: Readiness, ready_line_seen: asyncio.Event) -> None:
    """Return when the program is ready. The reader of its output sets `ready_line_seen`. The caller bounds the wait."""
    match readiness:
        case OutputReadiness():
            await ready_line_seen.wait()
        case PortReadiness(host, port):
            await _poll_until(lambda: _accepts_connection(host, port))
        case HttpReadiness(url):
            await _poll_until(lambda: asyncio.to_thread(responds, url))


async def _poll_until(holds: Callable[[], Awaitable[bool]]) -> None:
    # Another program's readiness sends no event to wait for.
    while not await holds():  # noqa: ASYNC110
        await asyncio.sleep(POLL_SECONDS)


async def _accepts_connection(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    return True


def responds(url: str) -> bool:
    """Whether a URL answers with a status below 400."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=RESPONSE_TIMEOUT_SECONDS):
            return True
    except (urllib.error.URLError, OSError):
        return False
