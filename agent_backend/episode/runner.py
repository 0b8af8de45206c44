"""The loop of one episode: it takes commands, acts on the machine, stores steps and requests proposals.

One asyncio task makes every durable change, in order. Machine preparation and policy requests run concurrently.
"""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from agent_backend.episode.batches import INTERRUPTING_COMMANDS
from agent_backend.episode.command_digests import digest_of
from agent_backend.episode.commands import (
    OUTCOME_OF_LEAVING,
    CommandQueue,
    Wakeup,
    batch_fields,
    check_autopilot_action,
    check_command,
    count_invalid_replies,
    intent_fields,
    invalid_reply_error,
    record_of,
    rejection,
    revise_memories,
)
from agent_backend.episode.executor import ActionExecutor
from agent_backend.episode.limits import DEFAULT_LIMITS, RunnerLimits
from agent_backend.episode.proposals import CurrentPolicy, ProposalManager
from agent_backend.episode.provisioning import MachineFactory, MachineProvisioner, MachineTask, same_task
from agent_backend.episode.secret_confirmation import NO_SECRETS, SecretConfirmation, SecretRules
from agent_backend.episode.settling import SettleControl
from agent_backend.episode.state import EpisodeStateTracker
from agent_backend.episode.twins import TwinSource
from agent_backend.errors import CommandRejected, PolicyError
from agent_backend.interfaces import CommandRecord, Emit, EpisodeCommand, EpisodeStore, Intent, PassControl
from protocol.actions.types import FINAL_ACTIONS, INFEASIBLE_ANSWER, Action, CallUser, Finish, Infeasible
from protocol.messages.events import (
    Accept,
    Acknowledged,
    Act,
    Autopilot,
    CallForHelp,
    ConfirmSecrets,
    EpisodeState,
    FinishEpisode,
    LeaveEpisode,
    MarkProposal,
    Pause,
    Resample,
    ReviseMemory,
    SetTimeScale,
    SkipSettle,
    Takeover,
    TakeoverInput,
    Undo,
    WriteThought,
)
from protocol.trajectory.observations import Observation
from protocol.trajectory.steps import Step, drop_undone_steps
from protocol.trajectory.trajectories import Outcome

CLOSING_MESSAGE = "this episode is closing"


