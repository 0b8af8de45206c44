"""The loop of one episode: commands in, acts on the machine, steps into the store, proposals out.

One task does everything that changes anything, one thing after another. What takes long and changes nothing
durable, warming a machine and asking the policy, runs beside it; its results wait until the loop takes them.
So a step is stored while the policy already reads the new screen, and its proposals can only be stored after it.
"""

import asyncio
import contextlib
import hashlib
import json
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from agent_backend.deeds import Deed, deed_unknown, step_of
from agent_backend.errors import CommandRefused, PolicyError
from agent_backend.gesture import OpenGesture, gesture_of
from agent_backend.hand import Hand, Pictures, reach
from agent_backend.ports import Emit, EpisodeCommand, EpisodeStore, Intent, Policy
from agent_backend.refusals import check, check_possible, offered
from agent_backend.thinking import Patience, Question, Thinking
from vm_bridge.errors import BridgeError
from vm_bridge.machine import Machine
from vocabulary.actions import CONTROL_KINDS, CallUser, Finish
from vocabulary.messages import (
    Accept,
    Acknowledged,
    Act,
    Autopilot,
    CallForHelp,
    DurableEvent,
    EpisodeState,
    FinishEpisode,
    Hurry,
    LeaveEpisode,
    MarkProposal,
    Partial,
    Pause,
    ProposalsThinking,
    Rejected,
    Resample,
    Takeover,
    TakeoverInput,
)
from vocabulary.observations import Observation
from vocabulary.proposals import Proposal
from vocabulary.state import state_apply, state_think
from vocabulary.steps import Step
from vocabulary.trajectories import Outcome

OpenMachine = Callable[[EpisodeState], Awaitable[Machine]]
"""Leases a machine for an episode that is warming, or finds the one it had. Raises BridgeError."""

CurrentPolicy = Callable[[], Policy | None]
"""The policy of this moment; None where nobody proposes. Asked at every decision point."""

