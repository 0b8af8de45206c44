"""Judges that ask a model behind an OpenAI-compatible server: one reads the attempt, one compares its answer."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Annotated, Any

import httpx
from pydantic import AfterValidator, SecretStr

from agent_backend.judges.judge import Judge, VerifierJudge
from agent_backend.policy.completions import Completions, Waits
from agent_backend.policy.openai import ReadBlob, an_address, written
from agent_backend.policy.samples import Sample, Samples
from agent_backend.ports import KeepBlob, keep_nothing
from vocabulary.base import Frozen
from vocabulary.blobs import BlobRef
from vocabulary.dialect import ChatMessage, ImagePart
from vocabulary.judgements import Judgement, JudgeRef, JudgeSettings, Unsaid
from vocabulary.judging import JudgePrompt, answer_asked, outcome_asked, references_of
from vocabulary.trajectories import Trajectory
from vocabulary.verdicts import Token, combined, vote_read

ALTERNATIVES = 5
"""Tokens a place whose logprobs are asked for: the most that common servers give."""
NO_ANSWER = "The agent gave no answer."
PATIENCE = Waits(token=120.0, total=300.0)
"""A judge reads long prompts, and nobody waits at a desk for it."""


class JudgeEndpoint(Frozen):
    """Which model judges, where, and how it is asked."""

    ref: JudgeRef
    base_url: Annotated[str, AfterValidator(an_address)]
    model: str
    api_key: SecretStr = SecretStr("")
    settings: JudgeSettings = JudgeSettings()
    waits: Waits = PATIENCE


class ModelJudge:
    """Asks for so many votes in one request and combines them."""

    def __init__(self, endpoint: JudgeEndpoint, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.ref = endpoint.ref
        self._endpoint = endpoint
        self._completions = Completions(
            endpoint.base_url,
            api_key=endpoint.api_key.get_secret_value(),
            waits=endpoint.waits,
            transport=transport,
        )

    async def judge(self, trajectory: Trajectory, *, blob: ReadBlob, keep: KeepBlob = keep_nothing) -> Judgement:
        """See `Judge.judge`."""
        if self.ref.kind == "outcome_model":
            messages = outcome_asked(trajectory, images=self._endpoint.settings.images)
        elif not references_of(trajectory.task):
            return self._said(trajectory, "no_reference")
        elif not trajectory.answer.strip():
            return self._said(trajectory, 0.0, words=NO_ANSWER)
        else:
            messages = answer_asked(trajectory.task, trajectory.answer)
        try:
            pictures = await _pictures(messages, blob)
        except KeyError:
            return self._said(trajectory, "screen_lost")
        return await self._asked(trajectory, messages, pictures, keep)

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._completions.aclose()

    async def _asked(
        self,
        trajectory: Trajectory,
        messages: tuple[ChatMessage, ...],
        pictures: dict[BlobRef, bytes],
        keep: KeepBlob,
    ) -> Judgement:
        started, settings = time.monotonic(), self._endpoint.settings

        async def picture(ref: BlobRef) -> bytes:
            return pictures[ref]

        request: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [await written(message, picture) for message in messages],
            "stream": True,
            "n": settings.votes,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "logprobs": True,
            "top_logprobs": ALTERNATIVES,
            "return_token_ids": True,
        }
        samples = await self._completions.sample(request, _unheard)
        prompt, data = JudgePrompt(
            judge=self.ref, model=self._endpoint.model, settings=settings, messages=messages
        ).packed()
        await keep(prompt, data)
        replies = samples.finished()[: settings.votes]
        votes = tuple(vote_read(reply.text, _tokens(reply), reply.finish_reason) for reply in replies)
        return self._said(
            trajectory,
            combined(votes, settings.combine, settings.votes),
            words=votes[0].words if votes else "",
            votes=votes,
            prompt=prompt,
            prompt_tokens=None if samples.prompt_token_ids is None else len(samples.prompt_token_ids),
            completion_tokens=_completion_tokens(replies),
            weight_versions=samples.weight_versions,
            latency_ms=(time.monotonic() - started) * 1000,
        )

    def _said(self, trajectory: Trajectory, said: float | Unsaid, **fields: Any) -> Judgement:
        scored = {"unsaid": said} if isinstance(said, str) else {"score": said}
        return Judgement.model_validate(
            {
                "trajectory": trajectory.id,
                "judge": self.ref,
                "judged_at": datetime.now(UTC),
                **scored,
                **fields,
            }
        )


def judge_of(endpoint: JudgeEndpoint | None) -> Judge:
    """The judge at an endpoint; without one, the verifier."""
    return VerifierJudge() if endpoint is None else ModelJudge(endpoint)


async def _pictures(messages: tuple[ChatMessage, ...], blob: ReadBlob) -> dict[BlobRef, bytes]:
    """The bytes of every picture in a conversation. Raises KeyError for one that is lost."""
    refs = {part.image for message in messages for part in message.content if isinstance(part, ImagePart)}
    return dict(zip(refs, await asyncio.gather(*map(blob, refs)), strict=True))


def _tokens(sample: Sample) -> tuple[Token, ...]:
    """What stood at each place of a reply, the sampled token among it."""
    return tuple(
        Token(
            text=token.token,
            alternatives=tuple({other.token: other.logprob for other in (token, *(token.top_logprobs or ()))}.items()),
        )
        for token in sample.alternatives
    )


def _completion_tokens(replies: list[Sample]) -> int | None:
    """The length of all replies together, where the server lists their tokens."""
    counts = [len(reply.token_ids) or len(reply.logprobs) for reply in replies]
    return sum(counts) if counts and all(counts) else None


async def _unheard(_: Samples) -> None:
    """Nobody reads along."""
