"""Executes everything that is done to an episode's machine, from the stored intent to the stored step."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from agent_backend.episode.batches import may_continue, next_intent
from agent_backend.episode.commands import is_thought_missing
from agent_backend.episode.held_inputs import held_after
from agent_backend.episode.machine_session import (
    ActionResult,
    MachineSession,
    PictureCache,
    build_step,
    unknown_result,
)
from agent_backend.episode.settling import SettleControl
from agent_backend.episode.state import EpisodeStateTracker
from agent_backend.episode.takeover import GestureRecorder, build_gesture
from agent_backend.episode.undo import UndoControl, shows_another_state
from agent_backend.errors import CommandRejected
from agent_backend.interfaces import EpisodeStore, Intent
from protocol.actions.inputs import MAX_TEXT
from protocol.actions.types import CONTROL_KINDS, Action, CallTool, NoAction, RunCode, RunCommand
from protocol.blobs import BlobRef
from protocol.messages.events import TakeoverInput
from protocol.trajectory.observations import ActionError, BrowserPage, Observation
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import Step
from vm_bridge.errors import BridgeError
from vm_bridge.machine import Machine


@dataclass(frozen=True, slots=True)
class ExecutorLimits:
    """Bounds: seconds for which an unreachable bridge is retried, pictures kept in the cache, seconds without input
    that close a gesture, seconds of silence after which held keys are released, takeover inputs remembered for resends,
    seconds between two polls of a page that changes by itself."""

    reach: float = 20.0
    pictures: int = 16
    gesture_pause: float = 0.8
    hold_silence: float = 1.0
    inputs: int = 2_048
    poll: float = 1.0


class ActionExecutor:
    """Executes actions and takeover gestures. `on_step` is called with the new steps and the frame after them, while
    the latest step is still being stored. `may_follow` says whether the next action of a reply may be done on a
    screen."""

    def __init__(
        self,
        record: EpisodeStateTracker,
        store: EpisodeStore,
        limits: ExecutorLimits,
        settles: SettleControl,
        on_step: Callable[[tuple[Step, ...], Observation], None],
        may_follow: Callable[[Action, Observation], bool],
    ) -> None:
        self._record = record
        self._store = store
        self._limits = limits
        self._settles = settles
        self._on_step = on_step
        self._may_follow = may_follow
        self.pictures = PictureCache(store, max_entries=limits.pictures)
        self._undo = UndoControl(record, store, self.pictures, settles)
        self.session: MachineSession | None = None
        self.running: Intent | None = None
        """The intent that is being executed."""
        self.thought = ""
        """The person's message at the takeover."""
        self._gesture: GestureRecorder | None = None
        self._inputs: OrderedDict[str, str] = OrderedDict()
        self._polled_at = 0.0

    def open_session(self, machine: Machine) -> MachineSession:
        """Open a session with a machine."""
        self.session = MachineSession(machine, self.pictures, within=self._limits.reach)
        return self.session

    @property
    def active_session(self) -> MachineSession:
        """The session of a running episode."""
        assert self.session is not None, "the episode is running, so its machine is there"
        return self.session

    def intent(self, **said: Any) -> Intent:
        """The intent of the next step; a person acts unless another actor is given."""
        values: dict[str, Any] = {"actor": "human", "proposal_id": None, **said}
        return Intent(index=len(self._record.state.steps), started_at=datetime.now(UTC), **values)

    async def begin(self, intent: Intent, digest: str) -> None:
        """Store an intent; a person's own action ends the autopilot."""
        await self._record.write(self._store.begin_act(intent, digest))
        if self._record.state.autopilot and intent.actor == "human":
            await self._record.change(autopilot=False)

    async def act(self, intent: Intent, *, settle: bool, expected: BlobRef | None = None) -> Intent | None:
        """Execute the intent and store its result. It waits for timers of programs if the next action follows at once,
        or if the prepared answer comes from a twin that waited for them.

        Returns the stored intent of the next action of the same reply, if there is one.
        """
        if intent.action.kind not in CONTROL_KINDS:
            await self._settles.end(self.active_session)
        self.running = intent
        result = await self.active_session.act(
            intent.command_id,
            intent.action,
            self._record.last_observation,
            settle=settle,
            snapshot=True,
            expected=expected,
            wait_for_timers=self._record.state.autopilot or expected is not None or bool(intent.further_actions),
        )
        self.running = None
        return await self.write(intent, await self._release_after_failure(intent, result))

    async def store_invalid_reply(self, said: Proposal, error: ActionError) -> None:
        """Store a step without effect for a reply that was not an action."""
        intent = self.intent(
            command_id=f"auto-{said.id}",
            actor="policy",
            decision="auto",
            proposal_id=said.id,
            thought=said.thought,
            action=NoAction(said=said.raw_text[:MAX_TEXT]),
        )
        await self._record.write(self._store.begin_act(intent, said.id))
        last_observation = self._record.last_observation
        await self.write(
            intent, ActionResult(last_observation, last_observation, intent.started_at, datetime.now(UTC), error)
        )

    def only_settles(self, command_id: str) -> bool:
        """Whether a queued action of this id waits only for the running action's settle, which may then be cut short. A
        running program is not cut short."""
        running = self.running
        if running is None:
            return True
        return command_id != running.command_id and not isinstance(running.action, RunCommand | RunCode | CallTool)

    async def complete(self, intent: Intent) -> Intent | None:
        """Store the result of an intent that a crash left open. Returns the next intent, as `act` does."""
        result = await self.active_session.complete(intent, self._record.last_observation)
        return await self.write(intent, await self._release_after_failure(intent, result))

    async def release_held_inputs(self, name: str) -> bool:
        """Release the keys and buttons that earlier actions hold down. Returns whether there were any.

        Args:
            name: Makes the release idempotent: with the same name it is done once.
        """
        releases = held_after(self._record.state.steps).releases
        if not releases or self.session is None:
            return False
        await self.session.act(f"{name}-release", build_gesture(releases), self._record.last_observation, settle=False)
        return True

    async def _release_after_failure(self, intent: Intent, result: ActionResult) -> ActionResult:
        """Release held inputs after a failed action, because the planned actions will not follow. Returns the same
        result; its message then mentions the release."""
        if result.error is None or result.after is None or not await self.release_held_inputs(intent.command_id):
            return result
        message = f"{result.error.message} (the keys and buttons that were held were let go)"
        return replace(result, error=result.error.model_copy(update={"message": message}))

    async def give_up(self, intent: Intent, why: str) -> None:
        """Store that the outcome of an intent stays unknown because its machine is lost."""
        await self.write(
            intent, unknown_result(self._record.last_observation, intent.started_at, why, machine_lost=True)
        )

    async def write(self, intent: Intent, result: ActionResult, *, begun: Intent | None = None) -> Intent | None:
        """Store a step and its pictures. Returns the intent of the next action of the same reply, stored with it.

        Args:
            begun: The intent as it was stored before the action, if it has grown since.
        """
        state = self._record.state
        step = build_step(intent, result, state.proposals, state.policy)
        if state.thought_required and step.actor == "human" and not step.thought.strip():
            step = step.model_copy(update={"thought_timing": "owed"})
        done = (begun or intent).model_copy(update={"snapshot": result.snapshot}) if result.snapshot else None
        following = self._next_intent(intent, step)
        if following is None and intent.further_actions:
            step = step.model_copy(update={"not_done": intent.further_actions})
        if result.after is not None and following is None:
            self._on_step((*state.steps, step), result.after)
        blobs = self.pictures.unsaved(result.before, result.after)
        append = partial(self._store.append_step, done=done, blobs=blobs)
        try:
            await self._record.write(append(step, following))
        except CommandRejected:  # its pool was stopped: store the step alone, nothing follows
            if following is None:
                raise
            following, step = None, step.model_copy(update={"not_done": intent.further_actions})
            await self._record.write(append(step))
        self.pictures.mark_saved(blobs)
        if following is not None:
            return following
        await self._undo.note_step(step, done, self.session)
        if result.machine_lost:
            await self.fail(result.machine_lost)
        elif result.after is None:
            await self.observe_settled()
        elif result.timer_pending:
            self._settles.go_on(self.active_session)
        return None

    def _next_intent(self, intent: Intent, step: Step) -> Intent | None:
        """The intent of the next action of the same reply, if it may be done."""
        further = intent.further_actions
        if not further or step.after is None or not self._may_follow(further[0], step.after):
            return None
        if not may_continue(self._record.state, step, further[0]):
            return None
        return next_intent(intent)

    async def undo(self, step: Step) -> None:
        """Undo a step: the machine returns to its state before the step. Raises CommandRejected if it cannot; then
        nothing was changed."""
        await self._undo.take_back(step, self.active_session)

    async def refresh_undo(self) -> None:
        """Update whether the last step can be undone."""
        await self._undo.refresh(self.active_session)

    async def observe_settled(self) -> None:
        """Take the current screen as the one to act on."""
        try:
            observation = await self.active_session.observe_settled()
        except BridgeError as error:
            return await self.fail(str(error))
        await self._set_observation(observation)

    async def take_redraw(self) -> Observation | None:
        """The screen after the timers that the last action did not wait for, with its pictures stored. None if it is
        unchanged."""
        before = self._record.last_observation
        try:
            observation = self._settles.take()
        except BridgeError as error:
            if self._record.state.status != "failed":  # another caller may have noticed the loss before
                await self.fail(str(error))
            return None
        if observation.screenshot == before.screenshot:
            return None
        await self.pictures.save(observation)
        return observation.model_copy(update={"text": before.text, "attachment": before.attachment})

    async def set_time_scale(self, rate: float) -> None:
        """Set the machine's time scale and observe. Raises CommandRejected if it cannot."""
        try:
            await self.active_session.set_time_scale(rate)
            await self._set_observation(await self.active_session.poll())
        except BridgeError as error:
            raise CommandRejected(error.code, str(error)) from error
        self._polled_at = asyncio.get_running_loop().time()

    @property
    def poll_at(self) -> float | None:
        """The next poll of a page whose time advances by itself (loop time)."""
        page = self._record.last_observation.page if self._record.state.observation else None
        is_running = page is not None and page.pace > 0 and not page.over
        is_idle = self._record.state.status == "running" and self._gesture is None
        return self._polled_at + self._limits.poll if is_running and is_idle else None

    async def poll(self) -> None:
        """Publish the current state of a page whose time advances by itself. Its picture is streamed live anyway."""
        self._polled_at = asyncio.get_running_loop().time()
        try:
            observation = await self.active_session.poll()
        except BridgeError as error:
            return await self.fail(str(error))
        if _without_time(observation.page) != _without_time(self._record.last_observation.page):
            await self._set_observation(observation)

    async def _set_observation(self, observation: Observation) -> None:
        """Take an observation as the one to act on, if it shows something else."""
        if shows_another_state(observation, self._record.last_observation):
            await self.pictures.save(observation)
            await self._record.change(observation=observation)

    async def fail(self, why: str) -> None:
        """Mark the machine as lost; all stored steps stay."""
        await self._record.change(status="failed", error=why, autopilot=False, takeover=False)

    def input_digest(self, command_id: str) -> str | None:
        """The digest of a takeover input that was accepted before."""
        return self._inputs.get(command_id)

    def record_input(self, command_id: str, digest: str) -> None:
        """Remember a takeover input to recognise resends. It is not stored: a takeover does not outlive its runner."""
        self._inputs[command_id] = digest
        while len(self._inputs) > self._limits.inputs:
            self._inputs.popitem(last=False)

    def discard_input(self, command_id: str) -> None:
        """Forget an input that was refused after all."""
        self._inputs.pop(command_id, None)

    async def input(self, commands: Sequence[TakeoverInput], digest: str) -> None:
        """Perform all inputs since the last call as one batch. A gesture's first inputs are its stored intent.

        `digest` belongs to the first command. Raises CommandRejected if its intent cannot be stored.
        """
        loop = asyncio.get_running_loop()
        first = commands[0].command_id
        events = [event for command in commands for event in command.inputs]
        if not events:
            if self._gesture is not None:
                self._gesture.last_message = loop.time()
            return
        if self._gesture is None:
            said = {"decision": "takeover", "thought": self.thought, "action": build_gesture(events)}
            intent = self.intent(command_id=first, **said)
            await self.begin(intent, digest)
            await self._settles.end(self.active_session)
            self._gesture = GestureRecorder(intent, loop.time())
        else:
            await self._store.check_fence()
        is_first = self._gesture.result is None
        await self._gesture.perform(
            self.active_session, f"{first}-inputs", events, self._record.last_observation, loop.time()
        )
        if is_first and self._gesture.result is not None:
            # The frames of a long takeover would evict this one before its step is written.
            await self.pictures.save(self._gesture.result.before)
        if self._gesture.is_full or self._gesture.machine_lost:
            await self.close_gesture()

    @property
    def gesture_ends_at(self) -> float | None:
        """When the open gesture closes by itself (loop time): after a pause with nothing held and a known thought."""
        gesture = self._gesture
        if gesture is None or gesture.releases:
            return None
        if is_thought_missing(self._record.state, gesture.intent.thought):
            return None
        return gesture.last + self._limits.gesture_pause

    @property
    def due_times(self) -> tuple[float | None, ...]:
        """Due times of work that no command asks for (loop time)."""
        return self.releases_at, self.gesture_ends_at, self.poll_at

    @property
    def releases_at(self) -> float | None:
        """When held inputs of a takeover are released (loop time): after a silence, for example if the page is closed
        or frozen."""
        gesture = self._gesture
        return gesture.last_message + self._limits.hold_silence if gesture is not None and gesture.releases else None

    async def release_gesture(self) -> None:
        """Release the inputs that a takeover holds; the gesture stays open."""
        gesture = self._gesture
        assert gesture is not None, "something is held"
        await self._store.check_fence()
        now = asyncio.get_running_loop().time()
        await gesture.release(self.active_session, self._record.last_observation, now)
        if gesture.machine_lost:
            await self.close_gesture()

    async def pass_control(self) -> None:
        """Store one person's manual input as a step, before another person continues the same takeover."""
        await self.close_gesture()
        self.thought = ""

    async def close_gesture(self, thought: str = "") -> None:
        """Store the open gesture as one step, if there is one."""
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            result = await gesture.close(
                self.active_session, self._record.last_observation, asyncio.get_running_loop().time()
            )
            await self.write(gesture.completed_intent(thought), result, begun=gesture.intent)


def _without_time(page: BrowserPage | None) -> BrowserPage | None:
    """A page without its time: the part whose changes are worth publishing."""
    return page and page.model_copy(update={"time_ms": 0.0})
