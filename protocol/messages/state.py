"""How an event changes an episode's state: the law that store, runner and desk share.

The desk keeps the same law in TypeScript; `tests/fixtures/episodes/` holds the cases both are tested with.
"""

from typing import Any

from protocol.messages.events import (
    DurableEvent,
    EpisodeChanged,
    EpisodeState,
    ProposalMarked,
    ProposalsReady,
    ProposalsThinking,
    ProposalsWithdrawn,
    StepAdded,
    StepStarted,
    StepUndone,
    ThoughtWritten,
)
from protocol.trajectory.proposals import Mark, Proposal
from protocol.trajectory.steps import Step, write_thought_later


def apply_event(state: EpisodeState, event: DurableEvent) -> EpisodeState:
    """The state after the next event. Raises ValueError for any but the next version: refetch the snapshot."""
    if event.version != state.version + 1:
        raise ValueError(f"gap: state has version {state.version}, event has {event.version}")
    return state.model_copy(update={"version": event.version, **_changes(state, event)})


def apply_thinking_event(state: EpisodeState, event: ProposalsThinking) -> EpisodeState:
    """The state after news of a running inference, which carries no version and may be lost."""
    return state.model_copy(
        update={
            "thinking": event.thinking,
            "thinking_error": event.message,
            "thinking_code": event.code,
            "thinking_policy": event.policy,
        }
    )


def _changes(state: EpisodeState, event: DurableEvent) -> dict[str, Any]:
    match event:
        case StepStarted():
            return {"pending": event.pending, **_thinking_changed("idle")}
        case StepAdded():
            return {
                "steps": (*state.steps, event.step),
                "observation": event.step.after or state.observation,
                "pending": event.pending,
                **_proposals_changed((), "idle"),
            }
        case StepUndone():
            return {
                "steps": _mark_undone(state.steps, event.index),
                "observation": event.observation,
                **_proposals_changed((), "idle"),
            }
        case ThoughtWritten():
            return {"steps": _write_thought(state.steps, event.index, event.thought)}
        case ProposalsReady():
            return {"policy": event.policy, **_proposals_changed(event.proposals, "ready")}
        case ProposalsWithdrawn():
            return {"observation": event.observation or state.observation, **_proposals_changed((), "idle")}
        case ProposalMarked():
            return {"proposals": _mark_proposal(state.proposals, event.proposal_id, event.mark)}
        case EpisodeChanged():
            return _set_fields(event)


def _proposals_changed(proposals: tuple[Proposal, ...], thinking: str) -> dict[str, Any]:
    return {"proposals": proposals, **_thinking_changed(thinking)}


def _thinking_changed(thinking: str) -> dict[str, Any]:
    return {"thinking": thinking, "thinking_error": "", "thinking_policy": None}


def _mark_undone(steps: tuple[Step, ...], index: int) -> tuple[Step, ...]:
    return tuple(step.model_copy(update={"undone": True}) if step.index == index else step for step in steps)


def _write_thought(steps: tuple[Step, ...], index: int, thought: str) -> tuple[Step, ...]:
    return tuple(write_thought_later(step, thought) if step.index == index else step for step in steps)


def _mark_proposal(proposals: tuple[Proposal, ...], proposal_id: str, mark: Mark | None) -> tuple[Proposal, ...]:
    return tuple(p.model_copy(update={"mark": mark}) if p.id == proposal_id else p for p in proposals)


def _set_fields(event: EpisodeChanged) -> dict[str, Any]:
    """The fields an event sets: those that are not None."""
    names = EpisodeChanged.model_fields.keys() - {"type", "version"}
    return {name: value for name in names if (value := getattr(event, name)) is not None}
