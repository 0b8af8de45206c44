"""Half-written thoughts that the policy continues: one request an episode, beside the work and never before it."""

import asyncio
from collections.abc import Callable

from agent_backend.episode.proposal_requests import ProposalRequest, ReadBlob
from agent_backend.errors import ContinuationUnsupported, PolicyError
from agent_backend.interfaces import ContinuingPolicy, Emit, Policy
from protocol.messages.events import ContinuationCode, ContinueText, TextContinued

CONTINUATION_TIMEOUT_SECONDS = 3.0
"""Seconds after which nobody waits for a continuation any more."""


class ContinuationRequester:
    """Asks the policy to continue what a person writes. It stores nothing, and no proposal waits for it.

    Args:
        find_policy: The present policy; None where there is none.
        question: What it is asked about now; None where it must not be asked, as while it is asked for proposals.
    """

    def __init__(
        self,
        find_policy: Callable[[], Policy | None],
        question: Callable[[], ProposalRequest | None],
        read_blob: ReadBlob,
        timeout_seconds: float = CONTINUATION_TIMEOUT_SECONDS,
    ) -> None:
        self._find_policy = find_policy
        self._question = question
        self._read_blob = read_blob
        self._timeout_seconds = timeout_seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def request(self, draft: ContinueText, reply: Emit) -> None:
        """Ask for a continuation, which is told to `reply`; it takes the place of the one before."""
        self.cancel()
        if self._closed:
            return
        task = asyncio.create_task(self._answer(draft, reply))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self) -> None:
        """Wait for no continuation any more; its request is closed in the background, and nothing is told."""
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Drop the request, take no other, and wait until nothing of it runs."""
        self._closed = True
        self.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _answer(self, draft: ContinueText, reply: Emit) -> None:
        policy, question = self._find_policy(), self._question()
        if not isinstance(policy, ContinuingPolicy) or not policy.continues_text:
            return await reply(_without_text(draft, "unsupported"))
        if question is None:
            return await reply(_without_text(draft, "busy"))
        try:
            async with asyncio.timeout(self._timeout_seconds):
                text = await policy.continue_text(
                    question.task,
                    question.steps,
                    question.observation,
                    draft.thought,
                    kinds=question.kinds,
                    tools=question.tools,
                    memories=question.memories,
                    blob=self._read_blob,
                )
        except ContinuationUnsupported:
            return await reply(_without_text(draft, "unsupported"))
        except (PolicyError, TimeoutError):
            return await reply(_without_text(draft, "failed"))
        await reply(TextContinued(request=draft.request, text=text))


def _without_text(draft: ContinueText, code: ContinuationCode) -> TextContinued:
    return TextContinued(request=draft.request, code=code)
