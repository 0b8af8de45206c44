"""Everything that is done to an episode's machine, each from its stored intent to its stored step."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from agent_backend.deeds import Deed, deed_unknown, step_of
from agent_backend.errors import CommandRefused
from agent_backend.gesture import OpenGesture, gesture_of
from agent_backend.hand import Hand, Pictures
from agent_backend.held_inputs import held_after
from agent_backend.ports import EpisodeStore, Intent
from agent_backend.record import Record
from vm_bridge.errors import BridgeError
from vm_bridge.machine import Machine
from vocabulary.actions import CONTROL_KINDS, NoAction
from vocabulary.inputs import MAX_TEXT
from vocabulary.messages import TakeoverInput
from vocabulary.observations import ActionError, BrowserPage, Observation
from vocabulary.proposals import Proposal
from vocabulary.steps import Step


@dataclass(frozen=True, slots=True)
class ActingLimits:
    """Bounds: seconds an unreachable bridge is tried, pictures kept at hand, seconds without input that close a
    gesture, takeover inputs remembered for resends, seconds between two glances at a page that goes on by itself."""

    reach: float = 20.0
    pictures: int = 16
    gesture_pause: float = 0.8
    inputs: int = 2_048
    glance: float = 1.0


class Acting:
    """Acts and takeover gestures. `ahead` is called with the steps to be and the frame after them while the
    latest is still being stored."""

    def __init__(
        self,
        record: Record,
        store: EpisodeStore,
        limits: ActingLimits,
        ahead: Callable[[tuple[Step, ...], Observation], None],
    ) -> None:
        self._record = record
        self._store = store
        self._limits = limits
        self._ahead = ahead
        self.pictures = Pictures(store, kept=limits.pictures)
        self.hand: Hand | None = None
        self.running: Intent | None = None
        """What is being done now."""
        self.thought = ""
        """What the person said when they took over."""
        self._gesture: OpenGesture | None = None
        self._inputs: OrderedDict[str, str] = OrderedDict()
        self._glanced = 0.0

    def take(self, machine: Machine) -> Hand:
        """Lay hand on a machine."""
        self.hand = Hand(machine, self.pictures, within=self._limits.reach)
        return self.hand

    @property
    def held(self) -> Hand:
        """The hand of a running episode."""
        assert self.hand is not None, "the episode is running, so its machine is there"
        return self.hand

    def intent(self, **said: Any) -> Intent:
        """What is to be done as the next step; by a person unless said otherwise."""
        given: dict[str, Any] = {"actor": "human", "proposal_id": None, **said}
        return Intent(index=len(self._record.state.steps), started_at=datetime.now(UTC), **given)

    async def begin(self, intent: Intent, digest: str) -> None:
        """Store an intent, with the way back to before it where there is one; a person's own act ends the autopilot."""
        intent = intent.model_copy(update={"snapshot": await self.held.snapshot()})
        await self._record.write(self._store.begin_act(intent, digest))
        if self._record.state.autopilot and intent.actor == "human":
            await self._record.change(autopilot=False)

    async def act(self, intent: Intent, *, settle: bool) -> None:
        """Do what was intended, and store what came of it."""
        self.running = intent
        deed = await self.held.act(intent.command_id, intent.action, self._record.seen, settle=settle)
        self.running = None
        await self.write(intent, await self._release_after_failure(intent, deed))

    async def lapse(self, said: Proposal, error: ActionError) -> None:
        """Store a step in which nothing was done, since what the policy said was no action."""
        intent = self.intent(
            command_id=f"auto-{said.id}",
            actor="policy",
            decision="auto",
            proposal_id=said.id,
            thought=said.thought,
            action=NoAction(said=said.raw_text[:MAX_TEXT]),
        )
        await self._record.write(self._store.begin_act(intent, said.id))
        seen = self._record.seen
        await self.write(intent, Deed(seen, seen, intent.started_at, datetime.now(UTC), error))

    async def complete(self, intent: Intent) -> None:
        """Store what came of an intent that a crash left open."""
        deed = await self.held.complete(intent, self._record.seen)
        await self.write(intent, await self._release_after_failure(intent, deed))

    async def release_held_inputs(self, name: str) -> bool:
        """Release the keys and buttons that earlier acts hold down. Returns whether there were any.

        Args:
            name: Makes the release idempotent: with the same name it is done once.
        """
        releases = held_after(self._record.state.steps).releases
        if not releases or self.hand is None:
            return False
        await self.hand.act(f"{name}-release", gesture_of(releases), self._record.seen, settle=False)
        return True

    async def _release_after_failure(self, intent: Intent, deed: Deed) -> Deed:
        """Release what is held where the act failed, since the acts that were to follow will not come. Returns the same
        result, whose message then says so."""
        if deed.error is None or deed.after is None or not await self.release_held_inputs(intent.command_id):
            return deed
        message = f"{deed.error.message} (the keys and buttons that were held were let go)"
        return replace(deed, error=deed.error.model_copy(update={"message": message}))

    async def give_up(self, intent: Intent, why: str) -> None:
        """Store that nobody will ever know what came of an intent: its machine is lost."""
        await self.write(intent, deed_unknown(self._record.seen, intent.started_at, why, lost=True))

    async def write(self, intent: Intent, deed: Deed) -> None:
        """Store a step and its pictures."""
        state = self._record.state
        step = step_of(intent, deed, state.proposals, state.policy)
        if deed.after is not None:
            self._ahead((*state.steps, step), deed.after)
        await self.pictures.save(deed.before)
        await self.pictures.save(deed.after)
        await self._record.write(self._store.append_step(step))
        if deed.lost:
            await self.fail(deed.lost)
        elif deed.after is None:
            await self.look()

    async def undo(self, step: Step) -> None:
        """Take a step back: the machine goes to where it was before it. Raises CommandRefused where it cannot, and
        nothing was changed."""
        seen = self._record.seen if step.action.kind in CONTROL_KINDS else await self._before(step)
        await self.pictures.save(seen)
        await self._record.write(self._store.undo_step(step.index, seen))
        if self._record.state.autopilot:
            await self._record.change(autopilot=False)

    async def _before(self, step: Step) -> Observation:
        intent = await self._store.past_intent(step.command_id)
        if intent is None or intent.snapshot is None:
            raise CommandRefused("cannot_undo", "the machine did not remember how it was before this step")
        try:
            return await self.held.restore(intent.snapshot)
        except BridgeError as error:
            raise CommandRefused(error.code, str(error)) from error

    async def look(self) -> None:
        """Take the screen of this moment as the one to act on."""
        try:
            observation = await self.held.look()
        except BridgeError as error:
            return await self.fail(str(error))
        await self._show(observation)

    async def set_time_scale(self, rate: float) -> None:
        """Let the machine's own time go at this pace, and look. Raises CommandRefused where it cannot."""
        try:
            await self.held.set_time_scale(rate)
            await self._show(await self.held.glance())
        except BridgeError as error:
            raise CommandRefused(error.code, str(error)) from error
        self._glanced = asyncio.get_running_loop().time()

    @property
    def glance_at(self) -> float | None:
        """When a page whose time goes on by itself is looked at next (loop time)."""
        page = self._record.seen.page if self._record.state.observation else None
        going = page is not None and page.pace > 0 and not page.over
        rests = self._record.state.status == "running" and self._gesture is None
        return self._glanced + self._limits.glance if going and rests else None

    async def glance(self) -> None:
        """Tell where a page whose time goes on stands now; its picture is seen live anyway."""
        self._glanced = asyncio.get_running_loop().time()
        try:
            observation = await self.held.glance()
        except BridgeError as error:
            return await self.fail(str(error))
        if _told(observation.page) != _told(self._record.seen.page):
            await self._show(observation)

    async def _show(self, observation: Observation) -> None:
        """Take an observation as the one to act on, where it shows something else."""
        seen = self._record.seen
        if (observation.screenshot, observation.text, observation.page) != (seen.screenshot, seen.text, seen.page):
            await self.pictures.save(observation)
            await self._record.change(observation=observation)

    async def fail(self, why: str) -> None:
        """The machine is lost; all that was done stays."""
        await self._record.change(status="failed", error=why, autopilot=False, takeover=False)

    def input_digest(self, command_id: str) -> str | None:
        """The digest of a takeover's input taken before."""
        return self._inputs.get(command_id)

    def remember_input(self, command_id: str, digest: str) -> None:
        """Know a takeover's input again. Not stored: a takeover does not outlive its runner."""
        self._inputs[command_id] = digest
        while len(self._inputs) > self._limits.inputs:
            self._inputs.popitem(last=False)

    def forget_input(self, command_id: str) -> None:
        """Not know an input any more that was refused after all."""
        self._inputs.pop(command_id, None)

    async def input(self, commands: Sequence[TakeoverInput], digest: str) -> None:
        """Do what came since the last time in one go; a gesture's first inputs are its stored intent.

        `digest` is the first command's. Raises CommandRefused when its intent cannot be stored.
        """
        loop = asyncio.get_running_loop()
        first = commands[0].command_id
        events = [event for command in commands for event in command.inputs]
        if self._gesture is None:
            said = {"decision": "takeover", "thought": self.thought, "action": gesture_of(events)}
            intent = self.intent(command_id=first, **said)
            await self.begin(intent, digest)
            self._gesture = OpenGesture(intent, loop.time())
        else:
            await self._store.admit()
        begins = self._gesture.deed is None
        await self._gesture.perform(self.held, f"{first}-inputs", events, self._record.seen, loop.time())
        if begins and self._gesture.deed is not None:
            # The frames of a long takeover would push this one out before its step is written.
            await self.pictures.save(self._gesture.deed.before)
        if self._gesture.full or self._gesture.lost:
            await self.close_gesture()

    @property
    def rests_at(self) -> float | None:
        """When the open gesture ends by itself (loop time): after a pause with nothing held and its thought known."""
        gesture = self._gesture
        if gesture is None or gesture.held:
            return None
        if self._record.state.thought_required and not gesture.intent.thought.strip():
            return None
        return gesture.last + self._limits.gesture_pause

    async def close_gesture(self, thought: str = "") -> None:
        """Make one step of the open gesture, if there is one."""
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            deed = await gesture.close(self.held, self._record.seen, asyncio.get_running_loop().time())
            await self.write(gesture.whole(thought), deed)


def _told(page: BrowserPage | None) -> BrowserPage | None:
    """What is worth telling of a page that goes on: all but its time."""
    return page and page.model_copy(update={"time_ms": 0.0})
