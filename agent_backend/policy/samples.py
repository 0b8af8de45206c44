"""One sampled reply on its way: what a stream of completion chunks adds up to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from vocabulary.messages import Partial
from vocabulary.proposals import WeightSpan, spans_counted

_SPANS = TypeAdapter(tuple[WeightSpan, ...])


class _Chunk(BaseModel):
    """A part of a chunk; servers add fields of their own, which are nobody's business here."""

    model_config = ConfigDict(extra="ignore")


class Alternative(_Chunk):
    token: str = ""
    logprob: float = Field(allow_inf_nan=False)


class TokenLogprob(Alternative):
    top_logprobs: list[Alternative] | None = None


class Logprobs(_Chunk):
    content: list[TokenLogprob] | None = None


class Delta(_Chunk):
    content: str | None = None


class Choice(_Chunk):
    index: int = 0
    delta: Delta = Delta()
    logprobs: Logprobs | None = None
    token_ids: list[int] | None = None
    finish_reason: str | None = None
    weight_versions: JsonValue = None
    """`trainer.serve` says with a reply's end which weights drew how many of its tokens."""


class Failure(_Chunk):
    message: str = "the server gave up"


class Chunk(_Chunk):
    """One server-sent event of a chat completion."""

    choices: list[Choice] = []
    prompt_token_ids: list[int] | None = None
    weight_version: str | None = None
    """Not every server says it."""
    error: Failure | None = None


@dataclass(slots=True)
class Sample:
    """One reply: its text, and its sampled token ids with their logprobs where the server gives them."""

    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    alternatives: list[TokenLogprob] = field(default_factory=list)
    """Its tokens with what else stood at their places, where that was asked for."""
    finish_reason: str | None = None
    temperature: float | None = None
    weight_versions: tuple[WeightSpan, ...] = ()
    """Which weights drew its tokens, as far as the server says it of this reply."""

    def add(self, choice: Choice) -> None:
        """Take one chunk's share."""
        self.text += choice.delta.content or ""
        self.token_ids += choice.token_ids or []
        if choice.logprobs is not None:
            tokens = choice.logprobs.content or []
            self.logprobs += [token.logprob for token in tokens]
            self.alternatives += [token for token in tokens if token.top_logprobs]
        self.finish_reason = choice.finish_reason or self.finish_reason
        self.weight_versions = _spans_said(choice.weight_versions) or self.weight_versions

    def drawn_by(self, names: Sequence[str]) -> tuple[WeightSpan, ...]:
        """Which weights drew its tokens; `names` are those that answered, where nothing is said of this reply.

        Counts that are not those of its tokens are left out: they say nothing of which token is whose.
        """
        spans, count = self.weight_versions, len(self.token_ids)
        if spans and (not count or sum(span.tokens or 0 for span in spans) == count):
            return spans
        said = dict.fromkeys(span.version for span in spans) or names
        return spans_counted([WeightSpan(version=name) for name in said], count)

    @property
    def mean_logprob(self) -> float | None:
        """How likely the model found its own words, a token on average: long replies are not at a disadvantage."""
        return sum(self.logprobs) / len(self.logprobs) if self.logprobs else None


@dataclass(slots=True)
class Samples:
    """All replies to one request, by choice index."""

    prompt_token_ids: list[int] | None = None
    by_index: dict[int, Sample] = field(default_factory=dict)
    weight_versions: tuple[str, ...] = ()
    """The names of the weights that answered, each once, as they were met."""
    temperature: float | None = None

    def add(self, chunk: Chunk) -> None:
        """Take one chunk."""
        self.prompt_token_ids = chunk.prompt_token_ids or self.prompt_token_ids
        self.meet(chunk.weight_version)
        for choice in chunk.choices:
            sample = self.by_index.setdefault(choice.index, Sample(temperature=self.temperature))
            sample.add(choice)
            for span in sample.weight_versions:
                self.meet(span.version)

    def meet(self, weight_version: str | None) -> None:
        """Note the name of weights that took part."""
        if weight_version and weight_version not in self.weight_versions:
            self.weight_versions += (weight_version,)

    @classmethod
    def together(cls, parts: "Sequence[Samples]") -> "Samples":
        """The replies to several requests with one prompt, dealt in turn."""
        if len(parts) == 1:
            return parts[0]
        whole = cls(prompt_token_ids=next((part.prompt_token_ids for part in parts if part.prompt_token_ids), None))
        for place, part in enumerate(parts):
            whole.by_index |= {index * len(parts) + place: sample for index, sample in part.by_index.items()}
            for version in part.weight_versions:
                whole.meet(version)
        return whole

    def partials(self) -> tuple[Partial, ...]:
        """The texts so far, for people."""
        return tuple(Partial(index=index, text=sample.text) for index, sample in sorted(self.by_index.items()))

    def finished(self) -> list[Sample]:
        """The replies in order."""
        return [sample for _, sample in sorted(self.by_index.items())]


def _spans_said(said: JsonValue) -> tuple[WeightSpan, ...]:
    """What a server says of a reply's weights; nothing where it says it in words of its own."""
    try:
        return _SPANS.validate_python(said)
    except ValidationError:
        return ()
