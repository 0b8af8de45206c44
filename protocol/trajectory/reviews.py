"""What reviewers say of an attempt, step by step, and how they mend it: the attempt itself is never changed."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from protocol.actions.types import Action
from protocol.base import FrozenModel

StepVerdict = Literal["right", "wrong_element", "wrong_action", "redundant", "hallucinated"]
"""right; the right kind of action at the wrong place; the wrong kind; not needed; by what is not on the screen."""

STEP_VERDICTS: tuple[StepVerdict, ...] = ("right", "wrong_element", "wrong_action", "redundant", "hallucinated")

ReviewText = Annotated[str, StringConstraints(max_length=4_000, pattern=r"^[^\x00]*$")]


class Fix(FrozenModel):
    """A better thought and action for a step; what was executed stays where it is. The highest revision holds."""

    revision: int = Field(ge=1)
    thought: str
    action: Action
    reason: str = ""


class StepReview(FrozenModel):
    """What a step's reviewer said of it last, and how it was mended."""

    verdict: StepVerdict | None = None
    comment: str = ""
    fix: Fix | None = None


class Segment(FrozenModel):
    """The steps from `first` to `last` (both counted, by their index in the record) as an attempt of its own."""

    first: int = Field(ge=0)
    last: int = Field(ge=0)
    instruction: ReviewText = ""
    """What this part does; empty: what the task says."""

    @model_validator(mode="after")
    def _holds_a_step(self) -> "Segment":
        if self.last < self.first:
            raise ValueError("a segment holds at least one step")
        return self
