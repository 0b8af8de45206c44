"""A policy behind any OpenAI-compatible server: vLLM, the bundled model server, a script."""

import asyncio
import base64
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Annotated, Any

import httpx
from pydantic import AfterValidator, HttpUrl, JsonValue, SecretStr, TypeAdapter

from agent_backend.errors import PolicyError, PolicyUnavailable
from agent_backend.interfaces import SaveBlob, discard_blob
from agent_backend.policy.candidates import build_proposals, other_model_warning
from agent_backend.policy.completions import CompletionsClient, RequestTimeouts
from agent_backend.policy.continuations import ContinuationSupport, continue_reply
from agent_backend.policy.image_scaling import image_sizes, scaling_mismatch
from agent_backend.policy.memory_prompt import MAX_MEMORY_TOKENS, render_memory_prompt
from agent_backend.policy.samples import Samples
from agent_backend.policy.token_counts import TokenCounter
from agent_backend.telemetry.requests import ModelDescription, add_usage, describe_model
from protocol.actions.tools import Tool
from protocol.base import FrozenModel
from protocol.blobs import BlobRef
from protocol.dialects.dialect import ChatMessage, ImagePart, ParsedReply, ScreenSize, TextPart, UnparsedReply
from protocol.dialects.families import get_dialect
from protocol.dialects.prompt_template import PromptTemplate
from protocol.dialects.prompts import Prompt
from protocol.messages.events import Partial
from protocol.providers import Provider, ProviderSettings
from protocol.sampling import SamplingParams as SamplingParams
from protocol.trajectory.memory import (
    HistoryBudget,
    Memory,
    RecalledHistory,
    recall_history,
    step_text,
    steps_to_summarize,
)
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task

HTTP_URL: TypeAdapter[HttpUrl] = TypeAdapter(HttpUrl)
MAX_MEMORY_CHARACTERS = 4_000
"""Characters of a note that are kept."""
ReadBlob = Callable[[BlobRef], Awaitable[bytes]]


def validate_url(url: str) -> str:
    """Return the address unchanged. Raises ValueError if no request can be sent to it."""
    HTTP_URL.validate_python(url)
    return url


class PolicyEndpoint(FrozenModel):
    """A model, its server and its settings. `revision` names this set of weights."""

    base_url: Annotated[str, AfterValidator(validate_url)]
    """Ends in `/v1` where the server's paths do."""
    model: str
    dialect: str
    name: str
    revision: str
    scripted: bool = False
    """Whether it answers from a script instead of a model."""
    teacher: bool = False
    """See `PolicyRef`."""
    provider: Provider = "openai_compatible"
    settings: ProviderSettings = ProviderSettings()
    """Of a provider of hosted models."""
    api_key: SecretStr = SecretStr("")
    language: str = "English"
    sampling: SamplingParams = SamplingParams()
    timeouts: RequestTimeouts = RequestTimeouts()
    budget: HistoryBudget = HistoryBudget()
    prompt: PromptTemplate | None = None
    """None: the dialect's own."""