LEFT_AS: dict[str, Outcome | None] = {"skip": "skipped", "broken": "broken", "release": None}


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one runner: commands that may wait, seconds without input that close a gesture, seconds an
    unreachable bridge is tried, pictures kept at hand, takeover inputs remembered for resends."""

    inbox: int = 32
    gesture_pause: float = 0.8
    reach: float = 20.0
    pictures: int = 16
    inputs: int = 256
    patience: Patience = field(default_factory=Patience)


def digest_of(command: EpisodeCommand) -> str:
    """What a resend must equal: the sha256 of a command's whole body."""
    body = json.dumps(command.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(body.encode()).hexdigest()


def refusal(command: EpisodeCommand, code: str, message: str) -> Rejected:
    """The answer to a command that changed nothing."""
    return Rejected(command_id=command.command_id, code=code, message=message)


class EpisodeRunner:
    """Applies commands to one machine in the order they arrive, and asks for proposals in between.

    `run` ends when the episode does or after `stop`; it raises what the store raises, since a machine must not
    run ahead of its record. A new runner over the same store then goes on where this one stopped.
    """

    state: EpisodeState
    """The episode as this runner knows it, `thinking` included; there from the first moment of `run`."""

    def __init__(
        self,
        store: EpisodeStore,
        open_machine: OpenMachine,
        current_policy: CurrentPolicy,
        emit: Emit,
        limits: Limits = Limits(),
    ) -> None:
        self._store = store
        self._open_machine = open_machine
        self._current_policy = current_policy
        self._emit = emit
        self._limits = limits
        self._inbox: deque[tuple[EpisodeCommand, Emit]] = deque()
        self._stirred = asyncio.Event()
        self._stopping = False
        self._pictures = Pictures(store, kept=limits.pictures)
        self._hand: Hand | None = None
        self._warming: asyncio.Task[Observation] | None = None
        self._hurrying: asyncio.Task[None] | None = None
        self._thinking = Thinking(self._stirred.set, self._pictures.read, self._hear, limits.patience)
        self._gesture: OpenGesture | None = None
        self._takeover_thought = ""
        self._inputs: OrderedDict[str, str] = OrderedDict()
        self._acting: str | None = None
        self._offered_at: float | None = None
        self._duties: tuple[tuple[Callable[[], bool], Callable[[], Awaitable[None]]], ...] = (
            (self._is_warm, self._begin),
            (self._policy_moved, self._drop_offers),
            (lambda: bool(self._inbox), self._take_command),
            (self._gesture_rests, self._close_gesture),
            (lambda: self._thinking.answered, self._take_answer),
            (lambda: self.state.autopilot and bool(self.state.proposals), self._steer),
            (self._may_ask, self._ask),
        )
        """What may be waiting, most urgent first, and who sees to it."""

    async def submit(self, command: EpisodeCommand, reply: Emit) -> None:
        """Queue a command; its fate (`acknowledged` or `rejected`) is told to `reply`. Never waits for an act."""
        if self._stopping:
            await reply(refusal(command, "not_running", "this episode is closing"))
        elif isinstance(command, Hurry):
            self._hurry()
            await reply(Acknowledged(command_id=command.command_id))
        elif len(self._inbox) >= self._limits.inbox:
            await reply(refusal(command, "queue_full", "too many commands are waiting"))
        else:
            self._inbox.append((command, reply))
            if isinstance(command, Act) and command.command_id != self._acting:
                self._hurry()
            self._stirred.set()

    def wake(self) -> None:
        """Look again: the current policy may have changed."""
        self._stirred.set()

    def stop(self) -> None:
        """End after what is being done now; the episode stays as it is."""
        self._stopping = True
        self._stirred.set()

    async def run(self) -> None:
        """Drive the episode until it ends or `stop`."""
        try:
            await self._resume()
            while not self._stopping and self.state.status not in ("finished", "left"):
                await self._turn()
            await self._close_gesture()
        finally:
            await self._put_down()

    async def _turn(self) -> None:
        """See to the most urgent thing, or wait until something stirs."""
        self._stirred.clear()
        for waiting, see_to in self._duties:
            if waiting():
                return await see_to()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._next_look()):
                await self._stirred.wait()

    def _next_look(self) -> float | None:
        """When time alone will bring something to do (loop time)."""
        looks = [self._thinking.again_at] if self._wants_proposals() else []
        if self._gesture is not None and self._may_close():
            looks.append(self._gesture.last + self._limits.gesture_pause)
        return min((look for look in looks if look is not None), default=None)

    async def _put_down(self) -> None:
        """Let go of everything that is not durable."""
        self._stopping = True
        await self._thinking.close()
        beside = [task for task in (self._warming, self._hurrying) if task is not None]
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        if self._hand is not None:
            await self._hand.close()
        while self._inbox:
            command, reply = self._inbox.popleft()
            await reply(refusal(command, "not_running", "this episode is closing"))

    # --- commands

    async def _take_command(self) -> None:
        command, reply = self._inbox.popleft()
        acknowledged = Acknowledged(command_id=command.command_id)
        try:
            if await self._taken_before(command):
                return await reply(acknowledged)
            check(self.state, command)
        except CommandRefused as error:
            return await reply(refusal(command, error.code, str(error)))
        match command:
            case Act() | Accept():
                intent = self._intent_of(command)
                await self._begin_act(intent, digest_of(command))
                await reply(acknowledged)
                await self._act(intent)
            case TakeoverInput():
                await self._input(command)
                await reply(acknowledged)
            case _:
                note = await self._apply_command(command)
                await self._store.record_command(command.command_id, digest_of(command), note)
                await reply(acknowledged)

    async def _taken_before(self, command: EpisodeCommand) -> bool:
        """Raises CommandRefused when another body came under the same id."""
        digest = self._inputs.get(command.command_id)
        if digest is None:
            record = await self._store.find_command(command.command_id)
            digest = record.digest if record else None
        if digest not in (None, digest_of(command)):
            raise CommandRefused("command_conflict", "this command_id came before with another body")
        return digest is not None

    async def _apply_command(self, command: EpisodeCommand) -> str:
        """Carry out a command that is no act. Returns what the person said with it."""
        match command:
            case FinishEpisode():
                await self._finish(command.outcome, command.answer)
                return command.reason
            case LeaveEpisode():
                await self._close_gesture()
                await self._end(status="left", outcome=LEFT_AS[command.how])
                return command.reason
            case CallForHelp():
                await self._change(help_requested=True)
                return command.message
            case Takeover():
                await self._take_over(command)
                return command.thought
            case MarkProposal():
                self._apply(await self._store.mark_proposal(command.proposal_id, command.mark))
            case Resample():
                await self._drop_offers("resampled")
            case Pause():
                self._thinking.drop()
                await self._change(status="paused" if command.on else "running", autopilot=False)
            case Autopilot():
                await self._change(autopilot=command.on)
        return ""

    # --- the machine: warming, resuming, losing it

    async def _resume(self) -> None:
        """Take up the episode where the store has it."""
        self.state = await self._store.load()
        if self.state.status == "warming":
            self._warming = asyncio.create_task(self._warm())
            self._warming.add_done_callback(lambda _: self._stirred.set())
        elif self.state.status in ("running", "paused"):
            await self._return()

    async def _open(self) -> Hand:
        machine = await reach(lambda: self._open_machine(self.state), within=self._limits.reach)
        self._hand = Hand(machine, self._pictures, within=self._limits.reach)
        return self._hand

    async def _warm(self) -> Observation:
        hand = await self._open()
        return await hand.prepare(self.state.task)

    def _is_warm(self) -> bool:
        return self._warming is not None and self._warming.done()

    async def _begin(self) -> None:
        """The machine stands ready, or never will."""
        assert self._warming is not None
        warming, self._warming = self._warming, None
        try:
            observation = warming.result()
        except BridgeError as error:
            return await self._fail(str(error))
        await self._pictures.save(observation)
        await self._change(status="running", observation=observation, capabilities=self._held.kinds)

    async def _return(self) -> None:
        """Find the machine again, complete what a crash left open, and look."""
        intent = await self._store.pending_intent()
        try:
            hand = await self._open()
            deed = await hand.complete(intent, self._seen) if intent else None
        except BridgeError as error:
            if intent is None:
                return await self._fail(str(error))
            deed = deed_unknown(self._seen, intent.started_at, str(error), lost=True)
        if self.state.autopilot or self.state.takeover:
            await self._change(autopilot=False, takeover=False)  # nobody may be watching
        if intent is not None and deed is not None:
            await self._write(intent, deed)
        else:
            await self._look()
        if self.state.status == "running" and self.state.steps:
            await self._follow(self.state.steps[-1])

    async def _look(self) -> None:
        """Take the screen of this moment as the one to act on."""
        try:
            observation = await self._held.look()
        except BridgeError as error:
            return await self._fail(str(error))
        if observation.screenshot != self._seen.screenshot:
            await self._pictures.save(observation)
            await self._change(observation=observation)

    async def _fail(self, why: str) -> None:
        self._thinking.drop()
        await self._change(status="failed", error=why, autopilot=False, takeover=False)

    def _hurry(self) -> None:
        if self._hand is not None and (self._hurrying is None or self._hurrying.done()):
            self._hurrying = asyncio.create_task(self._hand.hurry())

    # --- acts

    def _intent_of(self, command: Act | Accept) -> Intent:
        if isinstance(command, Act):
            known = command.proposal_id in {proposal.id for proposal in self.state.proposals}
            return self._intent(
                command_id=command.command_id,
                decision="override",
                proposal_id=command.proposal_id if known else None,
                thought=command.thought,
                action=command.action,
            )
        proposal = offered(self.state, command.proposal_id)
        thought = proposal.thought if command.thought is None else command.thought
        return self._intent(
            command_id=command.command_id,
            decision="accept" if thought == proposal.thought else "edit",
            proposal_id=proposal.id,
            thought=thought,
            action=proposal.action,
        )

    def _intent(self, **said: Any) -> Intent:
        decided = None if self._offered_at is None else (asyncio.get_running_loop().time() - self._offered_at) * 1000
        given: dict[str, Any] = {"actor": "human", "proposal_id": None, "decide_ms": decided, **said}
        return Intent(index=len(self.state.steps), started_at=datetime.now(UTC), **given)

    async def _begin_act(self, intent: Intent, digest: str) -> None:
        """Store an intent; a person's own act ends the autopilot."""
        self._thinking.drop()
        if self.state.autopilot and intent.actor == "human":
            await self._change(autopilot=False)
        self._apply(await self._store.begin_act(intent, digest))

    async def _act(self, intent: Intent) -> None:
        """Do what was intended, and store what came of it. Who waits to act next gets no settle in between."""
        self._acting = intent.command_id
        settle = not self._act_waits()
        deed = await self._held.act(intent.command_id, intent.action, self._seen, settle=settle)
        self._acting = None
        await self._write(intent, deed)
        if self.state.status == "running":
            await self._follow(self.state.steps[-1])

    def _act_waits(self) -> bool:
        return any(isinstance(command, Act) for command, _ in self._inbox)

    async def _write(self, intent: Intent, deed: Deed) -> None:
        """Store a step, while the policy already reads the screen after it."""
        step = step_of(intent, deed, self.state.proposals, self.state.policy)
        self._thinking.renew()
        goes_on = not self._inbox and not self.state.takeover and not isinstance(step.action, Finish)
        if deed.after is not None and goes_on and self.state.status == "running":
            self._think((*self.state.steps, step), deed.after)
        await self._pictures.save(deed.before)
        await self._pictures.save(deed.after)
        self._apply(await self._store.append_step(step))
        self._offered_at = None
        if deed.lost:
            await self._fail(deed.lost)
        elif deed.after is None:
            await self._look()
        if self._thinking.active:
            await self._tell("waiting")

    async def _follow(self, step: Step) -> None:
        """Some actions speak to the runner; done once, however often it is called."""
        if isinstance(step.action, Finish):
            await self._finish("success", step.action.answer)
        elif isinstance(step.action, CallUser) and not self.state.help_requested:
            await self._change(help_requested=True)

    async def _finish(self, outcome: Outcome, answer: str) -> None:
        """End with the annotator's outcome, and the verifier's beside it."""
        self._thinking.drop()
        verdict = await self._held.judge(answer)
        await self._end(status="finished", outcome=outcome, answer=answer, verdict=verdict)

    async def _end(self, **fields: object) -> None:
        self._thinking.drop()
        await self._change(**fields, autopilot=False, takeover=False, finished_at=datetime.now(UTC))

    # --- takeover

    async def _take_over(self, command: Takeover) -> None:
        """Begin, or end with what was done as one step."""
        self._thinking.drop()
        if not command.on:
            await self._close_gesture(command.thought)
        self._takeover_thought = command.thought if command.on else ""
        await self._change(takeover=command.on, autopilot=False)

    async def _input(self, command: TakeoverInput) -> None:
        """Do primitive inputs at once; the first of a gesture is its stored intent."""
        loop = asyncio.get_running_loop()
        if self._gesture is None:
            intent = self._intent(
                command_id=command.command_id,
                decision="takeover",
                thought=self._takeover_thought,
                action=gesture_of(command.inputs),
            )
            await self._begin_act(intent, digest_of(command))
            self._gesture = OpenGesture(intent, loop.time())
        self._inputs[command.command_id] = digest_of(command)
        while len(self._inputs) > self._limits.inputs:
            self._inputs.popitem(last=False)
        for number, event in enumerate(command.inputs):
            if not self._gesture.lost:
                await self._gesture.perform(
                    self._held, f"{command.command_id}-{number}", event, self._seen, loop.time()
                )
        if self._gesture.full or self._gesture.lost:
            await self._close_gesture()

    def _may_close(self) -> bool:
        """Whether a pause may end the gesture: nothing is held, and its thought is known."""
        gesture = self._gesture
        if gesture is None or gesture.held:
            return False
        return bool(gesture.intent.thought.strip()) or not self.state.thought_required

    def _gesture_rests(self) -> bool:
        if self._gesture is None or not self._may_close():
            return False
        return asyncio.get_running_loop().time() >= self._gesture.last + self._limits.gesture_pause

    async def _close_gesture(self, thought: str = "") -> None:
        """Make one step of the open gesture, if there is one."""
        gesture, self._gesture = self._gesture, None
        if gesture is not None:
            deed = await gesture.close(self._held, self._seen, asyncio.get_running_loop().time())
            await self._write(gesture.whole(thought), deed)

    # --- proposals

    def _wants_proposals(self) -> bool:
        state = self.state
        ready = state.status == "running" and not state.takeover and state.pending is None
        return ready and not state.proposals and not self._thinking.active and state.thinking != "off"

    def _may_ask(self) -> bool:
        again_at = self._thinking.again_at
        return self._wants_proposals() and again_at is not None and asyncio.get_running_loop().time() >= again_at

    async def _ask(self) -> None:
        self._think(self.state.steps, self._seen)
        await self._tell("waiting" if self._thinking.active else "off")

    def _think(self, steps: tuple[Step, ...], observation: Observation) -> None:
        policy = self._current_policy()
        if policy is not None:
            kinds = frozenset(self.state.capabilities) | CONTROL_KINDS
            self._thinking.ask(policy, Question(self.state.task, steps, observation, kinds))

    async def _take_answer(self) -> None:
        """Store what the policy offers, or say that it is silent; it is asked again by itself."""
        answer = self._thinking.take()
        if isinstance(answer, PolicyError):
            await self._tell("failed", str(answer))
            if self.state.autopilot and self._thinking.again_at is None:
                await self._change(autopilot=False)
            return
        assert self._thinking.asked is not None
        self._apply(await self._store.add_proposals(answer, self._thinking.asked))
        self._offered_at = asyncio.get_running_loop().time()

    def _policy_moved(self) -> bool:
        """Whether what is offered, awaited or switched off is no longer the current policy's word."""
        policy = self._current_policy()
        if self.state.thinking == "off":
            return policy is not None
        asked = self._thinking.asked or self.state.policy
        waits = bool(self.state.proposals) or self._thinking.active
        return waits and (policy.ref if policy else None) != asked

    async def _drop_offers(self, reason: str = "a new policy took over") -> None:
        self._thinking.drop()
        self._thinking.renew()
        if self.state.proposals:
            self._apply(await self._store.withdraw_proposals(reason))
        await self._tell("idle")

    async def _steer(self) -> None:
        """Do what the policy ranks first; where that is no plain act, give the wheel back."""
        best = min(self.state.proposals, key=lambda proposal: proposal.rank)
        if not self._may_steer(best):
            return await self._change(autopilot=False)
        intent = self._intent(
            command_id=f"auto-{best.id}",
            actor="policy",
            decision="auto",
            proposal_id=best.id,
            thought=best.thought,
            action=best.action,
            decide_ms=None,
        )
        await self._begin_act(intent, best.id)
        await self._act(intent)

    def _may_steer(self, best: Proposal) -> bool:
        if best.action is None or best.action.kind in CONTROL_KINDS:
            return False
        try:
            check_possible(self.state, best.action)
        except CommandRefused:
            return False
        return True

    # --- news

    async def _change(self, **fields: object) -> None:
        self._apply(await self._store.change({name: value for name, value in fields.items() if value is not None}))

    def _apply(self, event: DurableEvent) -> None:
        self.state = state_apply(self.state, event)

    async def _tell(self, thinking: Any, message: str = "", partials: tuple[Partial, ...] = ()) -> None:
        event = ProposalsThinking(thinking=thinking, partials=partials, message=message)
        self.state = state_think(self.state, event)
        await self._emit(event)

    async def _hear(self, partials: tuple[Partial, ...]) -> None:
        await self._tell("streaming", partials=partials)

    @property
    def _held(self) -> Hand:
        assert self._hand is not None, "the episode is running, so its machine is there"
        return self._hand

    @property
    def _seen(self) -> Observation:
        assert self.state.observation is not None, "the episode is running, so it has been seen"
        return self.state.observation
