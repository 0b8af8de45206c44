"""One reply as it grows: tokens, their log-probabilities, the text that is certain, and why it ended."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import torch

from protocol.trajectory.proposals import WeightSpan
from trainer.serve.sampling import reply_generator
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
        """End it as it stands."""
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
