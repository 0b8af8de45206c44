"""Judges that ask a model behind an OpenAI-compatible server: one reads the whole attempt, one compares its answer, one
reads its last screens."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Annotated, Any

import httpx
from pydantic import AfterValidator, SecretStr

from agent_backend.interfaces import SaveBlob, discard_blob
from agent_backend.judges.judge import Judge, VerifierJudge
from agent_backend.judges.key_point_requests import KeyPointReply, KeyPointRequests
from agent_backend.policy.completions import CompletionsClient, RequestTimeouts
from agent_backend.policy.openai_chat import ReadBlob, openai_message, validate_url
from agent_backend.policy.samples import Sample, Samples
from protocol.base import FrozenModel
from protocol.benchmarks.forms import BENCHMARK
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, ImagePart
from protocol.evaluation.answer_matching import is_same_answer
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
from protocol.trajectory.sealing import Seal
from protocol.trajectory.trajectories import Trajectory

TOP_LOGPROBS = 5
"""Tokens a place whose logprobs are asked for: the most that common servers give."""
NO_ANSWER_MESSAGE = "The agent gave no answer."
SAME_ANSWER_MESSAGE = "The answer is the reference answer, written in another way at most."
JUDGE_TIMEOUTS = RequestTimeouts(token=120.0, total=300.0)
"""A judge reads long prompts, and no annotator waits for it."""


class ScreenLost(Exception):
    """A picture of an attempt is gone."""


class JudgeEndpoint(FrozenModel):
    """The judging model, its server and its settings."""

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
        if Seal.of(trajectory.task) is not None:  # prompts and replies repeat the words of a sealed task
            judgement = await self._judge(trajectory, blob, discard_blob)
            votes = tuple(vote.model_copy(update={"words": ""}) for vote in judgement.votes)
            return judgement.model_copy(update={"words": "", "votes": votes, "prompt": None})
        return await self._judge(trajectory, blob, save_blob)

    async def _judge(self, trajectory: Trajectory, blob: ReadBlob, save_blob: SaveBlob) -> Judgement:
        try:
            if self.ref.kind == "screen" and self._endpoint.settings.method == "key_points":
                return await self._judge_key_points(trajectory, blob, save_blob)
            messages = self._messages(trajectory)
            if isinstance(messages, Judgement):
                return messages
            return await self._ask_for_votes(trajectory, messages, blob, save_blob)
        except ScreenLost:
            return self._judgement(trajectory, "screen_lost")

    def _messages(self, trajectory: Trajectory) -> tuple[ChatMessage, ...] | Judgement:
        """The prompt, or the judgement if no model is needed. Raises ValueError for a kind that uses no model."""
        images = self._endpoint.settings.images
        match self.ref.kind:
            case "outcome_model":
                return build_outcome_prompt(trajectory, images=images)
            case "screen" if not success_criteria(trajectory.task):
                return self._judgement(trajectory, "no_criteria")
            case "screen":
                return build_screen_prompt(trajectory, images=images)
            case "reference":
                return self._answer_messages(trajectory)
            case "verifier":
                raise ValueError("the verifier is no model")

    def _answer_messages(self, trajectory: Trajectory) -> tuple[ChatMessage, ...] | Judgement:
        task = trajectory.task
        references = reference_answers(task)
        if not references:
            return self._judgement(trajectory, "no_reference")
        if not trajectory.answer.strip():
            return self._judgement(trajectory, 0.0, words=NO_ANSWER_MESSAGE)
        if BENCHMARK in task.parameters and is_same_answer(trajectory.answer, references):
            return self._judgement(trajectory, 1.0, words=SAME_ANSWER_MESSAGE)
        return build_answer_prompt(task, trajectory.answer)

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._completions.aclose()

    async def _judge_key_points(self, trajectory: Trajectory, blob: ReadBlob, save_blob: SaveBlob) -> Judgement:
        """See `protocol.evaluation.key_points`. Raises ScreenLost."""
        settings = self._endpoint.settings
        asked = KeyPointRequests(lambda messages: self._reply(messages, blob))
        messages = await asked.verdict_prompt(trajectory, threshold=settings.rating_threshold, most=settings.images)
        if isinstance(messages, str):
            return self._judgement(trajectory, messages)
        judgement = await self._ask_for_votes(trajectory, messages, blob, save_blob)
        prompt, written = judgement.prompt_tokens, judgement.completion_tokens
        return judgement.model_copy(
            update={
                "prompt_tokens": None if prompt is None else prompt + asked.prompt_tokens,
                "completion_tokens": None if written is None else written + asked.completion_tokens,
            }
        )

    async def _reply(self, messages: tuple[ChatMessage, ...], blob: ReadBlob) -> KeyPointReply:
        """One reply at temperature 0."""
        request = await self._request(messages, blob) | {"n": 1, "temperature": 0.0}
        samples = await self._completions.sample(request, _ignore_progress)
        replies = samples.finished()[:1]
        return KeyPointReply(
            text=replies[0].text if replies else "",
            prompt_tokens=len(samples.prompt_token_ids or ()),
            completion_tokens=_completion_tokens(replies) or 0,
        )

    async def _request(self, messages: tuple[ChatMessage, ...], blob: ReadBlob) -> dict[str, Any]:
        """Raises ScreenLost."""
        settings = self._endpoint.settings
        try:
            pictures = await _pictures(messages, blob)
        except KeyError as error:
            raise ScreenLost from error

        async def picture(ref: BlobRef) -> bytes:
            return pictures[ref]

        return {
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

    async def _ask_for_votes(
        self, trajectory: Trajectory, messages: tuple[ChatMessage, ...], blob: ReadBlob, save_blob: SaveBlob
    ) -> Judgement:
        """Raises ScreenLost."""
        started, settings = time.monotonic(), self._endpoint.settings
        request = await self._request(messages, blob)
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
    """The alternatives at each position of a reply, the sampled token included."""
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
    """Ignores the growing reply."""