class OpenAIPolicy:
    """Proposes the replies of the model at an endpoint: n replies, streamed, parsed, merged and ranked."""

    def __init__(self, endpoint: PolicyEndpoint, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._endpoint = endpoint
        self._dialect = get_dialect(endpoint.dialect, endpoint.prompt)
        self._completions = CompletionsClient(
            endpoint.base_url,
            api_key=endpoint.api_key.get_secret_value(),
            timeouts=endpoint.timeouts,
            transport=transport,
        )
        self._continuation_support = ContinuationSupport(f"{endpoint.name} {endpoint.revision}")
        self._tokens = TokenCounter(lambda text: self._completions.count(endpoint.model, text))
        self.ref = PolicyRef(
            name=endpoint.name,
            revision=endpoint.revision,
            dialect=endpoint.dialect,
            scripted=endpoint.scripted,
            teacher=endpoint.teacher,
        )

    @property
    def description(self) -> ModelDescription:
        """See `DescribedPolicy.description`."""
        endpoint = self._endpoint
        return describe_model(endpoint.provider, endpoint.model, endpoint.sampling, endpoint.base_url)

    async def propose(
        self,
        task: Task,
        steps: tuple[Step, ...],
        observation: Observation,
        *,
        kinds: frozenset[str],
        tools: tuple[Tool, ...] = (),
        memories: tuple[Memory, ...] = (),
        blob: ReadBlob,
        partial: Callable[[tuple[Partial, ...]], Awaitable[None]],
        save_blob: SaveBlob = discard_blob,
    ) -> tuple[Proposal, ...]:
        """See `Policy.propose`.

        Raises:
            PolicyUnavailable: The server answers without any reply.
            PolicyError: Anything else that `Policy.propose` raises.
        """
        started = time.monotonic()
        budget, sampling = self._endpoint.budget, self._endpoint.sampling
        history = recall_history(steps, memories, budget, self._tokens.length)
        messages = self._render(task, history, observation, kinds, tools)
        limits = self._dialect.limits
        prompt, data = Prompt(
            policy=self.ref, model=self._endpoint.model, image_limits=limits, messages=messages
        ).to_blob()
        saving: asyncio.Task[None] | None = None
        received = Samples()

        async def on_samples(samples: Samples) -> None:
            nonlocal saving, received
            received = samples
            if saving is None:  # concurrent with the answer, which it must not delay, and not before it begins
                saving = asyncio.ensure_future(save_blob(prompt, data))
                self._tokens.count_in_background([*map(step_text, steps), *(memory.text for memory in memories)])
            await partial(samples.partials())

        try:
            request, *others = await self._requests(messages, blob)
            samples = await self._completions.sample(request, on_samples, *others)
            await (saving or save_blob(prompt, data))
        except BaseException:  # also after a cancellation: the tokens until then were computed
            if received.prompt_token_ids is not None:
                add_usage(len(received.prompt_token_ids), received.tokens_written)
            raise
        finally:
            if saving is not None and not saving.done():
                saving.cancel()
        if not samples.by_index:
            raise PolicyUnavailable("the model server answered without any reply (no choices): look into its log")
        screen = ScreenSize.of(observation)
        sizes = image_sizes(messages, history.steps, observation)
        scaling = scaling_mismatch(samples.prompt_token_ids or (), sizes, limits) if self._dialect.absolute else ""
        other_model = other_model_warning(self._endpoint.model, samples.models, "The model server")

        def parse(text: str, **options: Any) -> ParsedReply | UnparsedReply:
            return self._dialect.parse(text, screen, max_actions=sampling.max_actions, **options)

        return build_proposals(
            samples,
            parse,
            policy=self.ref,
            sampling=sampling.model_dump(mode="json"),
            latency_ms=(time.monotonic() - started) * 1000,
            prompt=prompt,
            image_limits=limits,
            warning=" ".join(filter(None, (scaling, other_model))),
        )

    def _render(
        self,
        task: Task,
        history: RecalledHistory,
        observation: Observation,
        kinds: frozenset[str],
        tools: tuple[Tool, ...],
    ) -> tuple[ChatMessage, ...]:
        return self._dialect.render(
            task,
            history.steps,
            observation,
            images=self._endpoint.budget.images,
            stride=self._endpoint.budget.stride,
            earlier=history.earlier,
            memories=history.memories,
            kinds=kinds,
            tools=tools,
            language=self._endpoint.language,
            max_actions=self._endpoint.sampling.max_actions,
        )

    @property
    def continues_text(self) -> bool:
        """See `ContinuingPolicy.continues_text`; false for ten minutes after the server shows that it cannot."""
        return self._continuation_support.available

    async def continue_text(
        self,
        task: Task,
        steps: tuple[Step, ...],
        observation: Observation,
        thought: str,
        *,
        kinds: frozenset[str],
        tools: tuple[Tool, ...] = (),
        memories: tuple[Memory, ...] = (),
        blob: ReadBlob,
    ) -> str:
        """See `ContinuingPolicy.continue_text`."""

        async def complete(reply: str, options: dict[str, JsonValue]) -> Samples:
            history = recall_history(steps, memories, self._endpoint.budget, self._tokens.length)
            asked = self._render(task, history, observation, kinds, tools)
            messages = [*await self._openai_messages(asked, blob), {"role": "assistant", "content": reply}]
            return await self._completions.sample_once({"model": self._endpoint.model, "messages": messages} | options)

        screen = ScreenSize.of(observation)
        return await self._continuation_support.watch(continue_reply(self._dialect, thought, screen, complete))

    @property
    def writes_memories(self) -> bool:
        """See `SummarizingPolicy.writes_memories`; a script has no memory."""
        return bool(self._endpoint.budget.episode) and not self.ref.scripted

    def steps_to_summarize(self, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> tuple[Step, ...]:
        """See `SummarizingPolicy.steps_to_summarize`."""
        return steps_to_summarize(steps, memories, self._endpoint.budget) if self.writes_memories else ()

    async def write_memory(self, task: Task, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> Memory:
        """See `SummarizingPolicy.write_memory`. Raises PolicyError for an empty note, or no step to summarize."""
        summarized = self.steps_to_summarize(steps, memories)
        body = render_memory_prompt(task, summarized, memories, language=self._endpoint.language)
        text = await self.write_text(body, max_tokens=MAX_MEMORY_TOKENS)
        if not text or not summarized:
            raise PolicyError("the policy wrote no note")
        return Memory(through=summarized[-1].index, text=text, policy=self.ref, written_at=datetime.now(UTC))

    async def write_text(self, messages: tuple[ChatMessage, ...], *, max_tokens: int) -> str:
        """See `WritingPolicy.write_text`."""
        request = {
            "model": self._endpoint.model,
            "messages": [await openai_message(message, _reject_pictures) for message in messages],
            "stream": True,
            "temperature": 0,
            "max_tokens": max_tokens,
        }
        samples = await self._completions.sample(request, _ignore_progress)
        return " ".join(sample.text for sample in samples.finished()).strip()[:MAX_MEMORY_CHARACTERS]

    @property
    def language(self) -> str:
        """See `WritingPolicy.language`."""
        return self._endpoint.language

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._tokens.aclose()
        await self._completions.aclose()

    async def _openai_messages(self, messages: tuple[ChatMessage, ...], blob: ReadBlob) -> list[dict[str, JsonValue]]:
        return await asyncio.gather(*(openai_message(message, blob) for message in messages))

    async def _requests(self, messages: tuple[ChatMessage, ...], blob: ReadBlob) -> list[dict[str, Any]]:
        body = {
            "model": self._endpoint.model,
            "messages": await self._openai_messages(messages, blob),
            "stream": True,
            "logprobs": True,
            "top_logprobs": 0,
            "return_token_ids": True,
        }
        return [body | sampling_fields for sampling_fields in self._endpoint.sampling.requests()]


async def _reject_pictures(ref: BlobRef) -> bytes:
    """A note is asked for in text alone."""
    raise KeyError(ref.sha256)


async def _ignore_progress(_: Samples) -> None:
    """Ignores the growing note."""


async def openai_message(message: ChatMessage, blob: ReadBlob) -> dict[str, JsonValue]:
    """A chat message in OpenAI's words; text alone stays a plain string, which every chat template takes."""
    if all(isinstance(part, TextPart) for part in message.content):
        text = "".join(part.text for part in message.content if isinstance(part, TextPart))
        return {"role": message.role, "content": text}
    return {"role": message.role, "content": [await openai_content_part(part, blob) for part in message.content]}


async def openai_content_part(part: TextPart | ImagePart, blob: ReadBlob) -> dict[str, JsonValue]:
    """One part; a picture is sent as the very bytes that were stored. Raises PolicyError where they are lost."""
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    try:
        data = base64.b64encode(await blob(part.image)).decode()
    except KeyError:
        raise PolicyError("a screenshot of this episode is lost, so the policy cannot propose") from None
    return {"type": "image_url", "image_url": {"url": f"data:{part.image.media_type};base64,{data}"}}