class EpisodeRunner:
    """Applies commands to one machine in order of arrival, and requests proposals in between.

    `run` ends when the episode ends or after `stop`. It raises errors of the store, because a machine must not run
    ahead of its record. A new runner over the same store then resumes where this one stopped.
    """

    def __init__(
        self,
        store: EpisodeStore,
        open_machine: MachineFactory,
        current_policy: CurrentPolicy,
        emit: Emit,
        limits: RunnerLimits = DEFAULT_LIMITS,
        secrets: SecretRules = NO_SECRETS,
        twins: TwinSource | None = None,
        machine_task: MachineTask = same_task,
    ) -> None:
        self._store = store
        self._limits = limits
        self._record = record = EpisodeStateTracker(store, emit)
        self._secrets = SecretConfirmation(self._record, secrets)
        self._settles = settles = SettleControl(self.wake)
        self._executor = ActionExecutor(record, store, limits.executor, settles, self._request_ahead, self._may_follow)
        read, retry, ends = self._executor.pictures.read, limits.retry_policy, limits.ends_with_page
        parts = (record, store, current_policy, read, retry, self.wake, settles, twins, ends, secrets.holds_value)
        self._proposals = ProposalManager(*parts)
        how = (limits.executor.reach, limits.machine_retry_seconds, machine_task)
        self._provisioner = MachineProvisioner(record, store, self._executor, open_machine, self.wake, *how)
        self.continuations = self._proposals.continuations  # for half-written thoughts
        self._inbox, self._wakeup = CommandQueue(limits.inbox), Wakeup()
        self._stopping, self._machine_lost_reason = False, ""
        self._handlers: tuple[tuple[Callable[[], bool], Callable[[], Awaitable[None]]], ...] = (
            (lambda: bool(self._machine_lost_reason), self._fail),
            (lambda: self._provisioner.done, self._provisioner.begin),
            (lambda: self._proposals.policy_changed, self._proposals.switch_policy),
            (lambda: isinstance(self._inbox.first, TakeoverInput), self._take_inputs),
            (lambda: settles.rested, self._take_redraw),
            (lambda: bool(self._inbox), self._take_command),
            (lambda: Wakeup.is_due(self._executor.releases_at), self._executor.release_gesture),
            (lambda: Wakeup.is_due(self._executor.gesture_ends_at), self._executor.close_gesture),
            (lambda: Wakeup.is_due(self._executor.poll_at), self._executor.poll),
            (lambda: self._proposals.result_ready, self._proposals.take),
            (lambda: self._proposals.memory_ready, self._proposals.store_memory),
            (lambda: self._is_policy_due, self._act_for_policy),
            (lambda: Wakeup.is_due(self._proposals.request_at), self._proposals.request_now),
        )
        """Conditions that may need work, most urgent first, each with its handler."""

    @property
    def state(self) -> EpisodeState:
        """The episode as this runner knows it, `thinking` included. AttributeError before `run` has loaded it."""
        return self._record.state

    @property
    def _is_policy_due(self) -> bool:
        return self.state.autopilot and bool(self.state.proposals) and not self._secrets.waiting

    @property
    def failure(self) -> PolicyError | None:
        """Why the last request to the policy failed."""
        return self._proposals.failure

    @property
    def retries_exhausted(self) -> bool:
        """Whether proposals are wanted but all retries are used up."""
        return self._proposals.retries_exhausted

    async def submit(self, command: EpisodeCommand, reply: Emit) -> None:
        """Queue a command. `reply` receives its result (`acknowledged` or `rejected`). Never waits for an action."""
        if self._stopping:
            await reply(rejection(command, "not_running", CLOSING_MESSAGE))
        elif isinstance(command, SkipSettle):
            self._settles.skip(self._executor.session)
            await reply(Acknowledged(command_id=command.command_id))
        else:
            await self._queue(command, reply)

    async def _queue(self, command: EpisodeCommand, reply: Emit) -> None:
        try:
            is_new = self._inbox.add(command, reply)
        except CommandRejected as error:
            return await reply(rejection(command, error.code, str(error)))
        if not is_new:
            return
        if isinstance(command, Act) and not self._wakeup.waiting and self._executor.only_settles(command.command_id):
            self._settles.skip(self._executor.session)
        self.wake()

    def _may_follow(self, action: Action, observation: Observation) -> bool:
        """Whether the next action of a reply needs no confirmation and no command interrupts it."""
        interrupted = self._stopping or self._inbox.holds(*INTERRUPTING_COMMANDS)
        return not interrupted and not self._secrets.unconfirmed((action,), observation)

    def wake(self) -> None:
        """Wake the loop: the current policy may have changed."""
        self._wakeup.set()

    def lose_machine(self, why: str) -> None:
        """Report that the machine is lost, as the lease keeper found out. Viewers learn of it without acting."""
        self._machine_lost_reason = why
        self.wake()

    def stop(self) -> None:
        """Stop after the current work; the episode stays as it is."""
        self._stopping = True
        self.wake()

    async def run(self) -> None:
        """Drive the episode until it ends or `stop`."""
        try:
            await self._provisioner.resume()
            if self.state.status == "running" and (done := drop_undone_steps(self.state.steps)):
                await self._apply_control_action(done[-1])
            while not self._stopping and self.state.status not in ("finished", "left"):
                await self._run_once()
            await self._executor.close_gesture()
        finally:
            await self._shut_down()

    async def _run_once(self) -> None:
        """Handle the most urgent condition, or wait for the next event."""
        self._wakeup.clear()
        for waiting, handle in self._handlers:
            if waiting():
                return await handle()
        await self._wakeup.wait(*self._executor.due_times, self._proposals.request_at)

    async def _shut_down(self) -> None:
        """Release everything that is not durable."""
        self._stopping = True
        await self._proposals.close()
        await self._provisioner.close()
        await self._settles.close()
        if self._executor.session is not None:
            await self._executor.session.close()
        while self._inbox:
            command, reply = self._inbox.take()
            await reply(rejection(command, "not_running", CLOSING_MESSAGE))

    async def _take_command(self) -> None:
        command, reply = self._inbox.take()
        acknowledged = Acknowledged(command_id=command.command_id)
        digest = digest_of(command)
        intent: Intent | None = None
        note: str | None = None
        try:
            if await self._is_duplicate(command, digest):
                return await reply(acknowledged)
            check_command(self.state, command)
            if isinstance(command, Act | Accept):
                if self.state.proposals:
                    await self._secrets.check(command)
                fields = intent_fields(command, self.state)
                intent = self._executor.intent(**fields, decide_ms=self._proposals.displayed_ms)
                self._proposals.cancel_request()
                await self._executor.begin(intent, digest)
            else:
                note = await self._apply_command(command, digest)
        except CommandRejected as error:
            return await reply(rejection(command, error.code, str(error)))
        if note is not None:
            await self._store.record_command(command.command_id, digest, note)
        await reply(acknowledged)
        if intent is not None:
            await self._act(intent)

    async def _take_inputs(self) -> None:
        """Inputs that arrive during a batch form the next one, so a person never gets far ahead of the machine."""
        accepted: list[tuple[TakeoverInput, Emit]] = []
        while isinstance(command := self._inbox.first, TakeoverInput) and len(accepted) < self._limits.input_batch:
            _, reply = self._inbox.take()
            try:
                if await self._is_duplicate(command, digest_of(command)):
                    await reply(Acknowledged(command_id=command.command_id))
                    continue
                check_command(self.state, command)
            except CommandRejected as error:
                await reply(rejection(command, error.code, str(error)))
                continue
            self._executor.record_input(command.command_id, digest_of(command))
            accepted.append((command, reply))
        if accepted:
            await self._perform_inputs(accepted)

    async def _perform_inputs(self, accepted: list[tuple[TakeoverInput, Emit]]) -> None:
        commands = [command for command, _ in accepted]
        try:
            await self._executor.input(commands, digest_of(commands[0]))
        except CommandRejected as error:
            for command, reply in accepted:
                self._executor.discard_input(command.command_id)
                await reply(rejection(command, error.code, str(error)))
            return
        for command, reply in accepted:
            await reply(Acknowledged(command_id=command.command_id))

    async def _is_duplicate(self, command: EpisodeCommand, digest: str) -> bool:
        """Raises CommandRejected if the same id came with another body."""
        known = self._executor.input_digest(command.command_id)
        if known is None and not isinstance(command, TakeoverInput):
            record = await self._store.find_command(command.command_id)
            known = record.digest if record else None
        if known not in (None, digest):
            raise CommandRejected("command_conflict", "this command_id came before with another body")
        return known is not None

    async def _apply_command(self, command: EpisodeCommand, digest: str) -> str | None:
        """Apply a command that is not an action, and return its note. Returns None if it ended the episode and is
        recorded with the end. If it raises CommandRejected, nothing was done."""
        match command:
            case FinishEpisode():
                await self._finish(command.outcome, command.answer, record_of(command, digest))
                return None
            case LeaveEpisode():
                await self._executor.close_gesture()
                await self._executor.release_held_inputs(command.command_id)
                await self._end(record_of(command, digest), status="left", outcome=OUTCOME_OF_LEAVING[command.how])
                return None
            case CallForHelp():
                await self._record.change(help_requested=True)
                return command.message
            case SetTimeScale():
                await self._set_time_scale(command.rate)
                return f"pace {command.rate:g}"
            case ConfirmSecrets():
                return await self._secrets.answer(command)
            case _:
                await self._apply_control(command)
        return ""

    async def _apply_control(self, command: EpisodeCommand) -> None:
        """Apply a command about who does the next step."""
        match command:
            case Takeover():
                await self._take_over(command)
            case PassControl():
                await self._executor.pass_control()
            case MarkProposal():
                await self._record.write(self._store.mark_proposal(command.proposal_id, command.mark))
            case WriteThought():
                await self._record.write(self._store.write_thought(command.index, command.thought))
            case ReviseMemory():
                await self._record.change(memories=revise_memories(self.state.memories, command))
            case Resample():
                await self._proposals.withdraw("resampled")
            case Pause():
                self._proposals.cancel_request()
                await self._record.change(status="paused" if command.on else "running", autopilot=False)
            case Autopilot():
                await self._record.change(autopilot=command.on)
            case Undo():
                self._proposals.cancel_request()
                await self._executor.undo(drop_undone_steps(self.state.steps)[-1])
                self._proposals.reset_retries()

    async def _set_time_scale(self, rate: float) -> None:
        """Set the time scale. Proposals for the earlier screen become invalid."""
        before = self._record.last_observation.screenshot
        await self._executor.set_time_scale(rate)
        if self._record.last_observation.screenshot != before and not self.state.takeover:
            await self._proposals.withdraw("time_went_on")

    async def _take_over(self, command: Takeover) -> None:
        """Begin direct input, or end it and store its inputs as one step."""
        self._proposals.cancel_request()
        if not command.on:
            await self._executor.close_gesture(command.thought)
        else:
            await self._executor.release_held_inputs(command.command_id)
        self._executor.thought = command.thought if command.on else ""
        await self._record.change(takeover=command.on, autopilot=False)

    async def _fail(self) -> None:
        """Fail the episode. An open gesture is stored first; that alone may report the loss."""
        why, self._machine_lost_reason = self._machine_lost_reason, ""
        self._proposals.cancel_request()
        await self._executor.close_gesture()
        if self.state.status in ("running", "paused"):
            await self._executor.fail(why)

    async def _take_redraw(self) -> None:
        """Take the screen that a program's timer has changed. Proposals for the earlier screen become invalid."""
        await self._proposals.take_redraw(await self._executor.take_redraw())

    async def _act(self, intent: Intent | None) -> None:
        """Execute an intent and the later actions of the same reply. A waiting `Act` skips the settle."""
        while intent is not None:
            expected = self._proposals.expected_picture(intent)
            intent = await self._executor.act(intent, settle=not self._inbox.holds(Act), expected=expected)
        await self._proposals.publish_waiting()
        if self.state.status == "running":
            await self._apply_control_action(self.state.steps[-1])

    async def _apply_control_action(self, step: Step) -> None:
        """Apply an action that addresses the runner itself. Idempotent."""
        if isinstance(step.action, Finish):
            await self._finish("success", step.action.answer)
        elif isinstance(step.action, Infeasible):
            await self._finish("infeasible", "")
        elif isinstance(step.action, CallUser) and not self.state.help_requested:
            await self._record.change(help_requested=True)

    async def _finish(self, outcome: Outcome, answer: str, command: CommandRecord | None = None) -> None:
        """End the episode with the annotator's outcome, and store the verifier's verdict beside it."""
        self._proposals.cancel_request()
        await self._settles.finish()
        await self._executor.release_held_inputs(f"end-{self.state.id}-{len(self.state.steps)}")
        verdict = await self._executor.active_session.judge(INFEASIBLE_ANSWER if outcome == "infeasible" else answer)
        await self._end(command, status="finished", outcome=outcome, answer=answer, verdict=verdict)

    async def _end(self, command: CommandRecord | None, **fields: object) -> None:
        self._proposals.cancel_request()
        await self._record.change(command, **fields, autopilot=False, takeover=False, finished_at=datetime.now(UTC))

    def _request_ahead(self, steps: tuple[Step, ...], observation: Observation) -> None:
        """Request proposals after a step that is still being stored, unless other work comes first anyway."""
        self._proposals.reset_retries()
        over = isinstance(steps[-1].action, FINAL_ACTIONS) or self.state.takeover or self.state.status != "running"
        if not (over or self._inbox):
            self._proposals.request_for(steps, observation)

    async def _act_for_policy(self) -> None:
        """Do the first candidate. If it is not a machine action, end the autopilot or store an invalid reply."""
        best = min(self.state.proposals, key=lambda proposal: proposal.rank)
        try:
            check_autopilot_action(self.state, best)
        except CommandRejected:
            may_go_on = count_invalid_replies(self.state) < self._limits.max_invalid_replies
            if may_go_on and (error := invalid_reply_error(self.state, best)) is not None:
                return await self._executor.store_invalid_reply(best, error)
            return await self._record.change(autopilot=False)
        if not await self._secrets.hold(best):
            fields = {"thought": best.thought, "proposal_id": best.id, "actor": "policy", **batch_fields(best.actions)}
            intent = self._executor.intent(command_id=f"auto-{best.id}", decision="auto", **fields)
            await self._executor.begin(intent, best.id)
            await self._act(intent)
