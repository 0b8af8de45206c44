"""Runs an episode without a human: starts the autopilot, accepts its end of the episode, and gives up if it cannot
continue."""

import asyncio
import itertools
from dataclasses import replace
from typing import Literal

from agent_backend.episode.commands import (
    check_autopilot_action,
    count_invalid_replies,
    current_page,
    ends_episode,
    invalid_reply_error,
    step_limit_reached,
)
from agent_backend.episode.in_memory_store import InMemoryEpisodeStore
from agent_backend.episode.limits import RunnerLimits
from agent_backend.episode.proposals import CurrentPolicy
from agent_backend.episode.provisioning import MachineFactory
from agent_backend.episode.runner import EpisodeRunner
from agent_backend.episode.unattended_secrets import fill_task_secrets
from agent_backend.errors import CommandRejected, PolicyError, PolicyMisconfigured, PolicyUnavailable
from agent_backend.interfaces import EpisodeCommand
from protocol.messages.events import (
    Accept,
    Acknowledged,
    Autopilot,
    EpisodeState,
    Event,
    FinishEpisode,
    LeaveEpisode,
    Rejected,
    Resample,
    Thinking,
)
from protocol.trajectory.sealing import without_sealed_text
from protocol.trajectory.tasks import Task

PAGE_ENDED, TIME_LIMIT_REACHED = "the page has ended by itself", "the time of the page's task is over"
SERVER_FAULTS = (PolicyUnavailable, PolicyMisconfigured)
MAX_RESAMPLES = 3
"""Maximum refusals in a row from a server."""
MAX_INVALID_REPLIES = 3
"""How many replies in a row may hold no action. Each is a step without effect, and the policy reads why."""


async def run_unattended(
    start: EpisodeState, open_machine: MachineFactory, policy: CurrentPolicy, limits: RunnerLimits
) -> InMemoryEpisodeStore:
    """Run one episode to its end without a person. Returns its store; a lost machine leaves it `left` with an error.

    A reply without an action is a step without effect, because no person can take over. Raises PolicyUnavailable if the
    policy's server is away for longer than `limits` allow, and PolicyMisconfigured if it refuses every request. Neither
    says anything about the policy.
    """
    wakeup = asyncio.Event()
    controller = UnattendedController()

    async def on_event(event: Event) -> None:
        if isinstance(event, Acknowledged | Rejected):
            controller.awaits_reply = False
            controller.rejections = controller.rejections + 1 if isinstance(event, Rejected) else 0
        wakeup.set()

    store = InMemoryEpisodeStore(start, on_event)
    runner = EpisodeRunner(
        store,
        open_machine,
        policy,
        on_event,
        replace(limits, max_invalid_replies=MAX_INVALID_REPLIES, ends_with_page=True),
        machine_task=_machine_task,
    )
    running = asyncio.create_task(runner.run())
    running.add_done_callback(lambda _: wakeup.set())
    try:
        while not running.done():
            wakeup.clear()
            command = controller.next(store.state, getattr(runner, "state", start).thinking, runner.failure)
            if command is None and (fault := _server_fault(runner)) is not None:
                raise fault
            if command is not None:
                await runner.submit(command, on_event)
            await wakeup.wait()
        await running
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    return store


def _machine_task(task: Task) -> Task:
    """The task in the form that its machine gets. Raises SecretMissing."""
    return without_sealed_text(fill_task_secrets(task))


class UnattendedController:
    """Decides whenever the autopilot has ended; one command at a time."""

    def __init__(self) -> None:
        self.awaits_reply = False
        """Whether a sent command has no result yet."""
        self.rejections = 0
        """How many of its commands in a row were refused."""
        self._numbers = itertools.count(1)
        self._resamples = 0
        self._steps = 0

    def next(
        self, state: EpisodeState, thinking: Thinking, failure: PolicyError | None = None
    ) -> EpisodeCommand | None:
        """The command to send now; None while the episode continues by itself. `thinking` is the runner's state of the
        policy request, `failure` the reason of its last failure."""
        awaits_decision = state.status == "running" and state.pending is None
        idle = awaits_decision and (_is_over(state) or (not state.autopilot and thinking in ("ready", "failed", "off")))
        if self.awaits_reply or not (idle or state.status == "failed"):
            return None
        if len(state.steps) > self._steps:
            self._steps, self._resamples = len(state.steps), 0
        if thinking == "failed" and isinstance(failure, SERVER_FAULTS) and not _is_over(state):
            return None
        self.awaits_reply = True
        return self._decide(state, thinking, f"pilot-{next(self._numbers):06d}")

    def _decide(self, state: EpisodeState, thinking: Thinking, command_id: str) -> EpisodeCommand:
        if state.status == "failed":
            return LeaveEpisode(command_id=command_id, how="release", reason=state.error)
        page = current_page(state)
        if page is not None and page.verifier_error is not None:
            return LeaveEpisode(command_id=command_id, how="broken", reason=page.verifier_error)
        if page is not None and page.over:
            outcome: Literal["success", "failure"] = "success" if page.success else "failure"
            reason = PAGE_ENDED if page.done else TIME_LIMIT_REACHED
            return FinishEpisode(command_id=command_id, outcome=outcome, reason=reason)
        if thinking == "off" or self.rejections > MAX_RESAMPLES:
            reason = "there is no policy" if thinking == "off" else "what it said was refused"
            return FinishEpisode(command_id=command_id, outcome="failure", reason=reason)
        if thinking == "failed" or not state.proposals:
            return self._resample_or_fail(command_id, "the policy stays silent")
        best = min(state.proposals, key=lambda proposal: proposal.rank)
        if ends_episode(best):
            return Accept(command_id=command_id, proposal_id=best.id, base_version=len(state.steps))
        if step_limit_reached(state):
            return FinishEpisode(command_id=command_id, outcome="failure", reason="out of steps")
        try:
            check_autopilot_action(state, best)
        except CommandRejected as error:
            if count_invalid_replies(state) >= MAX_INVALID_REPLIES or invalid_reply_error(state, best) is None:
                return FinishEpisode(command_id=command_id, outcome="failure", reason=str(error))
        return Autopilot(command_id=command_id, on=True)

    def _resample_or_fail(self, command_id: str, why: str) -> EpisodeCommand:
        self._resamples += 1
        if self._resamples > MAX_RESAMPLES:
            return FinishEpisode(command_id=command_id, outcome="failure", reason=why)
        return Resample(command_id=command_id)


def _server_fault(runner: EpisodeRunner) -> PolicyError | None:
    """Why the policy cannot be asked, if that is not its own fault."""
    unavailable = isinstance(runner.failure, PolicyUnavailable) and runner.retries_exhausted
    return runner.failure if unavailable or isinstance(runner.failure, PolicyMisconfigured) else None


def _is_over(state: EpisodeState) -> bool:
    """Whether the attempt ends now, regardless of the policy's next reply."""
    page = current_page(state)
    return state.status == "failed" or (page is not None and (page.over or page.verifier_error is not None))
