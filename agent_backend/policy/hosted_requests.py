"""What is asked of a hosted model and what it answers, in words of no provider."""

import base64
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any, Literal, Protocol

from pydantic import Field

from agent_backend.policy.provider_errors import malformed_answer
from agent_backend.policy.samples import Sample
from protocol.base import FrozenModel
from protocol.dialects.dialect import ChatMessage, ImagePart, ScreenSize, TextPart
from protocol.dialects.tool_calls import ToolDialect, ToolFunction
from protocol.trajectory.observations import Platform
from protocol.trajectory.proposals import SafetyCheck

Provider = Literal["openai_compatible", "anthropic", "openai", "gemini"]
FAILURE_NOTE = "The last action failed:"
"""How a conversation begins to tell that an act failed."""
_Price = Field(ge=0, le=100_000)


class Prices(FrozenModel):
    """US dollars for a million tokens, as the provider's price page has them."""

    input: float = _Price
    output: float = _Price
    cached_input: float | None = Field(default=None, ge=0, le=100_000)
    """Of input that is read from the provider's cache; as other input where it is not given."""


class ProviderSettings(FrozenModel):
    """What a policy of a hosted model needs besides its address and its name."""

    computer_tool: str = Field(default="", max_length=64, pattern=r"^[a-z0-9_]*$")
    """The version of the provider's computer tool; empty: the present one."""
    image_edge: int | None = Field(default=None, ge=64, le=8_000)
    """Pixels of a picture's longer side, to which larger ones are scaled down; the dialect's own where not given."""
    image_pixels: int | None = Field(default=None, ge=4_096, le=64_000_000)
    """The same for the pixels of a picture in all."""
    prices: Prices | None = None


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
    """A picture as it is sent."""

    media_type: str
    data: bytes

    @property
    def base64(self) -> str:
        """Its bytes as text."""
        return base64.b64encode(self.data).decode()


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation: what the model said and called, or what it was shown."""

    role: Literal["user", "assistant"]
    text: str = ""
    call: dict[str, Any] | None = None
    """As its provider's API carries it."""
    pictures: tuple[Picture, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it tells that the last act failed."""
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


@dataclass(slots=True)
class HostedReply:
    """A reply on its way. Its text is a turn of the provider's dialect."""

    text: str = ""
    reasoning: str = ""
    refusal: str = ""
    finish_reason: str | None = None
    model: str = ""
    """What the provider says that it is called."""
    temperature: float | None = None
    """At which it was drawn, where the provider was asked for one."""
    usage: Usage = field(default_factory=Usage)
    safety_checks: tuple[SafetyCheck, ...] = ()
    begun: bool = False
    """Whether anything of it came."""

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
            safety_checks=self.safety_checks,
        )


ReplyCallback = Callable[[HostedReply], Awaitable[None]]


class ProviderClient(Protocol):
    """One provider's API."""

    title: str
    """What people call the provider."""

    async def ask(self, request: HostedRequest, on_reply: ReplyCallback) -> HostedReply:
        """Ask once and listen to the end; `on_reply` hears the reply grow.

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
        """Set aside what a request may cost at most, before it is sent. Raises BudgetSpent where that is too much."""
        ...

    async def settle(self, reserved: int, spent: int) -> None:
        """Give back what was set aside, and count what was spent."""
        ...


def conversation_turns(
    messages: tuple[ChatMessage, ...], dialect: ToolDialect, pictures: Mapping[str, Picture]
) -> tuple[Turn, ...]:
    """A dialect's messages as turns; `pictures` are found by the digests of what they were made of."""
    turns = []
    for message in messages:
        text = "\n".join(part.text for part in message.content if isinstance(part, TextPart))
        if message.role == "assistant":
            thought, call = dialect.codec.split(text)
            turns.append(Turn("assistant", thought, call))
        else:
            shown = tuple(pictures[part.image.sha256] for part in message.content if isinstance(part, ImagePart))
            turns.append(Turn("user", text, pictures=shown))
    return tuple(turns)
