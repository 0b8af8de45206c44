"""A judge's verdict on a whole attempt: the probability that the task was done, or why there is none.

A folder of judgements holds `manifest.json`, `judgements.jsonl` (one `Judgement` a line) and `prompts/<sha256>.json`.
"""

from datetime import datetime
from typing import Literal, Self

from pydantic import Field, model_validator

from protocol.base import FrozenModel
from protocol.blobs import BlobRef, Sha256
from protocol.trajectory.rewards import RewardSource

JUDGEMENT_FORMAT: Literal["pilothouse-judgement-1"] = "pilothouse-judgement-1"
JUDGEMENTS_FORMAT: Literal["pilothouse-judgements-1"] = "pilothouse-judgements-1"
JUDGEMENTS = "judgements.jsonl"
PROMPTS = "prompts"
REFERENCE_PARAMETER = "reference_answer"
"""The task's parameter that holds the answer looked for: a text, or a list of texts of which each is right."""

CRITERIA_PARAMETER = "success_criteria"
"""The task's parameter that says what the last screen must show: a text, or a list of texts that must all be true."""

JudgeKind = RewardSource
"""Kinds of judges, the verifier among them."""

VoteAggregation = Literal["mean", "majority", "unanimous"]
"""mean: of the votes that say something, which are to be more than half; majority: 1 or 0, as more than half of all
votes say; unanimous: the least of them, where every one says something."""

NoScoreReason = Literal[
    "no_verifier",
    "no_reference",
    "no_criteria",
    "screen_lost",
    "unreadable",
    "contradictory",
    "out_of_range",
    "cut_off",
    "missing",
    "undecided",
    "refused",
]
"""Why there is no score: nothing to go by; a picture is gone; a reply without a verdict (garbage, a refusal), with
several, with a number that is no probability, or cut off; fewer replies than asked for; votes without a majority; a
server that refuses this very attempt."""


class JudgeRef(FrozenModel):
    """Which judge: a new prompt, model or setting is a new revision."""

    kind: JudgeKind
    name: str
    revision: str
    scripted: bool = False
    """It answers from a script and is no model at all."""


VERIFIER = JudgeRef(kind="verifier", name="verifier", revision="1")


class JudgeSettings(FrozenModel):
    """How a model is asked to judge."""

    votes: int = Field(default=1, ge=1, le=16)
    combine: VoteAggregation = "mean"
    temperature: float = Field(default=0.0, ge=0, le=2)
    max_tokens: int = Field(default=1024, ge=1, le=32_768)
    images: int = Field(default=5, ge=0, le=64)
    """Screens it is shown, the last ones; by `key_points` those that show most."""
    method: Literal["single", "key_points"] = "single"
    """How a judge of screens goes on. single: it looks at the last ones once. key_points: it lists the task's key
    points, rates every screen, and holds those that show much against the points; such a task needs no criteria."""
    rating_threshold: int = Field(default=3, ge=1, le=5)
    """From which rating on a screen is held against the key points."""

    @model_validator(mode="after")
    def _votes_differ(self) -> Self:
        if self.votes > 1 and self.temperature == 0:
            raise ValueError("several votes at temperature 0 are one vote")
        return self


class _ScoreOrReason(FrozenModel):
    """Either a score or the reason why there is none."""

    score: float | None = Field(default=None, ge=0, le=1)
    """How likely it is that the task was done."""
    unsaid: NoScoreReason | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.score is None) == (self.unsaid is None):
            raise ValueError("either a score, or the reason why there is none")
        return self


class Vote(_ScoreOrReason):
    """One reply, word for word."""

    words: str
    finish_reason: str | None = None


class Judgement(_ScoreOrReason):
    """One judge's word on one attempt."""

    format: Literal["pilothouse-judgement-1"] = JUDGEMENT_FORMAT
    trajectory: str
    judge: JudgeRef
    words: str = ""
    """The reason, for people."""
    votes: tuple[Vote, ...] = ()
    prompt: BlobRef | None = None
    """What was asked, word for word: a `protocol.evaluation.judge_prompts.JudgePrompt`."""
    prompt_tokens: int | None = Field(default=None, ge=0)
    """As far as the server says; of all votes together."""
    completion_tokens: int | None = Field(default=None, ge=0)
    weight_versions: tuple[str, ...] = ()
    """The weights that answered, by name: its tokens are not kept, so there is nothing to count by them."""
    latency_ms: float = Field(default=0, ge=0)
    judged_at: datetime

    def passes(self, threshold: float) -> bool | None:
        """Whether the score reaches the threshold; None where there is no score."""
        return None if self.score is None else self.score >= threshold


class JudgementsManifest(FrozenModel):
    """What is in a folder of judgements."""

    format: Literal["pilothouse-judgements-1"] = JUDGEMENTS_FORMAT
    created_at: datetime
    judge: JudgeRef
    settings: JudgeSettings | None = None
    folders: tuple[str, ...]
    """The names of the folders whose trajectories were judged."""
    judged: int = Field(ge=0)
    unsaid: int = Field(ge=0)
    """How many of them got no score."""
    refused: int = Field(default=0, ge=0)
    """How many the model's server would not have; they are not among the judged."""
    sha256: Sha256
    """Of the judgements."""
