"""Judges that ask a model behind an OpenAI-compatible server: one reads the whole attempt, one compares its answer, one
looks at its last screens."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Annotated, Any

import httpx
from pydantic import AfterValidator, SecretStr

from agent_backend.interfaces import SaveBlob, discard_blob
from agent_backend.judges.judge import Judge, VerifierJudge
from agent_backend.policy.completions import CompletionsClient, RequestTimeouts
from agent_backend.policy.openai_chat import ReadBlob, openai_message, validate_url
from agent_backend.policy.samples import Sample, Samples
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, ImagePart
from protocol.evaluation.judge_prompts import (
    JudgePrompt,
    build_answer_prompt,
    build_outcome_prompt,
    build_screen_prompt,
    reference_answers,
    success_criteria,
)
from protocol.evaluation.judge_replies import SampledToken, aggregate_votes, parse_vote
from protocol.evaluation.judgements import Judgement, JudgeRef, JudgeSettings, NoScoreReason
from protocol.trajectory.trajectories import Trajectory

TOP_LOGPROBS = 5
"""Tokens a place whose logprobs are asked for: the most that common servers give."""
NO_ANSWER_MESSAGE = "The agent gave no answer."
JUDGE_TIMEOUTS = RequestTimeouts(token=120.0, total=300.0)
"""A judge reads long prompts, and nobody waits at a desk for it."""


class JudgeEndpoint(FrozenModel):
    """Which model judges, where, and how it is asked."""

    ref: JudgeRef
    base_url: Annotated[str, AfterValidator(validate_url)]
    model: str
    api_key: SecretStr = SecretStr("")
    settings: JudgeSettings = JudgeSettings()
    timeouts: RequestTimeouts = JUDGE_TIMEOUTS


class ModelJudge:
    """Asks for so many votes in one request and combines them."""

    def __init__(self, endpoint: JudgeEndpoint, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self.ref = endpoint.ref
        self._endpoint = endpoint
        self._completions = CompletionsClient(
            endpoint.base_url,
            api_key=endpoint.api_key.get_secret_value(),
            timeouts=endpoint.timeouts,
            transport=transport,
        )

    async def judge(self, trajectory: Trajectory, *, blob: ReadBlob, save_blob: SaveBlob = discard_blob) -> Judgement:
        """See `Judge.judge`."""
        images = self._endpoint.settings.images
        if self.ref.kind == "outcome_model":
            messages = build_outcome_prompt(trajectory, images=images)
        elif self.ref.kind == "screen":
            if not success_criteria(trajectory.task):
                return self._judgement(trajectory, "no_criteria")
            messages = build_screen_prompt(trajectory, images=images)
        elif not reference_answers(trajectory.task):
            return self._judgement(trajectory, "no_reference")
        elif not trajectory.answer.strip():
            return self._judgement(trajectory, 0.0, words=NO_ANSWER_MESSAGE)
        else:
            messages = build_answer_prompt(trajectory.task, trajectory.answer)
        try:
            pictures = await _pictures(messages, blob)
        except KeyError:
            return self._judgement(trajectory, "screen_lost")
        return await self._ask_model(trajectory, messages, pictures, save_blob)

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._completions.aclose()

    async def _ask_model(
        self,
        trajectory: Trajectory,
        messages: tuple[ChatMessage, ...],
        pictures: dict[BlobRef, bytes],
        save_blob: SaveBlob,
    ) -> Judgement:
        started, settings = time.monotonic(), self._endpoint.settings

        async def picture(ref: BlobRef) -> bytes:
            return pictures[ref]

        request: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [await openai_message(message, picture) for message in messages],
            "stream": True,
            "n": settings.votes,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "logprobs": True,
            "top_logprobs": TOP_LOGPROBS,
            "return_token_ids": True,
        }
        samples = await self._completions.sample(request, _ignore_progress)
        prompt, data = JudgePrompt(
            judge=self.ref, model=self._endpoint.model, settings=settings, messages=messages
        ).to_blob()
        await save_blob(prompt, data)
        replies = samples.finished()[: settings.votes]
        votes = tuple(parse_vote(reply.text, _tokens(reply), reply.finish_reason) for reply in replies)
        return self._judgement(
            trajectory,
            aggregate_votes(votes, settings.combine, settings.votes),
            words=votes[0].words if votes else "",
            votes=votes,
            prompt=prompt,
            prompt_tokens=None if samples.prompt_token_ids is None else len(samples.prompt_token_ids),
            completion_tokens=_completion_tokens(replies),
            weight_versions=samples.weight_versions,
            latency_ms=(time.monotonic() - started) * 1000,
        )

    def _judgement(self, trajectory: Trajectory, result: float | NoScoreReason, **fields: Any) -> Judgement:
        score_fields = {"unsaid": result} if isinstance(result, str) else {"score": result}
        return Judgement.model_validate(
            {
                "trajectory": trajectory.id,
                "judge": self.ref,
                "judged_at": datetime.now(UTC),
                **score_fields,
                **fields,
            }
        )


def create_judge(endpoint: JudgeEndpoint | None) -> Judge:
    """The judge at an endpoint; without one, the verifier."""
    return VerifierJudge() if endpoint is None else ModelJudge(endpoint)


async def _pictures(messages: tuple[ChatMessage, ...], blob: ReadBlob) -> dict[BlobRef, bytes]:
    """The bytes of every picture in a conversation. Raises KeyError for one that is lost."""
    refs = {part.image for message in messages for part in message.content if isinstance(part, ImagePart)}
    return dict(zip(refs, await asyncio.gather(*map(blob, refs)), strict=True))


def _tokens(sample: Sample) -> tuple[SampledToken, ...]:
    """What stood at each place of a reply, the sampled token among it."""
    return tuple(
        SampledToken(
            text=token.token,
            alternatives=tuple({other.token: other.logprob for other in (token, *(token.top_logprobs or ()))}.items()),
        )
        for token in sample.alternatives
    )


def _completion_tokens(replies: list[Sample]) -> int | None:
    """The length of all replies together, where the server lists their tokens."""
    counts = [len(reply.token_ids) or len(reply.logprobs) for reply in replies]
    return sum(counts) if counts and all(counts) else None


async def _ignore_progress(_: Samples) -> None:
    """Nobody reads along."""
