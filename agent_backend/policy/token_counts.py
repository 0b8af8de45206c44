"""Token counts of texts from the model's own server, requested in the background; nothing waits for them."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable

from protocol.trajectory.memory import estimate_tokens

CACHE_SIZE = 8_192
"""Texts whose count is kept."""
MAX_TEXTS_PER_STEP = 8
"""Most texts counted at one decision: usually one is new, more if another process resumes an episode."""


class TokenCounter:
    """The counts of one model. A text without a count is estimated."""

    def __init__(self, count: Callable[[str], Awaitable[int | None]]) -> None:
        self._count = count
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._counting: asyncio.Task[None] | None = None

    def length(self, text: str) -> int:
        """The tokens of a text."""
        return self._counts.get(text) or estimate_tokens(text)

    def count_in_background(self, texts: Iterable[str]) -> None:
        """Request the unknown counts of the latest of these texts, in the background."""
        if self._counting is None or self._counting.done():
            unknown = [text for text in dict.fromkeys(texts) if text and text not in self._counts]
            if unknown:
                self._counting = asyncio.create_task(self._count_all(unknown[-MAX_TEXTS_PER_STEP:]))

    async def aclose(self) -> None:
        """Stop counting."""
        if self._counting is not None:
            self._counting.cancel()
            await asyncio.gather(self._counting, return_exceptions=True)

    async def _count_all(self, texts: list[str]) -> None:
        for text in reversed(texts):
            count = await self._count(text)
            if count is None:
                return
            self._counts[text] = count
            if len(self._counts) > CACHE_SIZE:
                self._counts.popitem(last=False)
