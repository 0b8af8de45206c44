"""What a command says: how it is known again, how it is refused, what it intends."""

import hashlib
import json
from typing import Any

from agent_backend.errors import CommandRefused
from agent_backend.ports import EpisodeCommand
from agent_backend.refusals import offered
from vocabulary.episodic import Memory
from vocabulary.messages import Accept, Act, EpisodeState, Rejected, ReviseMemory


def digest_of(command: EpisodeCommand) -> str:
    """What a resend must equal: the sha256 of a command's whole body."""
    body = json.dumps(command.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(body.encode()).hexdigest()


def refusal(command: EpisodeCommand, code: str, message: str) -> Rejected:
    """The answer to a command that changed nothing."""
    return Rejected(command_id=command.command_id, code=code, message=message)


def said_by(command: Act | Accept, state: EpisodeState) -> dict[str, Any]:
    """What a checked command intends: the candidate it takes, or an action of the person's own."""
    if isinstance(command, Act):
        known = command.proposal_id in {proposal.id for proposal in state.proposals}
        return {
            "command_id": command.command_id,
            "decision": "override",
            "proposal_id": command.proposal_id if known else None,
            "thought": command.thought,
            "action": command.action,
        }
    proposal = offered(state, command.proposal_id)
    thought = proposal.thought if command.thought is None else command.thought
    return {
        "command_id": command.command_id,
        "decision": "accept" if thought == proposal.thought else "edit",
        "proposal_id": proposal.id,
        "thought": thought,
        "action": proposal.action,
    }


def revised(memories: tuple[Memory, ...], command: ReviseMemory) -> tuple[Memory, ...]:
    """The notes with one of them put right; given its first words again, it is the policy's own again. Raises
    CommandRefused where there is none of this name."""
    if all(memory.through != command.through for memory in memories):
        raise CommandRefused("unknown_memory", "there is no such note")
    return tuple(
        _reworded(memory, command.text) if memory.through == command.through else memory for memory in memories
    )


def _reworded(memory: Memory, text: str) -> Memory:
    first = memory.original if memory.revised else memory.text
    own = text == first
    return memory.model_copy(update={"text": text, "revised": not own, "original": None if own else first})
