"""Background requests to the policy of one episode: proposals, with retries, and one note at a time."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from agent_backend.episode.memory_requests import MemorySummarizer
from agent_backend.episode.proposal_requests import PreparedRequest, ProposalRequest, ReadBlob, is_prepared
from agent_backend.episode.speculation import Guess, Speculator, picture_after
from agent_backend.episode.state import EpisodeStateTracker
from agent_backend.episode.twins import OpenTwin
from agent_backend.errors import PolicyError, PolicyRejected, PolicyUnavailable
from agent_backend.interfaces import EpisodeStore, Intent, Policy, SaveBlob, SummarizingPolicy, discard_blob
from agent_backend.telemetry.requests import OnRequest, PolicyRequest, keep_prompt, report_request
from protocol.actions.types import CONTROL_KINDS
from protocol.blobs import BlobRef
from protocol.messages.events import EpisodeState, Partial
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.steps import Step, drop_undone_steps

PARTIAL_INTERVAL_SECONDS = 0.1
"""Seconds between two looks at growing texts: ten a second read as flowing and do not flood a socket."""
CLOSE_SECONDS = 5.0
"""How long `close` waits for cancelled requests to end."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a silent policy is asked again at one decision point, and after how long (seconds)."""

    first: float = 1.0
    longest: float = 30.0
    tries: int = 12


def retry_delay(error: PolicyError, failures: int, retry_policy: RetryPolicy) -> float:
    """Seconds until the next question: longer each time, and as long as the server asks for. A server that refuses the
    request would refuse it again: somebody must change something first."""
    if isinstance(error, PolicyRejected):
        return retry_policy.longest
    requested_delay = error.retry_after if isinstance(error, PolicyUnavailable) else None
    return max(min(retry_policy.longest, retry_policy.first * 2.0 ** (failures - 1)), requested_delay or 0.0)


