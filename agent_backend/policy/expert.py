"""The scripted expert of a machine's own suite as a policy: it sees the state of the task, and is no model."""

import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from agent_backend.errors import PolicyError
from agent_backend.ports import KeepBlob, keep_nothing
from vm_bridge.errors import BridgeError
from vm_bridge.machine import ExpertSuggestion
from vocabulary.actions import CallUser, Finish
from vocabulary.blobs import BlobRef
from vocabulary.descriptions import describe
from vocabulary.dialect import Screen
from vocabulary.dialects import dialect_named
from vocabulary.episodic import Memory
from vocabulary.messages import Partial
from vocabulary.observations import Observation
from vocabulary.proposals import PolicyRef, Proposal
from vocabulary.steps import Step
from vocabulary.tasks import Task
from vocabulary.tools import Tool

NO_WAY_ON = ExpertSuggestion(
    thought="I am a script and know no way on from here, so a person has to find it.",
    action=CallUser(message="The scripted expert knows no way on."),
)


ENDED = ExpertSuggestion(thought="The page has ended, or its time is over; nothing is left to do.", action=Finish())


class ExpertPolicy:
    """Offers what `advise` says: the one machine of one episode, asked at every decision point."""

    def __init__(self, ref: PolicyRef, suggest_expert_action: Callable[[], Awaitable[ExpertSuggestion | None]]) -> None:
        self.ref = ref
        self._suggest_expert_action = suggest_expert_action
        self._dialect = dialect_named(ref.dialect)

    async def propose(
        self,
        task: Task,
        steps: tuple[Step, ...],
        observation: Observation,
        *,
        kinds: frozenset[str],
        tools: tuple[Tool, ...] = (),
        memories: tuple[Memory, ...] = (),
        blob: Callable[[BlobRef], Awaitable[bytes]],
        partial: Callable[[tuple[Partial, ...]], Awaitable[None]],
        keep: KeepBlob = keep_nothing,
    ) -> tuple[Proposal, ...]:
        """See `ports.Policy.propose`."""
        began = time.monotonic()
        try:
            page = observation.page
            late = page is not None and page.truncated
            advice = None if late else await self._suggest_expert_action()
            advice = advice or (ENDED if page is not None and page.over else NO_WAY_ON)
        except BridgeError as error:
            raise PolicyError(f"the scripted expert could not be asked: {error}") from error
        said = self._dialect.sayable(advice.action)
        words = describe(advice.action) if said is None else ""
        text = words or self._dialect.write(advice.thought, said or advice.action, Screen.of(observation))
        return (
            Proposal(
                id=uuid.uuid4().hex,
                rank=1,
                thought=advice.thought,
                action=advice.action,
                action_text=words or text.rpartition("Action: ")[2],
                raw_text=text,
                policy=self.ref,
                latency_ms=(time.monotonic() - began) * 1000,
                created_at=datetime.now(UTC),
            ),
        )
