"""The proposals of one episode: when the policy is asked, and when proposals become invalid."""

import asyncio
from collections.abc import Callable

from agent_backend.episode.continuations import ContinuationRequester
from agent_backend.episode.memory_requests import MemorySummarizer
from agent_backend.episode.proposal_requests import ProposalRequest, ProposalRequester, ReadBlob, RetryPolicy
from agent_backend.episode.settling import SettleControl
from agent_backend.episode.speculation import Guess, Speculator
from agent_backend.episode.state import EpisodeStateTracker
from agent_backend.episode.twins import TwinSource
from agent_backend.errors import PolicyError
from agent_backend.interfaces import EpisodeStore, Intent, Policy, SummarizingPolicy
from protocol.actions.types import CONTROL_KINDS
from protocol.blobs import BlobRef
from protocol.messages.events import EpisodeState, Partial, WithdrawalReason
from protocol.trajectory.observations import Observation
from protocol.trajectory.steps import Step, drop_undone_steps

CurrentPolicy = Callable[[], Policy | None]
"""Returns the current policy, or None if none proposes. Called at every decision point."""


class ProposalManager:
    """Manages the proposals of one episode. `wake` is called when a result is ready; the caller applies it."""

    def __init__(
        self,
        record: EpisodeStateTracker,
        store: EpisodeStore,
        current_policy: CurrentPolicy,
        read: ReadBlob,
        retry_policy: RetryPolicy,
        wake: Callable[[], None],
        settles: SettleControl,
        twins: TwinSource | None = None,
        ends_with_page: bool = False,
        holds_secret: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._record = record
        self._store = store
        self._current_policy = current_policy
        on_request = record.on_request
        self._requester = ProposalRequester(
            wake,
            read,
            self._publish_partials,
            retry_policy,
            store.save_blob,
            on_request,
            None if twins is None else twins.record_use,
        )
        self._summarizer = MemorySummarizer(wake, on_request)
        self._speculator = Speculator(store, twins, self._prepare) if twins is not None else None
        self.continuations = ContinuationRequester(
            current_policy,
            self._idle_question,
            read,
            is_allowed=self._may_continue_text,
            holds_secret=holds_secret,
            on_request=on_request,
        )
        """Requests continuations of half-written thoughts."""
        self._settles = settles
        self._ends_with_page = ends_with_page
        self._stored_at: float | None = None
        self.failure: PolicyError | None = None
        """Why the last request to the policy failed."""

    @property
    def _state(self) -> EpisodeState:
        return self._record.state

    @property
    def wants_proposals(self) -> bool:
        """Whether the policy should be asked, now or later."""
        state = self._state
        ready = state.status == "running" and not state.takeover and state.pending is None
        ready = ready and not self._has_ended(state.observation)
        return ready and not state.proposals and not self._requester.active and state.thinking != "off"

    def _has_ended(self, observation: Observation | None) -> bool:
        page = observation.page if observation is not None and self._ends_with_page else None
        return page is not None and page.over

    @property
    def request_at(self) -> float | None:
        """The time of the next request (loop time); None if there will be none, for example once all retries are used
        up."""
        return self._requester.retry_at if self.wants_proposals else None

    @property
    def retries_exhausted(self) -> bool:
        """Whether the policy would be asked if retries were left."""
        return self.wants_proposals and self._requester.retry_at is None

    @property
    def result_ready(self) -> bool:
        """Whether an answer or a failure is ready for `take`."""
        return self._requester.result_ready

    @property
    def memory_ready(self) -> bool:
        """Whether a note, or a failure to write one, is ready."""
        return self._summarizer.result_ready

    @property
    def policy_changed(self) -> bool:
        """Whether proposals, a request, a failure or the lack of a policy belong to an earlier policy.

        After a failure this is also true if the same revision has a new server, which may answer.
        """
        policy = self._current_policy()
        current = policy.ref if policy else None
        if self._state.thinking == "off":
            return policy is not None
        if self.failure is not None and policy is not self._requester.policy:
            return True
        if self._state.noting == "failed" and self._state.noting_policy != current:
            return True
        is_pending = bool(self._state.proposals) or self._requester.active
        return is_pending and current != (self._requester.policy_ref or self._state.policy)

    @property
    def displayed_ms(self) -> float | None:
        """How long the proposals have been displayed, in milliseconds; None if there are none, or if an earlier process
        displayed them."""
        if self._stored_at is None or not self._state.proposals:
            return None
        return (asyncio.get_running_loop().time() - self._stored_at) * 1000

    async def request_now(self) -> None:
        """Request proposals for the current screen."""
        self.request_for(self._state.steps, self._record.last_observation)
        if self._requester.active:
            return await self.publish_waiting()
        await self._record.publish_thinking("off")
        self.follow()

    async def publish_waiting(self) -> None:
        """Publish that the policy was asked, if it was."""
        if self._requester.active:
            await self._record.publish_thinking("waiting", policy=self._requester.policy_ref)
            self.follow()

    def request_for(self, steps: tuple[Step, ...], observation: Observation) -> None:
        """Request proposals after steps that may not be stored yet."""
        policy = self._current_policy()
        self.continuations.cancel()
        if policy is not None and not self._has_ended(observation):
            self._requester.request_now(policy, self._question(drop_undone_steps(steps), observation))

    def expected_picture(self, intent: Intent) -> BlobRef | None:
        """The picture that an action probably leads to, if a twin did it before."""
        return self._requester.expected_picture(intent)

    def follow(self) -> None:
        """Let the twin catch up with the episode, also during a request to the policy. It does not start while the
        episode waits for timers, because the twin waits for them too."""
        if self._speculator is None or self._state.status != "running":
            return
        if self._settles.waiting:
            self._speculator.hold()
        elif (policy := self._current_policy()) is not None:
            self._speculator.follow(self._state, policy)

    def _prepare(self, guess: Guess) -> None:
        """Prepare the request that would follow if the first candidate were accepted."""
        self._requester.prepare(guess, self._question(guess.steps, guess.observation))

    def _question(self, past: tuple[Step, ...], observation: Observation) -> ProposalRequest:
        state = self._state
        kinds = frozenset(state.capabilities) | CONTROL_KINDS
        return ProposalRequest(state.task, past, observation, kinds, state.tools, state.memories)

    def _may_continue_text(self) -> bool:
        return not self._record.loaded or self._state.text_continuation

    def _idle_question(self) -> ProposalRequest | None:
        """The request for the current decision, if none runs and a person may act."""
        if not self._record.loaded:
            return None
        state = self._state
        if state.status != "running" or state.takeover or state.pending is not None or self._requester.active:
            return None
        return self._question(drop_undone_steps(state.steps), self._record.last_observation)

    def cancel_request(self) -> None:
        """Cancel the pending request."""
        self._requester.cancel()

    def reset_retries(self) -> None:
        """Start counting retries from zero."""
        self._requester.reset_retries()

    async def take(self) -> None:
        """Store the policy's proposals, or publish its failure. A failed request is retried automatically."""
        answer = self._requester.take()
        self.failure = answer if isinstance(answer, PolicyError) else None
        if isinstance(answer, PolicyError):
            await self._record.publish_thinking(
                "failed", str(answer), code=answer.code, policy=self._requester.policy_ref
            )
            if self._state.autopilot and self._requester.retry_at is None:
                await self._record.change(autopilot=False)
            return
        assert self._requester.policy_ref is not None
        await self._record.write(self._store.add_proposals(answer, self._requester.policy_ref))
        self._stored_at = asyncio.get_running_loop().time()
        self.follow()
        await self._request_memory(self._current_policy())

    async def switch_policy(self) -> None:
        """Change to the current policy: withdraw the proposals and the failure of the earlier one."""
        await self.withdraw("policy_changed")
        if self._state.noting == "failed":
            await self._record.publish_noting("idle")

    async def withdraw(self, reason: WithdrawalReason, observation: Observation | None = None) -> None:
        """Withdraw proposals and cancel the pending request. The policy is asked again, about `observation` if it is
        given."""
        self._requester.cancel()
        self._requester.reset_retries()
        self.failure = None
        if self._state.proposals:
            await self._record.write(self._store.withdraw_proposals(reason, observation))
        elif observation is not None:
            await self._record.change(observation=observation)
        await self._record.publish_thinking("idle")

    async def take_redraw(self, observation: Observation | None) -> None:
        """Take the screen after the awaited timers; None if it is unchanged."""
        if observation is not None:
            await self.withdraw("screen_changed", observation)
        else:
            self.follow()

    async def store_memory(self) -> None:
        """Store the note, or publish that it could not be written."""
        memory, author = self._summarizer.take(), self._summarizer.policy_ref
        if isinstance(memory, PolicyError):
            return await self._record.publish_noting("failed", str(memory), policy=author)
        await self._record.publish_noting("idle")
        if any(step.index == memory.through for step in drop_undone_steps(self._state.steps)):
            await self._record.change(memories=(*self._state.memories, memory))

    async def close(self) -> None:
        """Stop all requests."""
        if self._speculator is not None:
            await self._speculator.close()
        await self.continuations.close()
        await self._requester.close()
        await self._summarizer.close()

    async def _request_memory(self, policy: Policy | None) -> None:
        """Request the next note, if the policy writes notes and one is due."""
        self._summarizer.request_now(
            policy, self._state.task, drop_undone_steps(self._state.steps), self._state.memories
        )
        if not isinstance(policy, SummarizingPolicy) or not policy.writes_memories:
            await self._record.publish_noting("off")
        elif self._summarizer.in_progress:
            await self._record.publish_noting("writing")
        elif self._state.noting != "failed":
            await self._record.publish_noting("idle")

    async def _publish_partials(self, partials: tuple[Partial, ...]) -> None:
        await self._record.publish_thinking("streaming", partials=partials, policy=self._requester.policy_ref)
