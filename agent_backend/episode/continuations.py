"""Lets the policy continue half-written thoughts: at most one request an episode at a time, in the background.
Proposals never wait for it."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from agent_backend.episode.proposal_requests import ProposalRequest, ReadBlob
from agent_backend.errors import ContinuationUnsupported, PolicyError
from agent_backend.interfaces import ContinuingPolicy, Emit, Policy
from agent_backend.telemetry.requests import OnRequest, report_request
from protocol.messages.events import ContinuationCode, ContinueText, TextContinued
from protocol.trajectory.proposals import PolicyRef

logger = logging.getLogger(__name__)

CONTINUATION_TIMEOUT_SECONDS = 3.0
"""Timeout of a continuation, in seconds."""
MIN_INTERVAL_SECONDS = 0.3
"""Seconds between the starts of two requests to the policy, for one episode."""


class ContinuationRequester:
    """Asks the policy to continue what a person writes. It stores nothing, and no proposal waits for it.

    Args:
        find_policy: The current policy; None if there is none.
        question: The decision that it is asked about now; None while it must not be asked, for example during a request
            for proposals.
        is_allowed: Whether the pool allows continuations.
        holds_secret: Whether a text holds the value of a secret of the pool. Such a text is not sent.
        on_request: Called with each request when it has ended.
    """

    def __init__(
        self,
        find_policy: Callable[[], Policy | None],
        question: Callable[[], ProposalRequest | None],
        read_blob: ReadBlob,
        timeout_seconds: float = CONTINUATION_TIMEOUT_SECONDS,
        *,
        is_allowed: Callable[[], bool] = lambda: True,
        holds_secret: Callable[[str], bool] = lambda _: False,
        on_request: OnRequest | None = None,
    ) -> None:
        self._find_policy = find_policy
        self._question = question
        self._read_blob = read_blob
        self._timeout_seconds = timeout_seconds
        self._is_allowed = is_allowed
        self._holds_secret = holds_secret
        self._on_request = on_request
        self._next_at = 0.0
        """The earliest time of the next request (loop time)."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def request(self, draft: ContinueText, reply: Emit) -> None:
        """Ask for a continuation and emit it to `reply`. A request that still runs is cancelled."""
        self.cancel()
        if self._closed:
            return
        task = asyncio.create_task(self._answer(draft, reply))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """Cancel the current request without an answer; it is closed in the background."""
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Cancel the request, accept no other, and wait until none runs."""
        self._closed = True
        self.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer(self, draft: ContinueText, reply: Emit) -> None:
        try:
            answer = await self._continue(draft)
        except Exception:
            logger.exception("a thought was not continued")
            answer = _without_text(draft, "failed")
        await reply(answer)

    async def _continue(self, draft: ContinueText) -> TextContinued:
        if not self._is_allowed():
            return _without_text(draft, "unsupported")
        await self._wait_for_turn()
        policy, question = self._find_policy(), self._question()
        if policy is None or question is None:
            return _without_text(draft, "busy")
        if not isinstance(policy, ContinuingPolicy) or not policy.continues_text:
            return _without_text(draft, "unsupported", policy.ref)
        if self._holds_secret(draft.thought):
            return _without_text(draft, "")
        self._next_at = asyncio.get_running_loop().time() + MIN_INTERVAL_SECONDS
        try:
            async with asyncio.timeout(self._timeout_seconds):
                text = await self._ask(policy, question, draft.thought)
        except ContinuationUnsupported:
            return _without_text(draft, "unsupported", policy.ref)
        except (PolicyError, TimeoutError):
            return _without_text(draft, "failed")
        return TextContinued(request=draft.request, text=text, policy=policy.ref)

    async def _wait_for_turn(self) -> None:
        """Wait until the next request is allowed. A later request cancels the wait."""
        await asyncio.sleep(max(0.0, self._next_at - asyncio.get_running_loop().time()))

    async def _ask(self, policy: ContinuingPolicy, question: ProposalRequest, thought: str) -> str:
        ask = partial(
            policy.continue_text,
            question.task,
            question.steps,
            question.observation,
            thought,
            kinds=question.kinds,
            tools=question.tools,
            memories=question.memories,
            blob=self._read_blob,
        )
        if self._on_request is None:
            return await ask()
        return await report_request(policy, policy.ref, lambda _: ask(), self._on_request)


def _without_text(draft: ContinueText, code: ContinuationCode, policy: PolicyRef | None = None) -> TextContinued:
    return TextContinued(request=draft.request, code=code, policy=policy)
