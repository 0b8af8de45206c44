"""Provider-independent requests to hosted models, and their replies."""

import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Literal, Protocol

from agent_backend.policy.provider_errors import malformed_answer
from agent_backend.policy.samples import Sample
from protocol.dialects.dialect import ChatMessage, ImagePart, ScreenSize, TextPart
from protocol.dialects.tool_calls import ToolDialect, ToolFunction
from protocol.providers import Prices
from protocol.trajectory.observations import Platform
from protocol.trajectory.proposals import ProviderCall

SEE_LAST_RESULT = "See the result of the last call."
"""The result of a call that is followed by others of the same reply."""
FAILURE_NOTE = "The last action failed:"
"""The prefix by which a conversation reports a failed action."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a provider bills; those read from its cache are not among `input`."""

    input: int = 0
    output: int = 0
    cached_input: int = 0

    def cost(self, prices: Prices) -> int:
        """Millionths of a US dollar, rounded up."""
        cached = prices.input if prices.cached_input is None else prices.cached_input
        return ceil(self.input * prices.input + self.output * prices.output + self.cached_input * cached)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture in the form that is sent."""

    media_type: str
    data: bytes

    @property
    def base64(self) -> str:
        """Its bytes as text."""
        return base64.b64encode(self.data).decode()


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation: the model's text and calls, or the content shown to it."""

    role: Literal["user", "assistant"]
    text: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    """Its calls in the form of the provider's API."""
    pictures: tuple[Picture, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it reports that the last action failed."""
        return self.text.startswith(FAILURE_NOTE)


@dataclass(frozen=True, slots=True)
class HostedRequest:
    """One question to a hosted model."""

    model: str
    turns: tuple[Turn, ...]
    max_tokens: int
    temperature: float | None = None
    functions: tuple[ToolFunction, ...] = ()
    native_kinds: frozenset[str] = frozenset()
    """Kinds of action that the provider's computer tool may be called for; none: the tool is not offered."""
    platform: Platform = "desktop"
    screen: ScreenSize | None = None
    """The size of the present picture, as it is sent."""
    max_actions: int = 1
    """How many actions a reply may hold."""


@dataclass(slots=True)
class HostedReply:
    """A streaming reply. Its text is a turn of the provider's dialect."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    finish_reason: str | None = None
    model: str = ""
    """The model's name as the provider reports it."""
    temperature: float | None = None
    """The temperature it was sampled at, if one was requested."""
    usage: Usage = field(default_factory=Usage)
    provider_calls: tuple[ProviderCall, ...] = ()
    """The API's data of its calls, in order."""
    begun: bool = False
    """Whether any part of it has arrived."""

    def check_begun(self, title: str) -> None:
        """Raises PolicyUnavailable for an answer that held no event of a stream."""
        if not self.begun:
            raise malformed_answer(title, "it holds no event")

    def append(self, block: str) -> None:
        """Add a call on a line of its own."""
        self.text = f"{self.text.rstrip()}\n{block}" if self.text.strip() else block

    def sample(self) -> Sample:
        """The reply as one of several."""
        return Sample(
            text=self.text,
            reasoning=self.reasoning,
            refusal=self.refusal,
            finish_reason=self.finish_reason,
            temperature=self.temperature,
            provider_calls=self.provider_calls,
        )


ReplyCallback = Callable[[HostedReply], Awaitable[None]]


class ProviderClient(Protocol):
    """One provider's API."""

    title: str
    """What people call the provider."""

    async def ask(self, request: HostedRequest, on_reply: ReplyCallback) -> HostedReply:
        """Send one request and read its stream to the end; `on_reply` receives the growing reply.

        Raises PolicyError. Cancelling ends the HTTP request.
        """
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...


class Budget(Protocol):
    """Money that a policy may spend, in millionths of a US dollar."""

    @property
    def limited(self) -> bool:
        """Whether it has a bound at all."""
        ...

    async def reserve(self, amount: int) -> None:
        """Reserve the highest possible cost of a request before it is sent. Raises BudgetSpent if that exceeds the
        budget."""
        ...

    async def settle(self, reserved: int, spent: int) -> None:
        """Release a reservation, and count what was spent."""
        ...


def conversation_turns(
    messages: tuple[ChatMessage, ...], dialect: ToolDialect, pictures: Mapping[str, Picture]
) -> tuple[Turn, ...]:
    """A dialect's messages as turns; `pictures` has scaled pictures by the digests of their originals."""
    turns = []
    for message in messages:
        text = "\n".join(part.text for part in message.content if isinstance(part, TextPart))
        if message.role == "assistant":
            turns.append(Turn("assistant", *dialect.codec.split(text)))
        else:
            shown = tuple(pictures[part.image.sha256] for part in message.content if isinstance(part, ImagePart))
            turns.append(Turn("user", text, pictures=shown))
    return tuple(turns)
