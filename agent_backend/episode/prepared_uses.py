"""Reports what prepared requests cost and whether they were used."""

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Literal

from agent_backend.telemetry.requests import PolicyRequest
from protocol.base import FrozenModel

logger = logging.getLogger(__name__)

PreparedOutcome = Literal["open", "used", "discarded"]
"""`open` while the episode may still match the guess."""


class PreparedUse(FrozenModel):
    """One prepared request: a model request that was sent before it was needed.

    Attributes:
        id: A permanent id, so that the use is counted once.
        seconds: How long the request ran; None while it does.
        input_tokens: Tokens of its prompt; None if the model server does not report it.
        output_tokens: Tokens of its replies, as for `input_tokens`.
    """

    id: uuid.UUID
    started_at: datetime
    outcome: PreparedOutcome = "open"
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None


def begin_use() -> PreparedUse:
    """A request that begins now."""
    return PreparedUse(id=uuid.uuid4(), started_at=datetime.now(UTC))


def end_request(use: PreparedUse, request: PolicyRequest) -> PreparedUse:
    """The use with the cost of its request, once that has ended, also by an error or a cancellation."""
    read, written = request.count_tokens()
    seconds = (request.ended - request.started) / 1e9
    return use.model_copy(update={"seconds": seconds, "input_tokens": read, "output_tokens": written})


class PreparedUseRecorder:
    """Stores the latest state of each use, one after the other, in the background. Only `close` waits for it.

    Args:
        store: Stores a use in place of the earlier one with its id. Errors are logged, and the use is stored with the
            next one.
    """

    def __init__(self, store: Callable[[PreparedUse], Awaitable[None]]) -> None:
        self._store = store
        self._waiting: dict[uuid.UUID, PreparedUse] = {}
        self._task: asyncio.Task[None] | None = None

    def note(self, use: PreparedUse) -> None:
        """Store a use soon; of several states of one use only the last is stored."""
        self._waiting[use.id] = use
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def close(self, *, within: float) -> None:
        """Wait until all uses are stored, for at most so many seconds."""
        deadline = time.monotonic() + within
        if self._task is not None:
            await asyncio.wait((self._task,), timeout=within)
        if self._waiting and (self._task is None or self._task.done()) and (left := deadline - time.monotonic()) > 0:
            self._task = asyncio.create_task(self._run())
            await asyncio.wait((self._task,), timeout=left)

    async def _run(self) -> None:
        while self._waiting:
            use = self._waiting.pop(next(iter(self._waiting)))
            try:
                await self._store(use)
            except Exception:
                logger.exception("a prepared request was not counted")
                self._waiting.setdefault(use.id, use)
                return
