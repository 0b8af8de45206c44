"""The models that write tasks: behind any OpenAI-compatible server, or replies of before, read from a file.

Every prompt and reply is kept in a transcript beside what was made, so that its origin can be looked up.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Protocol

import httpx
from pydantic import JsonValue

from agent_backend.policy.completions import CompletionsClient, RequestTimeouts
from agent_backend.policy.samples import Samples
from protocol.base import FrozenModel

REPLY_TIMEOUTS = RequestTimeouts(token=120.0, total=900.0)
"""A whole game may be in one reply, and no annotator waits for it."""
API_KEY_VARIABLE = "PILOTHOUSE_POLICY_API_KEY"


class Message(FrozenModel):
    """A message of a conversation. `content` is a text, or parts as OpenAI's API has them (text and `image_url`)."""

    role: Literal["system", "user", "assistant"]
    content: str | tuple[dict[str, JsonValue], ...]


class Exchange(FrozenModel):
    """A line of a transcript: what a model was asked and what it replied."""

    model: str
    prompt_sha256: str
    messages: tuple[Message, ...]
    reply: str


class LanguageModel(Protocol):
    """A port. `name` stands in the record of what was made."""

    name: str

    async def complete(self, messages: Sequence[Message]) -> str:
        """The reply. Raises PolicyError where there is none."""
        ...


class ServedModel:
    """A model behind an OpenAI-compatible server, asked for one reply at a time."""

    def __init__(
        self,
        base_url: str,
        name: str,
        *,
        api_key: str = "",
        temperature: float = 0.7,
        max_tokens: int = 8_192,
        timeouts: RequestTimeouts = REPLY_TIMEOUTS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.name = name
        self._settings = {"temperature": temperature, "max_tokens": max_tokens}
        self._completions = CompletionsClient(base_url, api_key=api_key, timeouts=timeouts, transport=transport)

    async def complete(self, messages: Sequence[Message]) -> str:
        """The reply; empty where the server gives none. Raises PolicyUnavailable and PolicyRejected."""
        said = [message.model_dump(mode="json") for message in messages]
        samples = await self._completions.sample(
            {"model": self.name, "messages": said, "stream": True, "n": 1, **self._settings}, _ignore_samples
        )
        replies = samples.finished()
        return replies[0].text if replies else ""

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._completions.aclose()


def open_served_model(base_url: str, name: str) -> ServedModel:
    """A model with the key of PILOTHOUSE_POLICY_API_KEY, if that is set."""
    return ServedModel(base_url, name, api_key=os.environ.get(API_KEY_VARIABLE, ""))


class RecordedModel:
    """Gives the replies of a list in order, whatever it is asked."""

    def __init__(self, replies: Iterable[str], name: str = "recorded replies") -> None:
        self.name = name
        self._replies = iter(replies)

    async def complete(self, messages: Sequence[Message]) -> str:
        """The next reply. Raises LookupError where there are no more."""
        for reply in self._replies:
            return reply
        raise LookupError("The recorded replies are used up.")


class TranscribedModel:
    """Asks another model and appends each exchange to a transcript (JSON lines)."""

    def __init__(self, model: LanguageModel, transcript: Path, *, resume: bool = False) -> None:
        """With `resume`, what the transcript has a reply to is not asked again: each reply is given once."""
        self.name = model.name
        self._model, self._transcript = model, transcript
        self._replies: dict[str, list[str]] = {}
        if resume and transcript.exists():
            for exchange in read_transcript(transcript):
                self._replies.setdefault(exchange.prompt_sha256, []).append(exchange.reply)

    async def complete(self, messages: Sequence[Message]) -> str:
        """The reply, written down before it is returned."""
        digest = prompt_digest(messages)
        if replies := self._replies.get(digest):
            return replies.pop(0)
        reply = await self._model.complete(messages)
        exchange = Exchange(model=self.name, prompt_sha256=digest, messages=tuple(messages), reply=reply)
        self._transcript.parent.mkdir(parents=True, exist_ok=True)
        with self._transcript.open("a") as file:
            file.write(f"{exchange.model_dump_json()}\n")
        return reply


def read_transcript(transcript: Path) -> tuple[Exchange, ...]:
    """The exchanges of a transcript. Raises ValidationError for a line that is none."""
    return tuple(Exchange.model_validate_json(line) for line in transcript.read_text().splitlines() if line.strip())


def prompt_digest(messages: Sequence[Message]) -> str:
    """SHA-256 of what is asked."""
    said = [message.model_dump(mode="json") for message in messages]
    return hashlib.sha256(json.dumps(said, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


async def _ignore_samples(_: Samples) -> None:
    """Ignores the growing reply."""
