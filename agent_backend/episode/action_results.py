"""What came of an act: the frames around it and the step it becomes."""

from dataclasses import dataclass
from datetime import UTC, datetime

from agent_backend.interfaces import Intent
from protocol.trajectory.observations import ActionError, MachineSnapshot, Observation
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.steps import Step
from vm_bridge.errors import OutcomeUnknown


@dataclass(frozen=True, slots=True)
class ActionResult:
    """The frames around an act. `after` is None where nobody knows whether it happened; `lost` says why the
    machine cannot be worked with any more, if so."""

    before: Observation
    after: Observation | None
    started_at: datetime
    ended_at: datetime
    error: ActionError | None = None
    machine_lost: str = ""
    snapshot: MachineSnapshot | None = None
    """The way back to before the act, where there is one."""


def unknown_result(
    last_observation: Observation, started_at: datetime, why: str, *, machine_lost: bool = False
) -> ActionResult:
    """An act whose outcome nobody will ever know; `seen` is the last frame before it."""
    error = ActionError(code=OutcomeUnknown.code, message=why)
    return ActionResult(last_observation, None, started_at, datetime.now(UTC), error, why if machine_lost else "")


def build_step(intent: Intent, result: ActionResult, offered: tuple[Proposal, ...], policy: PolicyRef | None) -> Step:
    """The step to store; `offered` and `policy` are those of the moment of the decision."""
    done_as_said = intent.decision in ("accept", "auto") and (intent.batch is None or intent.batch.index == 1)
    said = next((one for one in offered if one.id == intent.proposal_id), None) if done_as_said else None
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
        before=result.before,
        after=result.after,
        error=result.error,
        policy=policy if offered or intent.batch else None,
        started_at=result.started_at,
        ended_at=result.ended_at,
        decide_ms=intent.decide_ms,
        batch=intent.batch,
        provider_calls=said.provider_calls if said is not None else (),
    )
