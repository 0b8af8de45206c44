"""Sends model requests at a decision point, with retries. Prepared requests are sent before they are needed."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from agent_backend.episode.prepared_uses import PreparedUse, PreparedUseRecorder, begin_use, end_request
from agent_backend.episode.speculation import Guess, matches_guess, picture_after
from agent_backend.errors import PolicyError, PolicyRejected, PolicyUnavailable
from agent_backend.interfaces import Intent, Policy, SaveBlob, discard_blob
from agent_backend.telemetry.requests import OnRequest, PolicyRequest, keep_prompt, report_request
from protocol.actions.tools import Tool
from protocol.blobs import BlobRef
from protocol.messages.events import Partial
from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task

ReadBlob = Callable[[BlobRef], Awaitable[bytes]]


@dataclass(frozen=True, slots=True)
class ProposalRequest:
    """A request to the policy at a decision point."""

    task: Task
    steps: tuple[Step, ...]
    observation: Observation
    kinds: frozenset[str]
    tools: tuple[Tool, ...] = ()
    memories: tuple[Memory, ...] = ()


class PreparedRequest:
    """A model request that is sent before it is needed. What it would store waits until the episode needs it."""

    def __init__(self, guess: Guess, request: ProposalRequest, note_use: Callable[[PreparedUse], None]) -> None:
        self.guess = guess
        self.request = request
        self._note_use = note_use
        self._use = begin_use()
        note_use(self._use)
        self.task: asyncio.Task[tuple[Proposal, ...]] | None = None
        self._blobs: dict[BlobRef, bytes] = {}
        self._taken = asyncio.Event()

    async def hold_blob(self, ref: BlobRef, data: bytes) -> None:
        """Keep a blob until the request is used."""
        self._blobs[ref] = data

    def take(self) -> None:
        """Use the request: the episode has reached its decision point."""
        self._change_use(self._use.model_copy(update={"outcome": "used"}))
        self._taken.set()

    def discard(self) -> None:
        """Discard the request; nothing is stored for it."""
        self._change_use(self._use.model_copy(update={"outcome": "discarded"}))

    def end_request(self, request: PolicyRequest) -> None:
        """Record the cost of the request, once it has ended."""
        self._change_use(end_request(self._use, request))

    def _change_use(self, use: PreparedUse) -> None:
        self._use = use
        self._note_use(use)

    async def answer(
        self, propose: Callable[[], Awaitable[tuple[Proposal, ...]]], save_blob: SaveBlob
    ) -> tuple[Proposal, ...]:
        """The answer, once the request is used and its blobs are stored. Raises PolicyError."""
        proposals = await propose()
        await self._taken.wait()
        for ref, data in self._blobs.items():
            await save_blob(ref, data)
        return proposals


def is_prepared(prepared: PreparedRequest, policy: Policy, request: ProposalRequest) -> bool:
    """Whether a request equals the prepared one."""
    ahead = prepared.request
    same = (ahead.task, ahead.kinds, ahead.tools, ahead.memories) == (
        request.task,
        request.kinds,
        request.tools,
        request.memories,
    )
    return (
        same and prepared.guess.policy is policy and matches_guess(prepared.guess, request.steps, request.observation)
    )


PARTIAL_INTERVAL_SECONDS = 0.1
"""Seconds between two updates of growing texts. Ten updates a second look smooth and do not flood a socket."""
CLOSE_SECONDS = 5.0
"""How long `close` waits for cancelled requests to end."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often a failed request is retried at one decision point, and after how long (seconds)."""

    first: float = 1.0
    longest: float = 30.0
    tries: int = 12


def retry_delay(error: PolicyError, failures: int, retry_policy: RetryPolicy) -> float:
    """Seconds until the next retry: longer each time, and at least as long as the server asks for. After a refusal it
    is the longest delay: the server refuses the request until a person changes something."""
    if isinstance(error, PolicyRejected):
        return retry_policy.longest
    requested_delay = error.retry_after if isinstance(error, PolicyUnavailable) else None
    return max(min(retry_policy.longest, retry_policy.first * 2.0 ** (failures - 1)), requested_delay or 0.0)


