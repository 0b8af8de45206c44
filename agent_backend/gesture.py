"""A takeover's inputs on their way to becoming one step."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from agent_backend.deeds import Deed
from agent_backend.hand import Hand
from agent_backend.held_inputs import HeldInputs
from agent_backend.ports import Intent
from vocabulary.actions import Gesture, InputEvent, TimedInput
from vocabulary.observations import Observation

MAX_INPUTS = 2_500
"""Inputs after which a gesture is closed whatever is held; one more batch still fits the vocabulary's bound."""


def gesture_of(inputs: Sequence[InputEvent]) -> Gesture:
    """Inputs that came together."""
    return Gesture(inputs=tuple(TimedInput(at_ms=0, input=event) for event in inputs))


@dataclass(slots=True)
class OpenGesture:
    """Primitive inputs since the first, at `started` (monotonic seconds), and what they hold down."""

    intent: Intent
    started: float
    deed: Deed | None = None
    """From the frame before the first input to the latest frame; the latest error wins."""
    inputs: list[TimedInput] = field(default_factory=list)
    held_inputs: HeldInputs = field(default_factory=HeldInputs)
    last: float = 0.0
    """When the last input came (monotonic seconds)."""

    @property
    def held(self) -> tuple[InputEvent, ...]:
        """The inputs that would let go of everything, the latest first."""
        return self.held_inputs.releases

    @property
    def full(self) -> bool:
        """Whether it must be closed now."""
        return len(self.inputs) >= MAX_INPUTS

    @property
    def lost(self) -> bool:
        """Whether the machine was lost, or an input's outcome."""
        return self.deed is not None and self.deed.after is None

    async def perform(
        self, hand: Hand, command_id: str, events: Sequence[InputEvent], seen: Observation, now: float
    ) -> None:
        """Do inputs at once, without waiting for the screen to rest; `now` is monotonic seconds."""
        deed = await hand.act(command_id, gesture_of(events), seen, settle=False)
        first = self.deed or deed
        self.deed = replace(deed, before=first.before, started_at=first.started_at, error=deed.error or first.error)
        self.last = now
        at_ms = max(0, round((now - self.started) * 1000))
        for event in events:
            self.inputs.append(TimedInput(at_ms=at_ms, input=event))
            self.held_inputs.note(event)

    async def close(self, hand: Hand, seen: Observation, now: float) -> Deed:
        """Let go of what is held and wait until the screen rests."""
        if self.held and not self.lost:
            await self.perform(hand, f"{self.intent.command_id}-release", self.held, seen, now)
        assert self.deed is not None
        return self.deed if self.lost else await hand.rest(self.deed)

    def whole(self, thought: str) -> Intent:
        """The intent it began with, grown to all that was done."""
        grown = {"action": Gesture(inputs=tuple(self.inputs)), "thought": thought or self.intent.thought}
        return self.intent.model_copy(update=grown)