class ProposalRequester:
    """Asks, listens, gives up, asks again later. It never stores: who asked records the answer."""

    def __init__(
        self,
        on_done: Callable[[], None],
        blob: ReadBlob,
        on_partials: Callable[[tuple[Partial, ...]], Awaitable[None]],
        retry_policy: RetryPolicy,
        save_blob: SaveBlob = discard_blob,
        on_request: OnRequest | None = None,
    ) -> None:
        self._save_blob = save_blob
        self._on_request = on_request
        self._prepared: PreparedRequest | None = None
        self._on_done = on_done
        self._read_blob = blob
        self._on_partials = on_partials
        self._retry_policy = retry_policy
        self._request: ProposalRequest | None = None
        self._task: asyncio.Task[tuple[Proposal, ...]] | None = None
        self._cancelled: set[asyncio.Task[tuple[Proposal, ...]]] = set()
        self._failures = 0
        self.policy: Policy | None = None
        """The policy that was asked last."""
        self.retry_at: float | None = 0.0
        """When the next question may be asked (loop time); None when patience has run out."""

    @property
    def policy_ref(self) -> PolicyRef | None:
        """The revision that was asked last."""
        return None if self.policy is None else self.policy.ref

    @property
    def active(self) -> bool:
        """Whether a question is out or an answer waits to be taken."""
        return self._task is not None

    @property
    def result_ready(self) -> bool:
        """Whether an answer, or a failure, waits to be taken."""
        return self._task is not None and self._task.done()

    def request_now(self, policy: Policy, request: ProposalRequest) -> None:
        """Put one question; an earlier one is dropped."""
        prepared, self._prepared = self._prepared, None
        self.cancel()
        self.policy = policy
        self._request = request
        if prepared is not None and prepared.task is not None and is_prepared(prepared, policy, request):
            prepared.take()
            self._request, self._task = prepared.request, prepared.task
        else:
            self._discard(prepared)
            self._task = asyncio.create_task(self._propose(policy, request, self._read_blob, self._save_blob))
        self._task.add_done_callback(lambda _: self._on_done())

    def prepare(self, guess: Guess, request: ProposalRequest) -> None:
        """Put a question that may be put soon; it replaces the one prepared before."""
        self._discard(self._prepared)
        self._prepared = prepared = PreparedRequest(guess, request)
        read = guess.twin.pictures.read
        propose = partial(self._propose, guess.twin_policy, request, read, prepared.hold_blob)
        prepared.task = asyncio.create_task(prepared.answer(propose, self._save_blob))

    def expected_picture(self, intent: Intent) -> BlobRef | None:
        """What the twin showed after the act that is intended now; None where it did not do it."""
        return None if self._prepared is None else picture_after(self._prepared.guess, intent)

    def _discard(self, prepared: PreparedRequest | None) -> None:
        if prepared is not None and prepared.task is not None:
            self._drop_task(prepared.task)

    def take(self) -> tuple[Proposal, ...] | PolicyError:
        """The answer, once; a failure sets the time to ask again."""
        assert self._task is not None
        task, self._task = self._task, None
        try:
            proposals = task.result()
        except PolicyError as error:
            self._failures += 1
            delay = retry_delay(error, self._failures, self._retry_policy)
            exhausted = self._failures >= self._retry_policy.tries
            self.retry_at = None if exhausted else asyncio.get_running_loop().time() + delay
            return error
        self.reset_retries()
        return proposals

    def reset_retries(self) -> None:
        """Forget earlier failures: the next question may be asked at once."""
        self._failures = 0
        self.retry_at = 0.0

    def cancel(self) -> None:
        """Cancel the running question; its request is closed in the background."""
        self._request = None
        task, self._task = self._task, None
        if task is not None:
            self._drop_task(task)

    def _drop_task(self, task: asyncio.Task[tuple[Proposal, ...]]) -> None:
        self._cancelled.add(task)
        task.add_done_callback(self._discard_result)
        task.cancel()

    def _discard_result(self, task: asyncio.Task[tuple[Proposal, ...]]) -> None:
        self._cancelled.discard(task)
        if not task.cancelled():
            task.exception()  # retrieve it, so that asyncio does not report it: the request was cancelled

    async def close(self) -> None:
        """Drop the question and wait until nothing of it runs."""
        self.cancel()
        prepared, self._prepared = self._prepared, None
        self._discard(prepared)
        if self._cancelled:
            await asyncio.wait(self._cancelled, timeout=CLOSE_SECONDS)

    async def _propose(
        self, policy: Policy, request: ProposalRequest, read_blob: ReadBlob, save_blob: SaveBlob
    ) -> tuple[Proposal, ...]:
        reported_at = 0.0

        async def report(partials: tuple[Partial, ...]) -> None:
            nonlocal reported_at
            now = asyncio.get_running_loop().time()
            if now - reported_at >= PARTIAL_INTERVAL_SECONDS and self._request is request:
                reported_at = now
                await self._on_partials(partials)

        async def propose(save_blob: SaveBlob) -> tuple[Proposal, ...]:
            proposals = await policy.propose(
                request.task,
                request.steps,
                request.observation,
                kinds=request.kinds,
                tools=request.tools,
                memories=request.memories,
                blob=read_blob,
                partial=report,
                save_blob=save_blob,
            )
            if not proposals:
                raise PolicyError("the policy offered nothing")
            return proposals

        if self._on_request is None:
            return await propose(save_blob)

        async def reported(sent: PolicyRequest) -> tuple[Proposal, ...]:
            sent.proposals = await propose(keep_prompt(sent, save_blob))
            return sent.proposals

        return await report_request(policy, policy.ref, reported, self._on_request)


CurrentPolicy = Callable[[], Policy | None]
"""Returns the present policy, or None where none proposes. Called at every decision point."""


