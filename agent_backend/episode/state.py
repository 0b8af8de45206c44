"""Tracks the current state of the episode: every durable change goes through this module, and the state follows."""

from collections.abc import Awaitable

from agent_backend.interfaces import CommandRecord, Emit, EpisodeStore
from agent_backend.telemetry.requests import OnRequest, PolicyRequest
from agent_backend.telemetry.tracer import episode_tracer
from protocol.messages.events import (
    DurableEvent,
    EpisodeState,
    MemoriesNoting,
    Noting,
    Partial,
    ProposalsThinking,
    Thinking,
)
from protocol.messages.state import apply_event, apply_thinking_event
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import PolicyRef


class EpisodeStateTracker:
    """The state of one episode, kept in step with its store."""

    state: EpisodeState
    """Set by `load`. It includes `thinking` and `noting`, which no store keeps."""

    def __init__(self, store: EpisodeStore, emit: Emit) -> None:
        self.store = store
        self._emit = emit
        self._tracer = episode_tracer()
        self.on_request: OnRequest | None = None if self._tracer is None else self._trace_request
        """Called after each request to the policy, if spans are exported."""

    @property
    def loaded(self) -> bool:
        """Whether `load` has read the state."""
        return hasattr(self, "state")

    def _trace_request(self, request: PolicyRequest) -> None:
        assert self._tracer is not None
        self._tracer.on_request(self.state, request)

    @property
    def last_observation(self) -> Observation:
        """The frame that the next action acts on."""
        assert self.state.observation is not None, "an episode is seen before it is acted in"
        return self.state.observation

    async def load(self) -> None:
        """Read the state from the store."""
        before = getattr(self, "state", None)
        self.state = await self.store.load()
        if before is not None:
            fields = {name: getattr(before, name) for name in ("noting", "noting_error", "noting_policy")}
            self.state = self.state.model_copy(update=fields)

    async def write(self, writing: Awaitable[DurableEvent]) -> None:
        """Wait for a write and apply its event. If another writer wrote in between, reload the state."""
        event = await writing
        if event.version == self.state.version + 1:
            self.state = apply_event(self.state, event)
        else:
            await self.load()
        if self._tracer is not None:
            self._tracer.on_event(self.state, event)

    async def change(self, command: CommandRecord | None = None, /, **fields: object) -> None:
        """Change the given fields that are not None, and store the command that requested the change with it."""
        given = {name: value for name, value in fields.items() if value is not None}
        await self.write(self.store.change(given, command))

    async def publish_thinking(
        self,
        thinking: Thinking,
        message: str = "",
        partials: tuple[Partial, ...] = (),
        *,
        code: str = "",
        policy: PolicyRef | None = None,
    ) -> None:
        """Publish the policy's thinking state to every viewer; the message may be lost."""
        event = ProposalsThinking(thinking=thinking, partials=partials, message=message, code=code, policy=policy)
        self.state = apply_thinking_event(self.state, event)
        await self._emit(event)

    async def publish_noting(self, noting: Noting, message: str = "", *, policy: PolicyRef | None = None) -> None:
        """Publish the state of the notes to every viewer if it changed, and which policy's note failed; the message may
        be lost."""
        fields = {"noting": noting, "noting_error": message, "noting_policy": policy}
        if all(getattr(self.state, name) == value for name, value in fields.items()):
            return
        self.state = self.state.model_copy(update=fields)
        await self._emit(MemoriesNoting(noting=noting, message=message, policy=policy))
