"""A model that answers with text, behind an OpenAI-compatible server."""

from collections.abc import Sequence
from typing import Any

import httpx

from agent_backend.policy.completions import CompletionsClient, RequestTimeouts
from agent_backend.policy.samples import Samples

TIMEOUTS = RequestTimeouts(token=120.0, total=300.0)
MAX_TOKENS = 600


class TextModel:
    """One model of one server. The same prompt gives the same answer if the server is deterministic."""

    def __init__(
        self, base_url: str, model: str, *, api_key: str = "", transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self.model = model
        self._completions = CompletionsClient(base_url, api_key=api_key, timeouts=TIMEOUTS, transport=transport)

    async def ask(self, messages: Sequence[dict[str, str]]) -> str:
        """The model's reply; empty where it has none. Raises PolicyUnavailable and PolicyRejected."""
        request: dict[str, Any] = {
            "model": self.model,
            "messages": list(messages),
            "stream": True,
            "n": 1,
            "temperature": 0.0,
            "max_tokens": MAX_TOKENS,
        }
        samples = await self._completions.sample(request, _ignore_progress)
        finished = samples.finished()
        return finished[0].text.strip() if finished else ""

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._completions.aclose()


async def _ignore_progress(_: Samples) -> None:
    """Partial replies are not shown."""