class ProposalManager:
    """The offers of one episode. `wake` is called when there is news; what changes anything is left to who calls."""

    def __init__(
        self,
        record: EpisodeStateTracker,
        store: EpisodeStore,
        current_policy: CurrentPolicy,
        read: ReadBlob,
        retry_policy: RetryPolicy,
        wake: Callable[[], None],
        open_twin: OpenTwin | None = None,
        ends_with_page: bool = False,
    ) -> None:
        self._record = record
        self._store = store
        self._current_policy = current_policy
        on_request = record.on_request
        self._requester = ProposalRequester(
            wake, read, self._publish_partials, retry_policy, store.save_blob, on_request
        )
        self._summarizer = MemorySummarizer(wake, on_request)
        self._speculator = Speculator(store, open_twin, self._prepare) if open_twin is not None else None
        self._ends_with_page = ends_with_page
        self._stored_at: float | None = None
        self.failure: PolicyError | None = None
        """Why the policy was silent when it was asked last."""

    @property
    def _state(self) -> EpisodeState:
        return self._record.state

    @property
    def wants_proposals(self) -> bool:
        """Whether the policy is to be asked, be it not yet."""
        state = self._state
        ready = state.status == "running" and not state.takeover and state.pending is None
        ready = ready and not self._has_ended(state.observation)
        return ready and not state.proposals and not self._requester.active and state.thinking != "off"

    def _has_ended(self, observation: Observation | None) -> bool:
        page = observation.page if observation is not None and self._ends_with_page else None
        return page is not None and page.over

    @property
    def request_at(self) -> float | None:
        """When it is asked next (loop time); None where it is not, be it that patience has run out."""
        return self._requester.retry_at if self.wants_proposals else None

    @property
    def retries_exhausted(self) -> bool:
        """Whether it would be asked if patience had not run out."""
        return self.wants_proposals and self._requester.retry_at is None

    @property
    def result_ready(self) -> bool:
        """Whether an answer, or a failure, waits to be taken."""
        return self._requester.result_ready

    @property
    def memory_ready(self) -> bool:
        """Whether a note, or a failure to write one, waits to be taken."""
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
        """For how long the offers have been seen; None where there are none, or an earlier process showed them."""
        if self._stored_at is None or not self._state.proposals:
            return None
        return (asyncio.get_running_loop().time() - self._stored_at) * 1000

    async def request_now(self) -> None:
        """Ask about the screen of this moment."""
        self.request_for(self._state.steps, self._record.last_observation)
        if self._requester.active:
            return await self.publish_waiting()
        await self._record.publish_thinking("off")
        self._follow()

    async def publish_waiting(self) -> None:
        """Tell that the policy was asked, where it was."""
        if self._requester.active:
            await self._record.publish_thinking("waiting", policy=self._requester.policy_ref)
            self._follow()

    def request_for(self, steps: tuple[Step, ...], observation: Observation) -> None:
        """Ask about steps that may still be on their way into the store."""
        policy = self._current_policy()
        if policy is not None and not self._has_ended(observation):
            self._requester.request_now(policy, self._question(drop_undone_steps(steps), observation))

    def expected_picture(self, intent: Intent) -> BlobRef | None:
        """The picture that an act is likely to lead to, where a twin did it before."""
        return self._requester.expected_picture(intent)

    def _follow(self) -> None:
        """Have the twin come to where the episode stands, also while the policy is asked."""
        if self._speculator is not None and (policy := self._current_policy()) is not None:
            self._speculator.follow(self._state, policy)

    def _prepare(self, guess: Guess) -> None:
        """Ask ahead what would be asked if the first candidate were accepted."""
        self._requester.prepare(guess, self._question(guess.steps, guess.observation))

    def _question(self, past: tuple[Step, ...], observation: Observation) -> ProposalRequest:
        state = self._state
        kinds = frozenset(state.capabilities) | CONTROL_KINDS
        return ProposalRequest(state.task, past, observation, kinds, state.tools, state.memories)

    def cancel_request(self) -> None:
        """Wait for no answer any more."""
        self._requester.cancel()

    def reset_retries(self) -> None:
        """Start counting retries from zero."""
        self._requester.reset_retries()

    async def take(self) -> None:
        """Store what the policy offers, or say that it is silent; it is asked again by itself."""
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
        self._follow()
        await self._request_memory(self._current_policy())

    async def switch_policy(self) -> None:
        """Change to the current policy: withdraw the proposals and the failure of the earlier one."""
        await self.withdraw("a new policy took over")
        if self._state.noting == "failed":
            await self._record.publish_noting("idle")

    async def withdraw(self, reason: str) -> None:
        """Withdraw proposals and cancel the pending request; the policy is asked again."""
        self._requester.cancel()
        self._requester.reset_retries()
        self.failure = None
        if self._state.proposals:
            await self._record.write(self._store.withdraw_proposals(reason))
        await self._record.publish_thinking("idle")

    async def store_memory(self) -> None:
        """Store the note that was written, or say that it was not."""
        memory, author = self._summarizer.take(), self._summarizer.policy_ref
        if isinstance(memory, PolicyError):
            return await self._record.publish_noting("failed", str(memory), policy=author)
        await self._record.publish_noting("idle")
        if any(step.index == memory.through for step in drop_undone_steps(self._state.steps)):
            await self._record.change(memories=(*self._state.memories, memory))

    async def close(self) -> None:
        """Ask for nothing any more."""
        if self._speculator is not None:
            await self._speculator.close()
        await self._requester.close()
        await self._summarizer.close()

    async def _request_memory(self, policy: Policy | None) -> None:
        """Have the next note written, where the policy writes any and one is due."""
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
