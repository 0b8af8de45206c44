"""Assembles sampled replies from a stream of completion chunks."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    field_validator,
)

from protocol.messages.events import Partial
from protocol.trajectory.proposals import ProviderCall, WeightSpan, complete_weight_spans

CUT_FINISH_REASON = "cut"
"""The finish reason of a reply whose stream broke off."""
MAX_PARTIAL_CHARACTERS = 20_000
"""Characters of a growing reply that are shown."""
_WEIGHT_SPANS = TypeAdapter(tuple[WeightSpan, ...])


class _Chunk(BaseModel):
    """A part of a chunk; fields that servers add are ignored."""

    model_config = ConfigDict(extra="ignore")


class Alternative(_Chunk):
    token: str = ""
    logprob: float = Field(allow_inf_nan=False)


class TokenLogprob(Alternative):
    top_logprobs: list[Alternative] | None = None


class Logprobs(_Chunk):
    content: list[TokenLogprob] | None = None


class Delta(_Chunk):
    """What a chunk adds to a reply; the texts are unchecked, since a text may end in half a character."""

    content: Any = None
    """A text, or parts of one."""
    reasoning: Any = None
    reasoning_content: Any = None
    """The same as `reasoning`, at other servers."""
    refusal: Any = None
    tool_calls: Any = None


class Choice(_Chunk):
    index: int = 0
    delta: Delta | None = None
    message: Delta | None = None
    """The whole reply, of a server that does not stream."""
    logprobs: Logprobs | None = None
    token_ids: list[int] | None = None
    finish_reason: str | None = None

    @field_validator("logprobs", "token_ids", mode="wrap")
    @classmethod
    def _none_where_unreadable(cls, value: Any, read: ValidatorFunctionWrapHandler) -> Any:
        """A reply without log-probabilities is readable, but is not used in training."""
        try:
            return read(value)
        except ValidationError:
            return None

    weight_versions: JsonValue = None
    """`trainer.serve` says with a reply's end which weights drew how many of its tokens."""


class Chunk(_Chunk):
    """One server-sent event of a chat completion, or the whole completion of a server that does not stream."""

    choices: list[Choice] | None = None
    model: Any = None
    prompt_token_ids: list[int] | None = None
    weight_version: str | None = None
    """Not every server reports it."""
    error: Any = None
    """An object with a message, or a text."""


def extract_text(value: Any) -> str:
    """The text of a field that holds one, or a list of parts with one each."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(map(extract_text, value))
    return extract_text(value.get("text")) if isinstance(value, dict) else ""


def extract_error(value: Any) -> str:
    """The message of an error that a server sends as a text or an object."""
    if isinstance(value, dict):
        words = (extract_error(value[name]) for name in ("message", "error", "detail", "msg") if value.get(name))
        return next(words, json.dumps(value, default=str))
    if isinstance(value, list):
        return "; ".join(map(extract_error, value))
    return str(value) or "the server gave up"


def repair_surrogates(text: str) -> str:
    """A text whose surrogate halves are joined; one without its other half becomes U+FFFD."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@dataclass(slots=True)
class ToolCall:
    """A tool call that the server made of a reply, as far as it was sent."""

    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Sample:
    """One reply: its text, and its sampled token ids with their logprobs where the server gives them."""

    text: str = ""
    """Its content."""
    reasoning: str = ""
    """The reasoning that the server sent apart from the content."""
    refusal: str = ""
    pending_surrogates: list[str] = field(default_factory=lambda: ["", ""])
    """Halves of characters that content and reasoning end in so far."""
    tools: dict[int, ToolCall] = field(default_factory=dict)
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    alternatives: list[TokenLogprob] = field(default_factory=list)
    """Its tokens with what else stood at their places, where that was asked for."""
    finish_reason: str | None = None
    temperature: float | None = None
    weight_versions: tuple[WeightSpan, ...] = ()
    """The weights that sampled its tokens, as far as the server reports them for this reply."""

    provider_calls: tuple[ProviderCall, ...] = ()
    """What a hosted model's API knows of its calls, in order."""
    has_untokenized_text: bool = False
    """Whether some of its text came without its tokens."""

    def add(self, choice: Choice) -> None:
        """Take one chunk's share."""
        delta = choice.delta or choice.message or Delta()
        value = extract_text(delta.content)
        reasoning_text = extract_text(delta.reasoning) or extract_text(delta.reasoning_content)
        self.text += self._join_surrogates(0, value)
        self.reasoning += self._join_surrogates(1, reasoning_text)
        self.refusal += repair_surrogates(extract_text(delta.refusal))
        self._add_tools(delta.tool_calls)
        self.has_untokenized_text |= bool(value or reasoning_text) and not choice.token_ids
        self.token_ids += choice.token_ids or []
        if choice.logprobs is not None:
            tokens = choice.logprobs.content or []
            self.logprobs += [token.logprob for token in tokens]
            self.alternatives += [token for token in tokens if token.top_logprobs]
        self.finish_reason = choice.finish_reason or self.finish_reason
        self.weight_versions = _parse_weight_spans(choice.weight_versions) or self.weight_versions

    def _add_tools(self, calls: Any) -> None:
        for place, call in enumerate(calls if isinstance(calls, list) else []):
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                index = call.get("index")
                tool = self.tools.setdefault(index if isinstance(index, int) else place, ToolCall())
                tool.name += extract_text(function.get("name"))
                value = function.get("arguments")
                tool.arguments += json.dumps(value) if isinstance(value, dict) else extract_text(value)

    def _join_surrogates(self, place: int, value: str) -> str:
        """A share of a text with the half of a character that the last one ended in; its own last half waits."""
        value = self.pending_surrogates[place] + value
        half = value[-1:] if "\ud800" <= value[-1:] <= "\udbff" else ""
        self.pending_surrogates[place] = half
        return repair_surrogates(value.removesuffix(half)) if half else repair_surrogates(value)

    def end(self) -> None:
        """Flush a half character that will not be completed."""
        self.text += repair_surrogates(self.pending_surrogates[0])
        self.reasoning += repair_surrogates(self.pending_surrogates[1])
        self.pending_surrogates = ["", ""]

    @property
    def tool_calls_text(self) -> str:
        """Its tool calls as a model writes them."""
        calls = (
            f'<tool_call>\n{{"name": {json.dumps(tool.name)}, "arguments": {tool.arguments or "{}"}}}\n</tool_call>'
            for _, tool in sorted(self.tools.items())
        )
        return repair_surrogates("\n".join(calls))

    @property
    def raw_text(self) -> str:
        """The whole reply, as it would have come without the server's parsers."""
        text = self.text or self.tool_calls_text or self.refusal
        return f"<think>\n{self.reasoning.strip()}\n</think>\n\n{text}" if self.reasoning.strip() else text

    @property
    def length(self) -> int:
        """Characters so far."""
        return len(self.text) + len(self.reasoning) + sum(len(tool.arguments) for tool in self.tools.values())

    @property
    def has_all_tokens(self) -> bool:
        """Whether its tokens are those of the whole reply; reasoning may come without any."""
        return not (self.reasoning and self.token_ids) or (
            not self.has_untokenized_text and (not self.logprobs or len(self.logprobs) == len(self.token_ids))
        )

    def weight_spans(self, names: Sequence[str]) -> tuple[WeightSpan, ...]:
        """The weights that sampled its tokens; `names` are used if the server reports nothing for this reply.

        Counts that do not match its tokens are left out: they cannot assign tokens to weights.
        """
        spans, count = self.weight_versions, len(self.token_ids)
        if spans and (not count or sum(span.tokens or 0 for span in spans) == count):
            return spans
        value = dict.fromkeys(span.version for span in spans) or names
        return complete_weight_spans([WeightSpan(version=name) for name in value], count)

    @property
    def mean_logprob(self) -> float | None:
        """The mean log-probability per token, so that long replies are not at a disadvantage."""
        return sum(self.logprobs) / len(self.logprobs) if self.logprobs else None


