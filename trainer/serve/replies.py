"""Replies as they grow: the next token of several at once, each drawn by its own settings, the text that is certain,
and why a reply ended."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch

from protocol.trajectory.proposals import WeightSpan
from trainer.serve.schemas import Sampling

Reason = Literal["stop", "length", "abort"]
UNFINISHED = "\ufffd"
PATIENCE = 8
"""Tokens that may wait for the rest of a character; more of them are no character."""


@dataclass(frozen=True)
class Delta:
    """What one step added to one reply."""

    index: int
    text: str
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    finish: Reason | None = None
    versions: tuple[WeightSpan, ...] = ()
    """With the last: which weights drew how many of the tokens."""


@dataclass
class Reply:
    """One of the n replies to a request."""

    index: int
    sampling: Sampling
    room: int
    """Tokens it may have."""
    ends: frozenset[int]
    decode: Callable[[list[int]], str]
    ids: list[int] = field(default_factory=list)
    finish: Reason | None = None
    source: torch.Generator = field(init=False)
    _pending: list[int] = field(default_factory=list)
    _held: str = ""
    _versions: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.source = reply_generator(self.sampling, self.index)

    def add(self, token: int, logprob: float, version: str) -> Delta:
        """Take a drawn token."""
        self.ids.append(token)
        self._count(version)
        self._pending.append(token)
        self._finish_by(token)
        text = self._held + self._spoken(last=self.finish is not None)
        cut = min((at for stop in self.sampling.stop if (at := text.find(stop)) >= 0), default=None)
        if cut is not None:
            self.finish, text = "stop", text[:cut]
        keep = 0 if self.finish else _overlap(text, self.sampling.stop)
        self._held, text = text[len(text) - keep :], text[: len(text) - keep]
        return self._delta(text, (token,), (logprob,))

    def abort(self) -> Delta:
        """End it in its present state."""
        self.finish = "abort"
        return self._delta(self._held + self._spoken(last=True), (), ())

    def _finish_by(self, token: int) -> None:
        ended = token in self.sampling.stop_token_ids or (token in self.ends and not self.sampling.ignore_eos)
        if ended:
            self.finish = "stop"
        elif len(self.ids) >= self.room:
            self.finish = "length"

    def _spoken(self, *, last: bool) -> str:
        """The text of tokens that make whole characters."""
        text = self.decode(self._pending)
        if text.endswith(UNFINISHED) and not last and len(self._pending) < PATIENCE:
            return ""
        self._pending.clear()
        return text

    def _count(self, version: str) -> None:
        if self._versions and self._versions[-1][0] == version:
            self._versions[-1] = (version, self._versions[-1][1] + 1)
        else:
            self._versions.append((version, 1))

    def _delta(self, text: str, ids: tuple[int, ...], logprobs: tuple[float, ...]) -> Delta:
        spans = self._versions if self.finish else ()
        versions = tuple(WeightSpan(version=version, tokens=count) for version, count in spans)
        return Delta(self.index, text, ids, logprobs, self.finish, versions)


def _overlap(text: str, stops: list[str]) -> int:
    """How many of the last characters may be the beginning of a stop."""
    longest = max((len(stop) for stop in stops), default=1) - 1
    for size in range(min(longest, len(text)), 0, -1):
        if any(stop.startswith(text[-size:]) for stop in stops):
            return size
    return 0


def sample_tokens(
    logits: torch.Tensor, settings: Sequence[Sampling], sources: Sequence[torch.Generator]
) -> tuple[list[int], list[float]]:
    """A token for each row and its log-probability under the distribution it was drawn from.

    `logits` has shape (rows, vocabulary), any float type. Temperature 0 takes the likeliest token and gives its
    log-probability at temperature 1, as vLLM does.
    """
    logits = logits.float()
    tokens: list[int] = []
    logprobs: list[float] = []
    for row, setting, source in zip(logits, settings, sources, strict=True):
        known = sampling_logprobs(row, setting)
        token = int(known.argmax()) if setting.temperature == 0 else _sample_token(known, source)
        tokens.append(token)
        logprobs.append(float(known[token]))
    return tokens, logprobs


def sampling_logprobs(logits: torch.Tensor, setting: Sampling) -> torch.Tensor:
    """Log-probabilities after temperature, top-k, top-p and min-p; what is cut away has minus infinity.

    One dimension in, the same out.
    """
    if setting.temperature > 0:
        logits = logits / setting.temperature
    if 0 < setting.top_k < logits.numel():
        logits = logits.masked_fill(logits < logits.topk(setting.top_k).values[-1], -torch.inf)
    if setting.min_p > 0:
        probabilities = logits.softmax(-1)
        logits = logits.masked_fill(probabilities < setting.min_p * probabilities.max(), -torch.inf)
    if setting.top_p < 1:
        ordered, places = logits.softmax(-1).sort(descending=True)
        beyond = ordered.cumsum(0) - ordered >= setting.top_p
        logits = logits.index_fill(0, places[beyond], -torch.inf)
    return logits.log_softmax(-1)


def reply_generator(setting: Sampling, index: int) -> torch.Generator:
    """The randomness of one reply: a seed gives the same replies again, whatever else is served."""
    source = torch.Generator()
    if setting.seed is None:
        source.seed()
    else:
        # torch's generator heeds 32 bits of a seed: all of ours go into them
        mixed = hashlib.blake2b(f"{setting.seed} {index}".encode(), digest_size=4).digest()
        source.manual_seed(int.from_bytes(mixed))
    return source


def _sample_token(logprobs: torch.Tensor, source: torch.Generator) -> int:
    return int(torch.multinomial(logprobs.exp(), 1, generator=source))
