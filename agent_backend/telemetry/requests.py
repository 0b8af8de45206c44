"""Requests to policies as they are reported: who was asked, when, with what result, for how many tokens."""

import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, runtime_checkable

from protocol.blobs import BlobRef
from protocol.sampling import SamplingParams
from protocol.trajectory.proposals import PolicyRef, Proposal

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """The model behind a policy, and how its replies are drawn."""

    provider: str
    model: str
    base_url: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    choices: int = 1
    """Replies that one request asks for."""


def describe_model(provider: str, model: str, sampling: SamplingParams, base_url: str = "") -> ModelDescription:
    """A model and how its replies are drawn; a ladder of temperatures is none."""
    return ModelDescription(
        provider=provider,
        model=model,
        base_url=base_url,
        temperature=None if sampling.temperatures else sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        choices=sampling.n,
    )


@runtime_checkable
class DescribedPolicy(Protocol):
    """A policy that says which model is asked."""

    @property
    def description(self) -> ModelDescription:
        """The model, and how it is asked."""
        ...


@dataclass(slots=True)
class TokenUsage:
    """Tokens that a request read and wrote, as the provider counts them; None where it does not say."""

    input: int | None = None
    output: int | None = None

    def add(self, input_tokens: int, output_tokens: int) -> None:
        """Count one reply."""
        self.input = (self.input or 0) + input_tokens
        self.output = (self.output or 0) + output_tokens


_usage: ContextVar[TokenUsage | None] = ContextVar("policy_request_usage", default=None)


def add_usage(input_tokens: int, output_tokens: int) -> None:
    """Count the tokens of a reply to the running request."""
    if (usage := _usage.get()) is not None:
        usage.add(input_tokens, output_tokens)


@dataclass(slots=True)
class PolicyRequest:
    """One request to a policy. Times are in nanoseconds since the epoch."""

    policy: PolicyRef
    model: ModelDescription
    started: int
    ended: int = 0
    proposals: tuple[Proposal, ...] = ()
    error: str = ""
    """A stable word; empty where an answer came."""
    usage: TokenUsage = field(default_factory=TokenUsage)
    prompt: bytes = b""
    """What was asked, as a `protocol.dialects.prompts.Prompt`, where the policy says so."""


OnRequest = Callable[[PolicyRequest], None]
"""Hears of a request that has ended, however it ended."""


def describe_policy(policy: object, ref: PolicyRef) -> ModelDescription:
    """The model of a policy; a script is its own."""
    if isinstance(policy, DescribedPolicy):
        return policy.description
    return ModelDescription(provider="pilothouse", model=ref.name)


async def report_request(
    policy: object, ref: PolicyRef, call: Callable[[PolicyRequest], Awaitable[T]], on_request: OnRequest
) -> T:
    """Make a request and report it. Raises what the request raises, cancellation included."""
    request = PolicyRequest(policy=ref, model=describe_policy(policy, ref), started=time.time_ns())
    token = _usage.set(request.usage)
    try:
        return await call(request)
    except BaseException as error:
        request.error = str(getattr(error, "code", "")) or type(error).__name__
        raise
    finally:
        _usage.reset(token)
        request.ended = time.time_ns()
        on_request(request)


def keep_prompt(
    request: PolicyRequest, save_blob: Callable[[BlobRef, bytes], Awaitable[None]]
) -> Callable[[BlobRef, bytes], Awaitable[None]]:
    """Saves blobs, and keeps the prompt among them with the request."""

    async def save(ref: BlobRef, data: bytes) -> None:
        request.prompt = data
        await save_blob(ref, data)

    return save
