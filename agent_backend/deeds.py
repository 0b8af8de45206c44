"""What came of an act: the frames around it and the step it becomes."""

from dataclasses import dataclass
from datetime import UTC, datetime

from agent_backend.ports import Intent
from vm_bridge.errors import OutcomeUnknown
from vocabulary.observations import ActionError, Observation
from vocabulary.proposals import PolicyRef, Proposal
from vocabulary.steps import Step


@dataclass(frozen=True, slots=True)
class Deed:
    """The frames around an act. `after` is None where nobody knows whether it happened; `lost` says why the
    machine cannot be worked with any more, if so."""

    before: Observation
    after: Observation | None
    started_at: datetime
    ended_at: datetime
    error: ActionError | None = None
    lost: str = ""


def deed_unknown(seen: Observation, started_at: datetime, why: str, *, lost: bool = False) -> Deed:
    """An act whose outcome nobody will ever know; `seen` is the last frame before it."""
    error = ActionError(code=OutcomeUnknown.code, message=why)
    return Deed(seen, None, started_at, datetime.now(UTC), error, why if lost else "")


def step_of(intent: Intent, deed: Deed, offered: tuple[Proposal, ...], policy: PolicyRef | None) -> Step:
    """The step to store; `offered` and `policy` are those of the moment of the decision."""
    return Step(
        index=intent.index,
        command_id=intent.command_id,
        actor=intent.actor,
        decision=intent.decision,
        proposal_id=intent.proposal_id,
        acceptable_ids=tuple(proposal.id for proposal in offered if proposal.mark == "acceptable"),
        wrong_ids=tuple(proposal.id for proposal in offered if proposal.mark == "wrong"),
        thought=intent.thought,
        action=intent.action,
        before=deed.before,
        after=deed.after,
        error=deed.error,
        policy=policy if offered else None,
        started_at=deed.started_at,
        ended_at=deed.ended_at,
        decide_ms=intent.decide_ms,
    )
