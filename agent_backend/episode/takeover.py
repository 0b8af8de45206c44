"""Collects a takeover's inputs into one step."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent_backend.episode.held_inputs import HeldInputs
from agent_backend.episode.machine_session import ActionResult, MachineSession
from agent_backend.interfaces import Intent
from protocol.actions.types import Gesture, InputEvent, TimedInput
from protocol.trajectory.observations import Observation

MAX_INPUTS = 2_500
"""Inputs after which a gesture is closed even if something is held down. One more batch fits the protocol's bound."""


def build_gesture(inputs: Sequence[InputEvent]) -> Gesture:
    """Build a gesture from inputs that arrived together."""
    return Gesture(inputs=tuple(TimedInput(at_ms=0, input=event) for event in inputs))


@dataclass(slots=True)
class GestureRecorder:
    """Records primitive inputs since the first one, at `started` (monotonic seconds), and what they hold down."""

    intent: Intent
    started: float
    result: ActionResult | None = None
    """The result from the frame before the first input to the latest frame; the latest error wins."""
    inputs: list[TimedInput] = field(default_factory=list)
    held_inputs: HeldInputs = field(default_factory=HeldInputs)
    last: float = 0.0
    """When the last input came (monotonic seconds)."""
    last_message: float = 0.0
    """When the page last sent anything, even only that it still holds the same inputs (monotonic seconds)."""
    released: int = 0
    """How often everything was released after a silence."""

    @property
    def releases(self) -> tuple[InputEvent, ...]:
        """The inputs that would release everything, the latest first."""
        return self.held_inputs.releases

    @property
    def is_full(self) -> bool:
        """Whether the gesture must be closed now."""
        return len(self.inputs) >= MAX_INPUTS

    @property
    def machine_lost(self) -> bool:
        """Whether the machine was lost, or the outcome of an input is unknown."""
        return self.result is not None and self.result.after is None

    async def perform(
        self,
        session: MachineSession,
        command_id: str,
        events: Sequence[InputEvent],
        last_observation: Observation,
        now: float,
    ) -> None:
        """Execute inputs at once, without waiting for the screen to settle; `now` is monotonic seconds."""
        result = await session.act(
            command_id, build_gesture(events), last_observation, settle=False, snapshot=self.result is None
        )
        first = self.result or result
        self.result = replace(
            result,
            before=first.before,
            started_at=first.started_at,
            error=result.error or first.error,
            snapshot=first.snapshot,
        )
        self.last = self.last_message = now
        at_ms = max(0, round((now - self.started) * 1000))
        for event in events:
            self.inputs.append(TimedInput(at_ms=at_ms, input=event))
            self.held_inputs.note(event)

    async def release(self, session: MachineSession, last_observation: Observation, now: float) -> None:
        """Release everything that is held; recorded like any input."""
        self.released += 1
        command_id = f"{self.intent.command_id}-release-{self.released}"
        await self.perform(session, command_id, self.releases, last_observation, now)

    async def close(self, session: MachineSession, last_observation: Observation, now: float) -> ActionResult:
        """Release everything that is held and wait until the screen settles."""
        if self.releases and not self.machine_lost:
            await self.release(session, last_observation, now)
        assert self.result is not None
        return self.result if self.machine_lost else await session.wait_until_settled(self.result)

    def completed_intent(self, thought: str) -> Intent:
        """The intent of the first inputs, extended to all inputs."""
        fields = {"action": Gesture(inputs=tuple(self.inputs)), "thought": thought or self.intent.thought}
        return self.intent.model_copy(update=fields)