class ProposalRequester:
    """Sends requests, streams their answers, cancels them, and retries them later. It stores nothing: the caller
    records the answer."""

    def __init__(
        self,
        on_done: Callable[[], None],
        blob: ReadBlob,
        on_partials: Callable[[tuple[Partial, ...]], Awaitable[None]],
        retry_policy: RetryPolicy,
        save_blob: SaveBlob = discard_blob,
        on_request: OnRequest | None = None,
        record_use: Callable[[PreparedUse], Awaitable[None]] | None = None,
    ) -> None:
        self._uses = PreparedUseRecorder(record_use or _count_nothing)
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
        """The policy of the last request."""
        self.retry_at: float | None = 0.0
        """The earliest time of the next request (loop time); None once all retries are used up."""

    @property
    def policy_ref(self) -> PolicyRef | None:
        """The revision of the last request."""
        return None if self.policy is None else self.policy.ref

    @property
    def active(self) -> bool:
        """Whether a request runs or an answer is ready for `take`."""
        return self._task is not None

    @property
    def result_ready(self) -> bool:
        """Whether an answer or a failure is ready for `take`."""
        return self._task is not None and self._task.done()

    def request_now(self, policy: Policy, request: ProposalRequest) -> None:
        """Send a request; an earlier one is cancelled."""
        prepared, self._prepared = self._prepared, None
        self.cancel()
        self.policy = policy
        self._request = request
        if prepared is not None and prepared.task is not None and is_prepared(prepared, policy, request):
            prepared.take()
            self._request, self._task = prepared.request, prepared.task
        else:
            self._discard(prepared)
            ask = self._propose(policy, request, self._read_blob, self._save_blob, self._on_request)
            self._task = asyncio.create_task(ask)
        self._task.add_done_callback(lambda _: self._on_done())

    def prepare(self, guess: Guess, request: ProposalRequest) -> None:
        """Send a request that may be needed soon; it replaces the one prepared before."""
        self._discard(self._prepared)
        self._prepared = prepared = PreparedRequest(guess, request, self._uses.note)

        def on_request(sent: PolicyRequest) -> None:
            prepared.end_request(sent)
            if self._on_request is not None:
                self._on_request(sent)

        read = guess.twin.pictures.read
        propose = partial(self._propose, guess.twin_policy, request, read, prepared.hold_blob, on_request)
        prepared.task = asyncio.create_task(prepared.answer(propose, self._save_blob))

    def expected_picture(self, intent: Intent) -> BlobRef | None:
        """What the twin showed after the action that is pending now; None if the twin did not do it."""
        return None if self._prepared is None else picture_after(self._prepared.guess, intent)

    def _discard(self, prepared: PreparedRequest | None) -> None:
        if prepared is not None and prepared.task is not None:
            prepared.discard()
            self._drop_task(prepared.task)

    def take(self) -> tuple[Proposal, ...] | PolicyError:
        """Return the answer, once. A failure sets the time of the next retry."""
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
        """Forget earlier failures: the next request may be sent at once."""
        self._failures = 0
        self.retry_at = 0.0

    def cancel(self) -> None:
        """Cancel the running request; its connection is closed in the background."""
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
            task.exception()  # retrieve the exception, so that asyncio does not report it: the request was cancelled

    async def close(self) -> None:
        """Cancel the request and wait until nothing of it runs."""
        self.cancel()
        prepared, self._prepared = self._prepared, None
        self._discard(prepared)
        if self._cancelled:
            await asyncio.wait(self._cancelled, timeout=CLOSE_SECONDS)
        await self._uses.close(within=CLOSE_SECONDS)

    async def _propose(
        self,
        policy: Policy,
        request: ProposalRequest,
        read_blob: ReadBlob,
        save_blob: SaveBlob,
        on_request: OnRequest | None,
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

        if on_request is None:
            return await propose(save_blob)

        async def reported(sent: PolicyRequest) -> tuple[Proposal, ...]:
            sent.proposals = await propose(keep_prompt(sent, save_blob))
            return sent.proposals

        return await report_request(policy, policy.ref, reported, on_request)


async def _count_nothing(use: PreparedUse) -> None:
    """Discards the use, in an episode without twins."""
