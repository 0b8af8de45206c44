"""What an attempt earned, as it was decided before any trainer saw it."""

from typing import Literal, Self

from pydantic import Field, model_validator

from protocol.base import FrozenModel

ModelJudgeKind = Literal["reference", "screen", "outcome_model"]
"""Judges that ask a model, in the order in which they are asked. reference: compares the answer with the task's
reference; screen: holds the last screens against the task's criteria; outcome_model: reads the whole attempt."""

RewardSource = Literal["verifier", ModelJudgeKind]
"""Source of a reward, in the order in which they are asked. verifier: what the task's own said."""


class JudgedBy(FrozenModel):
    """One judge that was asked about an attempt, and what it cost."""

    kind: RewardSource
    name: str
    revision: str
    """Of its weights, prompt and settings: another of them is another revision."""
    score: float | None = Field(default=None, ge=0, le=1)
    """How likely it is that the task was done; None where the judge abstained."""
    abstained: str = ""
    """Why there is no score, as a stable word."""
    threshold: float = Field(ge=0, le=1)
    """From which score on it is believed."""
    votes: int = Field(default=1, ge=1)
    """Replies that its score is made of."""
    prompt_tokens: int | None = Field(default=None, ge=0)
    completion_tokens: int | None = Field(default=None, ge=0)
    """Of all votes together, as far as the server says."""
    cost_usd: float | None = Field(default=None, ge=0)
    """None where no prices are known."""
    latency_ms: float = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _score_or_reason(self) -> Self:
        if (self.score is None) == (not self.abstained):
            raise ValueError("either a score, or the reason why there is none")
        return self


class AttemptReward(FrozenModel):
    """The reward of a whole attempt, from the first source that says anything. `value` is None where none did: such
    an attempt is no failure and teaches nothing."""

    value: float | None = Field(default=None, ge=0, le=1)
    """1 or 0 for done and not done; the verifier's score stays on the verdict."""
    source: RewardSource | None = None
    judges: tuple[JudgedBy, ...] = ()
    """Every model that was asked, those that abstained too, in order."""
    unearned: Literal["", "out_of_steps"] = ""
    """Why an attempt earned nothing whatever its last state: it never said that it was done, and waited until its steps
    or its time ran out."""
    readable_share: float | None = Field(default=None, ge=0, le=1)
    """The share of the policy's replies that were in its grammar; None where it gave none."""
    reply_tokens: tuple[int, ...] = ()
    """Tokens of each standing step's reply; 0 where a person or an earlier step's reply has them."""

    @model_validator(mode="after")
    def _value_has_a_source(self) -> Self:
        if not self.unearned and (self.value is None) != (self.source is None):
            raise ValueError("a reward has a source, and no reward has none")
        return self

    @property
    def judged(self) -> bool:
        """Whether a model decided it, and no verifier."""
        return self.source not in (None, "verifier")
