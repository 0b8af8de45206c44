"""One sampled reply on its way: what a stream of completion chunks adds up to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from vocabulary.messages import Partial


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

    def add(self, choice: Choice) -> None:
        """Take one chunk's share."""
        self.text += choice.delta.content or ""
        self.token_ids += choice.token_ids or []
        if choice.logprobs is not None:
            tokens = choice.logprobs.content or []
            self.logprobs += [token.logprob for token in tokens]
            self.alternatives += [token for token in tokens if token.top_logprobs]
        self.finish_reason = choice.finish_reason or self.finish_reason

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
    """The names of the weights that answered, as they were met."""
    temperature: float | None = None

    def add(self, chunk: Chunk) -> None:
        """Take one chunk."""
        self.prompt_token_ids = chunk.prompt_token_ids or self.prompt_token_ids
        self.meet(chunk.weight_version)
        for choice in chunk.choices:
            self.by_index.setdefault(choice.index, Sample(temperature=self.temperature)).add(choice)

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
