"""What a policy offers at a decision point."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from protocol.actions.types import Action
from protocol.base import FrozenModel, JsonObject
from protocol.blobs import BlobRef

Mark = Literal["acceptable", "wrong"]


class PolicyRef(FrozenModel):
    """Which policy spoke: its name, its revision, and whether it is a model at all."""

    name: str
    revision: str
    dialect: str
    scripted: bool = False
    teacher: bool = False
    """A hosted model that gives no log-probabilities: its proposals teach other policies, and are never sampled
    tokens of the policy that is trained."""

    @property
    def label(self) -> str:
        """Name and revision, as people know it."""
        return f"{self.name} {self.revision}"


class SafetyCheck(FrozenModel):
    """What a provider wants a person to look at before an action is done."""

    id: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    code: Annotated[str, StringConstraints(max_length=200)] = ""
    message: Annotated[str, StringConstraints(max_length=2_000)] = ""


MAX_SIGNATURE_CHARACTERS = 20_000
"""Characters of a signature that are kept."""


class ProviderCall(FrozenModel):
    """What a hosted model's API knows of a call it made: sent back when the call is told of in a later request."""

    id: Annotated[str, StringConstraints(max_length=300)] = ""
    item_id: Annotated[str, StringConstraints(max_length=300)] = ""
    """OpenAI's name of the item that holds the call."""
    signature: Annotated[str, StringConstraints(max_length=MAX_SIGNATURE_CHARACTERS)] = ""
    """Gemini's signature of the thought before the call, in base64."""
    safety_checks: tuple[SafetyCheck, ...] = ()
    """What was to be acknowledged before it was done."""


class ImageLimits(FrozenModel):
    """Between which sizes a model's processor scales a picture (pixels in all): serving and training must agree."""

    min_pixels: int = Field(ge=1)
    max_pixels: int = Field(ge=1)


class ParseError(FrozenModel):
    """Why a model's text is no action; `code` is stable, `message` is for people."""

    code: str
    message: str


class WeightSpan(FrozenModel):
    """Tokens of a reply that follow each other, and what the server called the weights that drew them."""

    version: str
    tokens: int | None = Field(default=None, ge=1)
    """How many; None where the server tells only which weights it had before and after."""


def _upgrade_weight_versions(value: Any) -> Any:
    """Rows of earlier times hold names alone."""
    if not isinstance(value, list | tuple):
        return value
    return tuple({"version": one} if isinstance(one, str) else one for one in value)


WeightSpans = Annotated[tuple[WeightSpan, ...], BeforeValidator(_upgrade_weight_versions)]
"""Of a whole reply, in order; none where the server does not say."""


def complete_weight_spans(spans: Sequence[WeightSpan], tokens: int) -> tuple[WeightSpan, ...]:
    """The spans of a reply of so many tokens: weights that were alone drew all of them."""
    if len(spans) == 1 and tokens:
        return (WeightSpan(version=spans[0].version, tokens=tokens),)
    return tuple(spans)


def _check_weight_spans(spans: Sequence[WeightSpan], token_ids: Sequence[int] | None) -> None:
    counts = [span.tokens for span in spans if span.tokens is not None]
    if token_ids is not None and spans and len(counts) == len(spans) and sum(counts) != len(token_ids):
        raise ValueError(f"weight_versions tell of {sum(counts)} tokens, and there are {len(token_ids)}")


class Reply(FrozenModel):
    """A sampled reply as tokens. Its logprobs are those of the distribution at its temperature, from which it was
    drawn."""

    token_ids: tuple[int, ...]
    logprobs: tuple[float, ...] | None = None
    temperature: float | None = None
    finish_reason: str | None = None
    weight_versions: WeightSpans = ()

    @model_validator(mode="after")
    def _spans_add_up(self) -> Self:
        _check_weight_spans(self.weight_versions, self.token_ids)
        return self


class Proposal(FrozenModel):
    """One candidate (thought, action); either `action` or `error` is set.

    `count` is how many samples said the same; `likelihood` is the share of this candidate among the
    offered ones (0 to 1), None where the server gives no logprobs. Token ids and logprobs are those the
    server sampled, never re-tokenised (token-in, token-out).
    """

    id: str
    rank: int = Field(ge=1)
    thought: str
    action: Action | None
    further_actions: tuple[Action, ...] = ()
    """What the same reply says to do after `action`, in order; only where its policy may say several actions."""
    action_text: str
    """The action in the model's own grammar."""
    raw_text: str
    error: ParseError | None = None
    count: int = Field(default=1, ge=1)
    likelihood: float | None = Field(default=None, ge=0, le=1)
    policy: PolicyRef
    sampling: JsonObject = {}
    prompt_token_ids: tuple[int, ...] | None = None
    completion_token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    others: tuple[Reply, ...] = ()
    """The replies beside the one it speaks with that said the same, as tokens; without their text."""
    prompt: BlobRef | None = None
    """What was asked, word for word: a `protocol.dialects.prompts.Prompt`."""
    image_limits: ImageLimits | None = None
    """The sizes pictures were scaled to, as the coordinates presuppose."""
    weight_versions: WeightSpans = ()
    """Which weights drew its tokens: one span, several where they were exchanged meanwhile."""
    finish_reason: str | None = None
    warning: str = ""
    """What makes it doubtful although it can be read, in words."""
    safety_checks: tuple[SafetyCheck, ...] = ()
    """What a person must acknowledge before its action is done."""
    provider_calls: tuple[ProviderCall, ...] = ()
    """The calls of a hosted model's reply, in order."""
    cost_usd: float | None = Field(default=None, ge=0)
    """What the request that brought it cost, its other candidates included; None where no prices are known."""
    latency_ms: float = Field(ge=0)
    created_at: datetime
    mark: Mark | None = None
    tokens_read: int | None = None
    tokens_written: int | None = None
    """How many there were, its other replies' included, where the tokens themselves are left out."""

    @model_validator(mode="after")
    def _spans_add_up(self) -> Self:
        _check_weight_spans(self.weight_versions, self.completion_token_ids)
        return self

    @property
    def actions(self) -> tuple[Action, ...]:
        """All that it says to do, in order; empty where it is no action."""
        return () if self.action is None else (self.action, *self.further_actions)


def strip_token_data(proposal: Proposal) -> Proposal:
    """A proposal as a desk is told of it: its tokens and their log-probabilities, which only training reads, stay in
    the store; how many there were is said."""
    prompt, own = proposal.prompt_token_ids, proposal.completion_token_ids or ()
    return proposal.model_copy(
        update={
            **{"prompt_token_ids": None, "completion_token_ids": None, "logprobs": None, "others": ()},
            "tokens_read": None if prompt is None else len(prompt),
            "tokens_written": (len(own) + sum(len(reply.token_ids) for reply in proposal.others)) or None,
        }
    )
