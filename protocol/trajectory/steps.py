"""One decision and what came of it."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from protocol.actions.types import Action
from protocol.base import FrozenModel
from protocol.trajectory.observations import ActionError, Observation
from protocol.trajectory.proposals import PolicyRef, ProviderCall
from protocol.trajectory.reviews import StepReview

Actor = Literal["policy", "human"]
Decision = Literal["accept", "edit", "override", "takeover", "auto", "again"]
"""accept: a proposal as it was; edit: its action with another thought, or some of its actions; override: another
action; takeover: a person's hand on the machine; auto: the policy by itself; again: done anew as in an earlier attempt,
of which this one is a branch: nobody decided anything."""
HUMAN_DECISIONS: tuple[Decision, ...] = ("accept", "edit", "override", "takeover")
REJECTING_DECISIONS: tuple[Decision, ...] = ("override", "takeover")
ThoughtTiming = Literal["before", "owed", "later"]
"""before: with the command that asked for the act; owed: the pool wants a thought and none was written yet; later:
written after the act, when its outcome was known."""


class BatchPosition(FrozenModel):
    """A step's place among the actions that one reply decided together."""

    index: int = Field(ge=1)
    """1 for the first."""
    size: int = Field(ge=2)
    """How many actions were decided on, done or not."""


class Step(FrozenModel):
    """An executed (thought, action) with the frames before and after it.

    `after` is None and `error.code` is `outcome_unknown` where a crash left open whether the act
    happened; such a step is never repeated by itself.
    """

    index: int = Field(ge=0)
    command_id: str
    actor: Actor
    decision: Decision
    acted_by: str | None = None
    """The pseudonym of the supervisor who decided; `removed` where that person's work is kept out of exports; None
    where the episode's annotator or the policy did."""
    proposal_id: str | None = None
    acceptable_ids: tuple[str, ...] = ()
    wrong_ids: tuple[str, ...] = ()
    thought: str
    thought_timing: ThoughtTiming = "before"
    continued_characters: int = Field(default=0, ge=0)
    """Characters of the thought that the annotator took from the policy's continuation of what they had typed."""
    action: Action
    before: Observation
    after: Observation | None
    error: ActionError | None = None
    policy: PolicyRef | None = None
    """The policy that had proposed at this step, whoever decided."""
    started_at: datetime
    ended_at: datetime
    decide_ms: float | None = Field(default=None, ge=0)
    """From the proposals being on screen to the command (milliseconds)."""
    batch: BatchPosition | None = None
    """Set where it is one of several actions of one reply. The reply's thought is that of the first such step."""
    not_done: tuple[Action, ...] = ()
    """The actions of the same reply that were to follow and were not done: this one failed, or something came between.
    """
    provider_calls: tuple[ProviderCall, ...] = ()
    """The calls of the hosted model's reply that was done as it was, in order; at the first step of the reply."""
    undone: bool = False
    """Taken back: the machine went to where it was before; kept in the record, no part of the attempt any more."""
    review: StepReview | None = None
    """What a reviewer said of it and how it was mended; `thought` and `action` stay what was executed."""


def step_policies(steps: tuple[Step, ...]) -> tuple[PolicyRef, ...]:
    """Who proposed at these steps, each once, in order: more than one where a new revision took over on the way."""
    return tuple(dict.fromkeys(step.policy for step in steps if step.policy is not None))


def drop_undone_steps(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps that count, without undone ones."""
    return tuple(step for step in steps if not step.undone)


def steps_with_owed_thoughts(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps that count and whose thought is still to be written."""
    return tuple(step for step in drop_undone_steps(steps) if step.thought_timing == "owed")


def write_thought_later(step: Step, thought: str) -> Step:
    """The step with a thought that was written after the act."""
    return step.model_copy(update={"thought": thought, "thought_timing": "later"})


def steps_of_reply(steps: tuple[Step, ...], first: Step) -> tuple[Step, ...]:
    """The steps that did what one reply said, from its first; that alone where the reply said one action."""
    if first.batch is None:
        return (first,)
    return tuple(step for step in steps if step.batch is not None and step.proposal_id == first.proposal_id)


def group_by_reply(steps: tuple[Step, ...]) -> tuple[tuple[Step, ...], ...]:
    """The steps in order, those that did several actions of one reply together."""
    groups: list[tuple[Step, ...]] = []
    for step in steps:
        if is_later_of_reply(step) and groups and _is_same_reply(groups[-1][-1], step):
            groups[-1] = (*groups[-1], step)
        else:
            groups.append((step,))
    return tuple(groups)


def actions_of_reply(steps: tuple[Step, ...]) -> tuple[Action, ...]:
    """What the reply that these steps did said to do, what was not done included."""
    return (*(step.action for step in steps), *steps[-1].not_done)


def _is_same_reply(before: Step, step: Step) -> bool:
    if before.batch is None or step.batch is None:
        return False
    return before.proposal_id == step.proposal_id and before.batch.index + 1 == step.batch.index


def is_later_of_reply(step: Step) -> bool:
    """Whether an earlier step has the thought and the tokens of the reply that said its action."""
    return step.batch is not None and step.batch.index > 1


def is_rejected(step: Step) -> bool:
    """Whether a reviewer marked the step as wrong, redundant or hallucinated, and it was not corrected."""
    review = step.review
    return review is not None and review.fix is None and review.verdict not in (None, "right")


def is_corrected(step: Step) -> bool:
    """Whether a reviewer corrected the step's thought or action."""
    return step.review is not None and step.review.fix is not None


def apply_review_fix(step: Step) -> Step:
    """The step as its last fix says it, where there is one: what is to be learned, not what was executed."""
    fix = step.review.fix if step.review is not None else None
    if fix is None:
        return step
    written = step.thought_timing == "owed" and fix.thought.strip() != ""
    timing: ThoughtTiming = "later" if written else step.thought_timing
    return step.model_copy(update={"thought": fix.thought, "thought_timing": timing, "action": fix.action})


def learned_form(step: Step) -> Step | None:
    """The step as it is to be learned, with its correction; None where nothing is: its action failed, it was an earlier
    attempt's, its thought is owed, or a reviewer rejected it."""
    learned = apply_review_fix(step)
    failed = step.error is not None and learned.action == step.action
    if failed or is_rejected(step) or step.decision == "again" or learned.thought_timing == "owed":
        return None
    return learned
