"""Records of requests to policies: the model, times, result and token usage."""

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
    """The model behind a policy, and its sampling settings."""

    provider: str
    model: str
    base_url: str = ""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    choices: int = 1
    """Replies that one request asks for."""


def describe_model(provider: str, model: str, sampling: SamplingParams, base_url: str = "") -> ModelDescription:
    """A model with its sampling settings; `temperature` is None if each reply has its own."""
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
    """A policy that describes its model."""

    @property
    def description(self) -> ModelDescription:
        """The model and its sampling settings."""
        ...


@dataclass(slots=True)
class TokenUsage:
    """Tokens of a request's prompt and replies, as the provider counts them; None if it does not say."""

    input: int | None = None
    output: int | None = None

    def add(self, input_tokens: int, output_tokens: int) -> None:
        """Count one reply."""
        self.input = (self.input or 0) + input_tokens
        self.output = (self.output or 0) + output_tokens


_usage: ContextVar[TokenUsage | None] = ContextVar("policy_request_usage", default=None)


def add_usage(input_tokens: int, output_tokens: int) -> None:
    """Add the tokens of a reply to the running request."""
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
    """A stable code; empty after an answer."""
    usage: TokenUsage = field(default_factory=TokenUsage)
    prompt: bytes = b""
    """A serialised `protocol.dialects.prompts.Prompt`; empty if the policy does not save it."""

    def count_tokens(self) -> tuple[int | None, int | None]:
        """Tokens of the prompt and of the replies: the provider's counts, or else the number of token ids in the
        replies. None if neither is known."""
        read, written = self.usage.input, self.usage.output
        if read is None and written is None and self.proposals:
            first = self.proposals[0]
            read = None if first.prompt_token_ids is None else len(first.prompt_token_ids)
            counts = [_tokens_written(one) for one in self.proposals]
            written = None if None in counts else sum(count or 0 for count in counts)
        return read, written


def _tokens_written(proposal: Proposal) -> int | None:
    if proposal.completion_token_ids is None:
        return None
    return len(proposal.completion_token_ids) + sum(len(reply.token_ids) for reply in proposal.others)


OnRequest = Callable[[PolicyRequest], None]
"""Called when a request has ended, also after an error or a cancellation."""


def describe_policy(policy: object, ref: PolicyRef) -> ModelDescription:
    """The model of a policy. A script counts as its own model."""
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
    """A function that saves blobs, and stores the prompt in the request."""

    async def save(ref: BlobRef, data: bytes) -> None:
        request.prompt = data
        await save_blob(ref, data)

    return save
