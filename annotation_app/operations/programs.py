"""What a supervised program is: its command, its surroundings, and how one knows that it is ready."""

import asyncio
import signal
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

POLL_SECONDS = 0.05
ANSWER_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Says:
    """Ready when a line of its output contains this text."""

    text: str


@dataclass(frozen=True, slots=True)
class Listens:
    """Ready when this TCP port accepts a connection."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Answers:
    """Ready when this URL answers with a status below 400."""

    url: str


Readiness = Says | Listens | Answers


@dataclass(frozen=True, slots=True)
class Program:
    """One process of the platform. Times are seconds."""

    name: str
    command: tuple[str, ...]
    ready: Readiness
    environment: Mapping[str, str] = field(default_factory=dict)
    """Added to the supervisor's own."""
    ready_within: float = 60.0
    stop_signal: signal.Signals = signal.SIGTERM
    stop_within: float = 10.0


async def until_ready(readiness: Readiness, said: asyncio.Event) -> None:
    """Return when the program is ready; `said` is set by the reader of its output. The caller bounds the wait."""
    match readiness:
        case Says():
            await said.wait()
        case Listens(host, port):
            await _until(lambda: _accepts(host, port))
        case Answers(url):
            await _until(lambda: asyncio.to_thread(answers, url))


async def _until(holds: Callable[[], Awaitable[bool]]) -> None:
    # Another program's readiness sends no event that could be waited for.
    while not await holds():  # noqa: ASYNC110
        await asyncio.sleep(POLL_SECONDS)


async def _accepts(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    return True


def answers(url: str) -> bool:
    """Whether a URL answers with a status below 400."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=ANSWER_SECONDS):
            return True
    except (urllib.error.URLError, OSError):
        return False
