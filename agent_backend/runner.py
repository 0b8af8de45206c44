"""The loop of one episode: commands in, acts on the machine, steps into the store, proposals out.

One task does everything that changes anything, one thing after another. What takes long and changes nothing
durable, warming a machine and asking the policy, runs beside it; its results wait until the loop takes them.
So a step is stored while the policy already reads the new screen, and its proposals can only be stored after it.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from agent_backend.acting import Acting
from agent_backend.commands import digest_of, refusal, revised, said_by
from agent_backend.errors import CommandRefused, PolicyError
from agent_backend.inbox import CommandInbox
from agent_backend.limits import DEFAULT_LIMITS, Limits
from agent_backend.offers import CurrentPolicy, Offers
from agent_backend.opening import Opening, OpenMachine
from agent_backend.ports import Emit, EpisodeCommand, EpisodeStore, Intent
from agent_backend.record import Record
from agent_backend.refusals import check, check_steering, lapse_of, lapses
from agent_backend.secret_confirmation import NO_SECRETS, SecretConfirmation, SecretRules
from vocabulary.actions import ENDS, INFEASIBLE_ANSWER, CallTool, CallUser, Finish, Infeasible, RunCode, RunCommand
from vocabulary.messages import (
    Accept,
    Acknowledged,
    Act,
    Autopilot,
    CallForHelp,
    ConfirmSecrets,
    EpisodeState,
    FinishEpisode,
    Hurry,
    LeaveEpisode,
    MarkProposal,
    Pause,
    Resample,
    ReviseMemory,
    SetPace,
    Takeover,
    TakeoverInput,
    Undo,
)
from vocabulary.observations import Observation
from vocabulary.steps import Step, standing
from vocabulary.trajectories import Outcome

LEFT_AS: dict[str, Outcome | None] = {"skip": "skipped", "broken": "broken", "release": None}
CLOSING = "this episode is closing"
INPUT_BATCH = 16
"""Commands of a takeover that are done in one go, at most."""


class EpisodeRunner:
    """Applies commands to one machine in the order they arrive, and asks for proposals in between.

    `run` ends when the episode does or after `stop`; it raises what the store raises, since a machine must not
    run ahead of its record. A new runner over the same store then goes on where this one stopped.
    """

    def __init__(
        self,
        store: EpisodeStore,
        open_machine: OpenMachine,
        current_policy: CurrentPolicy,
        emit: Emit,
        limits: Limits = DEFAULT_LIMITS,
        secrets: SecretRules = NO_SECRETS,
    ) -> None:
        self._store = store
        self._limits = limits
        self._record = Record(store, emit)
        self._secrets = SecretConfirmation(self._record, secrets)
        self._acting = Acting(self._record, store, limits.acting, self._think_ahead)
        read = self._acting.pictures.read
        self._offers = Offers(self._record, store, current_policy, read, limits.patience, self.wake)
        within, again = limits.acting.reach, limits.warm_again
        self._opening = Opening(self._record, store, self._acting, open_machine, self.wake, within=within, again=again)
        self._inbox = CommandInbox(limits.inbox)
        self._stirred = asyncio.Event()
        self._stopping = False
        self._skipping_settle: asyncio.Task[None] | None = None
        self._lost = ""
        self._duties: tuple[tuple[Callable[[], bool], Callable[[], Awaitable[None]]], ...] = (
            (lambda: bool(self._lost), self._fail),
            (lambda: self._opening.done, self._opening.begin),
            (lambda: self._offers.moved, self._offers.void),
            (lambda: isinstance(self._inbox.first, TakeoverInput), self._take_inputs),
            (lambda: bool(self._inbox), self._take_command),
            (lambda: is_due(self._acting.rests_at), self._acting.close_gesture),
            (lambda: is_due(self._acting.glance_at), self._acting.glance),
            (lambda: self._offers.answered, self._offers.take),
            (lambda: self._offers.noted, self._offers.take_note),
            (lambda: self.state.autopilot and bool(self.state.proposals) and not self._secrets.waiting, self._steer),
            (lambda: is_due(self._offers.ask_at), self._offers.ask),
        )
        """What may be waiting, most urgent first, and who sees to it."""

    @property
    def state(self) -> EpisodeState:
        """The episode as this runner knows it, `thinking` included. Raises AttributeError before `run` has looked."""
        return self._record.state

    @property
    def failure(self) -> PolicyError | None:
        """Why the policy was silent when it was asked last."""
        return self._offers.failure

    @property
    def given_up(self) -> bool:
        """Whether patience with it has run out, and it is wanted."""
        return self._offers.given_up

    async def submit(self, command: EpisodeCommand, reply: Emit) -> None:
        """Queue a command; its fate (`acknowledged` or `rejected`) is told to `reply`. Never waits for an act."""
        if self._stopping:
            await reply(refusal(command, "not_running", CLOSING))
        elif isinstance(command, Hurry):
            self._skip_settle()
            await reply(Acknowledged(command_id=command.command_id))
        else:
            await self._queue(command, reply)

    async def _queue(self, command: EpisodeCommand, reply: Emit) -> None:
        try:
            is_new = self._inbox.add(command, reply)
        except CommandRefused as error:
            return await reply(refusal(command, error.code, str(error)))
        if not is_new:
            return
        if isinstance(command, Act) and self._only_settles(command):
            self._skip_settle()
        self.wake()

    def _only_settles(self, command: Act) -> bool:
        """Whether all that this act has to wait for is a screen that comes to rest: a program at work is not cut by
        it, only by who says so."""
        running = self._acting.running
        if running is None:
            return True
        return command.command_id != running.command_id and not isinstance(
            running.action, RunCommand | RunCode | CallTool
        )

    def wake(self) -> None:
        """Look again: the current policy may have changed."""
        self._stirred.set()

    def lose_machine(self, why: str) -> None:
        """The machine is gone, as somebody found out who only kept it: who looks at it hears without acting."""
        self._lost = why
        self.wake()

    def stop(self) -> None:
        """End after what is being done now; the episode stays as it is."""
        self._stopping = True
        self.wake()

    async def run(self) -> None:
        """Drive the episode until it ends or `stop`."""
        try:
            await self._opening.resume()
            if self.state.status == "running" and (done := standing(self.state.steps)):
                await self._follow(done[-1])
            while not self._stopping and self.state.status not in ("finished", "left"):
                await self._turn()
            await self._acting.close_gesture()
        finally:
            await self._put_down()

    async def _turn(self) -> None:
        """See to the most urgent thing, or wait until something stirs."""
        self._stirred.clear()
        for waiting, see_to in self._duties:
            if waiting():
                return await see_to()
        looks = [self._acting.rests_at, self._acting.glance_at, self._offers.ask_at]
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(min((look for look in looks if look is not None), default=None)):
                await self._stirred.wait()

    async def _put_down(self) -> None:
        """Let go of everything that is not durable."""
        self._stopping = True
        await self._offers.close()
        await self._opening.close()
        if self._skipping_settle is not None:
            self._skipping_settle.cancel()
            await asyncio.gather(self._skipping_settle, return_exceptions=True)
        if self._acting.hand is not None:
            await self._acting.hand.close()
        while self._inbox:
            command, reply = self._inbox.take()
            await reply(refusal(command, "not_running", CLOSING))

    async def _take_command(self) -> None:
        command, reply = self._inbox.take()
        acknowledged = Acknowledged(command_id=command.command_id)
        digest = digest_of(command)
        intent, note = None, ""
        try:
            if await self._taken_before(command, digest):
                return await reply(acknowledged)
            check(self.state, command)
            await self._secrets.check(command)
            if isinstance(command, Act | Accept):
                intent = await self._begin_act(command, digest)
            else:
                note = await self._apply_command(command)
        except CommandRefused as error:
            return await reply(refusal(command, error.code, str(error)))
        if intent is not None:
            await reply(acknowledged)
            return await self._act(intent)
        await self._store.record_command(command.command_id, digest, note)
        await reply(acknowledged)

    async def _take_inputs(self) -> None:
        """A takeover's inputs that came while the last ones were done are done together: so a hand that is faster
        than the machine is never far ahead of it."""
        taken: list[tuple[TakeoverInput, Emit]] = []
        while isinstance(command := self._inbox.first, TakeoverInput) and len(taken) < INPUT_BATCH:
            _, reply = self._inbox.take()
            try:
                if await self._taken_before(command, digest_of(command)):
                    await reply(Acknowledged(command_id=command.command_id))
                    continue
                check(self.state, command)
            except CommandRefused as error:
                await reply(refusal(command, error.code, str(error)))
                continue
            self._acting.remember_input(command.command_id, digest_of(command))
            taken.append((command, reply))
        if taken:
            await self._do_inputs(taken)

    async def _do_inputs(self, taken: list[tuple[TakeoverInput, Emit]]) -> None:
        commands = [command for command, _ in taken]
        try:
            await self._acting.input(commands, digest_of(commands[0]))
        except CommandRefused as error:
            for command, reply in taken:
                self._acting.forget_input(command.command_id)
                await reply(refusal(command, error.code, str(error)))
            return
        for command, reply in taken:
            await reply(Acknowledged(command_id=command.command_id))

    async def _taken_before(self, command: EpisodeCommand, digest: str) -> bool:
        """Raises CommandRefused when another body came under the same id."""
        known = self._acting.input_digest(command.command_id)
        if known is None and not isinstance(command, TakeoverInput):
            record = await self._store.find_command(command.command_id)
            known = record.digest if record else None
        if known not in (None, digest):
            raise CommandRefused("command_conflict", "this command_id came before with another body")
        return known is not None

    async def _apply_command(self, command: EpisodeCommand) -> str:
        """Carry out a command that is no act. Returns what the person said with it. Raises CommandRefused where it
        turns out that it cannot be done, and nothing was."""
        match command:
            case FinishEpisode():
                await self._finish(command.outcome, command.answer)
                return command.reason
            case LeaveEpisode():
                await self._acting.close_gesture()
                await self._acting.release_held_inputs(command.command_id)
                await self._end(status="left", outcome=LEFT_AS[command.how])
                return command.reason
            case CallForHelp():
                await self._record.change(help_requested=True)
                return command.message
            case SetPace():
                await self._set_pace(command.rate)
                return f"pace {command.rate:g}"
            case ConfirmSecrets():
                return await self._secrets.answer(command)
            case _:
                await self._turn_wheel(command)
        return ""

    async def _turn_wheel(self, command: EpisodeCommand) -> None:
        """Carry out a command about who does what comes next."""
        match command:
            case Takeover():
                await self._take_over(command)
            case MarkProposal():
                await self._record.write(self._store.mark_proposal(command.proposal_id, command.mark))
            case ReviseMemory():
                await self._record.change(memories=revised(self.state.memories, command))
            case Resample():
                await self._offers.void("resampled")
            case Pause():
                self._offers.hush()
                await self._record.change(status="paused" if command.on else "running", autopilot=False)
            case Autopilot():
                await self._record.change(autopilot=command.on)
            case Undo():
                self._offers.hush()
                await self._acting.undo(standing(self.state.steps)[-1])
                self._offers.renew()

    async def _set_pace(self, rate: float) -> None:
        """What was offered for a screen that time has left behind is void."""
        seen = self._record.seen
        await self._acting.set_time_scale(rate)
        if self._record.seen.screenshot != seen.screenshot and not self.state.takeover:
            await self._offers.void("time went on")

    async def _take_over(self, command: Takeover) -> None:
        """Begin direct input, or end it with what was done as one step."""
        self._offers.hush()
        if not command.on:
            await self._acting.close_gesture(command.thought)
        else:
            await self._acting.release_held_inputs(command.command_id)
        self._acting.thought = command.thought if command.on else ""
        await self._record.change(takeover=command.on, autopilot=False)

    async def _fail(self) -> None:
        """What a hand was doing is stored first; that alone may tell of the loss."""
        why, self._lost = self._lost, ""
        self._offers.hush()
        await self._acting.close_gesture()
        if self.state.status in ("running", "paused"):
            await self._acting.fail(why)

    def _skip_settle(self) -> None:
        hand = self._acting.hand
        if hand is not None and (self._skipping_settle is None or self._skipping_settle.done()):
            self._skipping_settle = asyncio.create_task(hand.skip_settle())

    async def _begin_act(self, command: Act | Accept, digest: str) -> Intent:
        intent = self._acting.intent(**said_by(command, self.state), decide_ms=self._offers.shown_ms)
        self._offers.hush()
        await self._acting.begin(intent, digest)
        return intent

    async def _act(self, intent: Intent) -> None:
        """Carry an intent out. Who waits to act next gets no settle in between."""
        settle = not self._inbox.holds(Act)
        await self._acting.act(intent, settle=settle)
        await self._offers.tell_asked()
        if self.state.status == "running":
            await self._follow(self.state.steps[-1])

    async def _follow(self, step: Step) -> None:
        """Some actions speak to the runner; done once, however often it is called."""
        if isinstance(step.action, Finish):
            await self._finish("success", step.action.answer)
        elif isinstance(step.action, Infeasible):
            await self._finish("infeasible", "")
        elif isinstance(step.action, CallUser) and not self.state.help_requested:
            await self._record.change(help_requested=True)

    async def _finish(self, outcome: Outcome, answer: str) -> None:
        """End with the annotator's outcome, and the verifier's beside it."""
        self._offers.hush()
        await self._acting.release_held_inputs(f"end-{len(self.state.steps)}")
        verdict = await self._acting.held.judge(INFEASIBLE_ANSWER if outcome == "infeasible" else answer)
        await self._end(status="finished", outcome=outcome, answer=answer, verdict=verdict)

    async def _end(self, **fields: object) -> None:
        self._offers.hush()
        await self._record.change(**fields, autopilot=False, takeover=False, finished_at=datetime.now(UTC))

    def _think_ahead(self, steps: tuple[Step, ...], observation: Observation) -> None:
        """Ask about a step that is still being stored, unless something else comes first anyway."""
        self._offers.renew()
        over = isinstance(steps[-1].action, ENDS) or self.state.takeover or self.state.status != "running"
        if not over and not self._inbox:
            self._offers.ask_about(steps, observation)

    async def _steer(self) -> None:
        """Do what the policy ranks first; where that is no plain act, give the wheel back, or note that it was none."""
        best = min(self.state.proposals, key=lambda proposal: proposal.rank)
        try:
            check_steering(self.state, best)
        except CommandRefused:
            lapse = lapse_of(self.state, best) if lapses(self.state) < self._limits.lapses else None
            if lapse is None:
                return await self._record.change(autopilot=False)
            return await self._acting.lapse(best, lapse)
        if await self._secrets.hold(best):
            return None
        said = {"thought": best.thought, "action": best.action, "proposal_id": best.id}
        intent = self._acting.intent(command_id=f"auto-{best.id}", actor="policy", decision="auto", **said)
        await self._acting.begin(intent, best.id)
        await self._act(intent)


def is_due(at: float | None) -> bool:
    """Whether a moment (loop time) has come; None never comes."""
    return at is not None and asyncio.get_running_loop().time() >= at