@dataclass(slots=True)
class Samples:
    """All replies to one request, by choice index."""

    prompt_token_ids: list[int] | None = None
    by_index: dict[int, Sample] = field(default_factory=dict)
    weight_versions: tuple[str, ...] = ()
    """The names of the weights that answered, each once, as they were met."""
    temperature: float | None = None
    models: frozenset[str] = frozenset()
    """The names of the models that answered, as the server reports them."""

    def add(self, chunk: Chunk) -> None:
        """Take one chunk."""
        if isinstance(chunk.model, str):
            self.models |= {chunk.model}
        self.prompt_token_ids = chunk.prompt_token_ids or self.prompt_token_ids
        self.add_weight_version(chunk.weight_version)
        for choice in chunk.choices or ():
            sample = self.by_index.setdefault(choice.index, Sample(temperature=self.temperature))
            sample.add(choice)
            for span in sample.weight_versions:
                self.add_weight_version(span.version)

    def add_weight_version(self, weight_version: str | None) -> None:
        """Note the name of weights that took part."""
        if weight_version and weight_version not in self.weight_versions:
            self.weight_versions += (weight_version,)

    @classmethod
    def merge(cls, parts: "Sequence[Samples]") -> "Samples":
        """The replies to several requests with one prompt, dealt in turn."""
        if len(parts) == 1:
            return parts[0]
        whole = cls(prompt_token_ids=next((part.prompt_token_ids for part in parts if part.prompt_token_ids), None))
        for place, part in enumerate(parts):
            whole.by_index |= {index * len(parts) + place: sample for index, sample in part.by_index.items()}
            whole.models |= part.models
            for version in part.weight_versions:
                whole.add_weight_version(version)
        return whole

    @property
    def tokens_written(self) -> int:
        """Token ids of all replies so far."""
        return sum(len(sample.token_ids) for sample in self.by_index.values())

    @property
    def longest(self) -> int:
        """Characters of the longest reply so far."""
        return max((sample.length for sample in self.by_index.values()), default=0)

    def cut(self, longest: int) -> None:
        """Mark replies of more characters as cut by a bound."""
        for sample in self.by_index.values():
            if sample.length > longest:
                sample.finish_reason = "length"

    def end(self, *, whole: bool) -> None:
        """Mark incomplete replies: the stream broke off, or the server reported an end only for other replies."""
        any_finished = any(sample.finish_reason for sample in self.by_index.values())
        for sample in self.by_index.values():
            sample.end()
            if sample.finish_reason is None and (any_finished or not whole):
                sample.finish_reason = CUT_FINISH_REASON

    def partials(self) -> tuple[Partial, ...]:
        """The texts so far, for people; of a long one its end."""
        return tuple(
            Partial(
                index=index, text=(sample.reasoning + (sample.text or sample.tool_calls_text))[-MAX_PARTIAL_CHARACTERS:]
            )
            for index, sample in sorted(self.by_index.items())
        )

    def finished(self) -> list[Sample]:
        """The replies in order."""
        return [sample for _, sample in sorted(self.by_index.items())]


def _parse_weight_spans(value: JsonValue) -> tuple[WeightSpan, ...]:
    """Parse a server's report of a reply's weights; empty for an unknown format."""
    try:
        return _WEIGHT_SPANS.validate_python(value)
    except ValidationError:
        return ()
