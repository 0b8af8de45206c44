"""The scripted expert of a machine's suite as a policy: it reads the state of the task and uses no model."""

import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from agent_backend.errors import PolicyError
from agent_backend.interfaces import SaveBlob, discard_blob
from protocol.actions.descriptions import describe_action
from protocol.actions.tools import Tool
from protocol.actions.types import CallUser, Finish
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.families import get_dialect
from protocol.messages.events import Partial
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from vm_bridge.errors import BridgeError
from vm_bridge.machine import ExpertSuggestion

NO_SUGGESTION = ExpertSuggestion(
    thought="I am a script and know no way on from here, so a person has to find it.",
    action=CallUser(message="The scripted expert knows no way on."),
)


EPISODE_ENDED = ExpertSuggestion(
    thought="The page has ended, or its time is over; nothing is left to do.", action=Finish()
)


Oracle = Callable[[Task, tuple[Step, ...]], ExpertSuggestion | None]
"""What a task's own solution would do after these steps."""


def no_oracle(task: Task, steps: tuple[Step, ...]) -> ExpertSuggestion | None:
    """An oracle that knows nothing."""
    return None


class ExpertPolicy:
    """Proposes what the machine of its one episode suggests (`suggest_expert_action`), at every decision point."""

    def __init__(
        self,
        ref: PolicyRef,
        suggest_expert_action: Callable[[], Awaitable[ExpertSuggestion | None]],
        oracle: Oracle = no_oracle,
    ) -> None:
        """`oracle` knows the task's own solution; it is used if the machine's expert has no suggestion."""
        self.ref = ref
        self._suggest_expert_action = suggest_expert_action
        self._oracle = oracle
        self._dialect = get_dialect(ref.dialect)

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
        save_blob: SaveBlob = discard_blob,
    ) -> tuple[Proposal, ...]:
        """See `interfaces.Policy.propose`."""
        started = time.monotonic()
        try:
            page = observation.page
            timed_out = page is not None and page.truncated
            suggestion = None if timed_out else await self._suggest_expert_action()
            suggestion = suggestion or (None if timed_out else self._oracle(task, steps))
            suggestion = suggestion or (EPISODE_ENDED if page is not None and page.over else NO_SUGGESTION)
        except BridgeError as error:
            raise PolicyError(f"the scripted expert could not be reached: {error}") from error
        expressible = self._dialect.supported_form(suggestion.action)
        words = describe_action(suggestion.action) if expressible is None else ""
        text = words or self._dialect.write(
            suggestion.thought, expressible or suggestion.action, ScreenSize.of(observation)
        )
        return (
            Proposal(
                id=uuid.uuid4().hex,
                rank=1,
                thought=suggestion.thought,
                action=suggestion.action,
                action_text=words or text.rpartition("Action: ")[2],
                raw_text=text,
                policy=self.ref,
                latency_ms=(time.monotonic() - started) * 1000,
                created_at=datetime.now(UTC),
            ),
        )
