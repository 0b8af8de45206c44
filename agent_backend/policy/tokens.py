"""How many tokens texts have, as the model's own server counts them: learned beside the work, never waited for."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable

from vocabulary.memory import estimated

KEPT = 8_192
"""Texts whose count is kept."""
AT_ONCE = 8
"""Most texts counted at one decision: usually one is new, more where an episode goes on in another process."""


class TokenCounts:
    """The counts of one model. A text that nobody has counted yet, or ever will, is estimated."""

    def __init__(self, count: Callable[[str], Awaitable[int | None]]) -> None:
        self._count = count
        self._known: OrderedDict[str, int] = OrderedDict()
        self._learning: asyncio.Task[None] | None = None

    def length(self, text: str) -> int:
        """The tokens of a text."""
        return self._known.get(text) or estimated(text)

    def learn(self, texts: Iterable[str]) -> None:
        """Have the latest of these counted that are not known, in the background."""
        if self._learning is None or self._learning.done():
            unknown = [text for text in dict.fromkeys(texts) if text and text not in self._known]
            if unknown:
                self._learning = asyncio.create_task(self._learn(unknown[-AT_ONCE:]))

    async def aclose(self) -> None:
        """Learn no more."""
        if self._learning is not None:
            self._learning.cancel()
            await asyncio.gather(self._learning, return_exceptions=True)

    async def _learn(self, texts: list[str]) -> None:
        for text in reversed(texts):
            count = await self._count(text)
            if count is None:
                return
            self._known[text] = count
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
