"""The commands of one episode: their queue, what a runner waits on, their digests, and the intents that they state."""

import asyncio
import contextlib
import hashlib
import json
from collections import deque
from typing import Any

from agent_backend.episode.batches import batch_fields
from agent_backend.episode.validation import accepted_actions, find_proposal
from agent_backend.errors import CommandRejected
from agent_backend.interfaces import Emit, EpisodeCommand
from protocol.messages.events import Accept, Act, EpisodeState, Rejected, ReviseMemory
from protocol.trajectory.memory import Memory


class CommandQueue:
    """Waiting commands and where to answer them, in the order they came.

    Args:
        size: Most commands that wait at a time.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._waiting: deque[tuple[EpisodeCommand, Emit]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def first(self) -> EpisodeCommand | None:
        """The next command, left where it is; None where no command waits."""
        return self._waiting[0][0] if self._waiting else None

    def holds(self, *kinds: type[EpisodeCommand]) -> bool:
        """Whether a command of one of these kinds waits."""
        return any(isinstance(command, kinds) for command, _ in self._waiting)

    def add(self, command: EpisodeCommand, reply: Emit) -> bool:
        """Queue a command. A resent one takes the place of its equal. Returns whether it is new.

        Raises:
            CommandRejected: `queue_full`; the resent command of a full inbox is taken all the same.
        """
        for place, (waiting, _) in enumerate(self._waiting):
            if waiting == command:
                self._waiting[place] = (command, reply)
                return False
        if len(self._waiting) >= self._size:
            raise CommandRejected("queue_full", "too many commands are waiting")
        self._waiting.append((command, reply))
        return True

    def take(self) -> tuple[EpisodeCommand, Emit]:
        """Remove the next command. Raises IndexError where no command waits."""
        return self._waiting.popleft()


class Wakeup:
    """An event that is waited for no longer than until a deadline."""

    def __init__(self) -> None:
        self._event = asyncio.Event()
        self.set = self._event.set
        self.clear = self._event.clear
        self.waiting = False
        """Whether somebody waits, and so does nothing else."""

    async def wait(self, *deadlines: float | None) -> None:
        """Return when the event is set or the earliest deadline has passed; None never passes."""
        self.waiting = True
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(min((at for at in deadlines if at is not None), default=None)):
                    await self._event.wait()
        finally:
            self.waiting = False

    @staticmethod
    def is_due(at: float | None) -> bool:
        """Whether a deadline has passed; None never does."""
        return at is not None and asyncio.get_running_loop().time() >= at


def digest_of(command: EpisodeCommand) -> str:
    """What a resend must equal: the sha256 of a command's whole body."""
    body = json.dumps(command.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(body.encode()).hexdigest()


def rejection(command: EpisodeCommand, code: str, message: str) -> Rejected:
    """The answer to a command that changed nothing."""
    return Rejected(command_id=command.command_id, code=code, message=message)


def intent_fields(command: Act | Accept, state: EpisodeState) -> dict[str, Any]:
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
    proposal = find_proposal(state, command.proposal_id)
    thought = proposal.thought if command.thought is None else command.thought
    actions = accepted_actions(proposal, command)
    return {
        "command_id": command.command_id,
        "decision": "accept" if (thought, actions) == (proposal.thought, proposal.actions) else "edit",
        "proposal_id": proposal.id,
        "thought": thought,
        **batch_fields(actions),
    }


def revise_memories(memories: tuple[Memory, ...], command: ReviseMemory) -> tuple[Memory, ...]:
    """The notes with one of them put right; given its first words again, it is the policy's own again. Raises
    CommandRejected where there is none of this name."""
    if all(memory.through != command.through for memory in memories):
        raise CommandRejected("unknown_memory", "there is no such note")
    return tuple(
        _with_text(memory, command.text) if memory.through == command.through else memory for memory in memories
    )


def _with_text(memory: Memory, text: str) -> Memory:
    first = memory.original if memory.revised else memory.text
    own = text == first
    return memory.model_copy(update={"text": text, "revised": not own, "original": None if own else first})
