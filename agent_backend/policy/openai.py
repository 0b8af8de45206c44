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
from agent_backend.policy.candidates import candidates
from agent_backend.policy.completions import Completions, Waits
from agent_backend.policy.limits import mismatch, sizes_of
from agent_backend.policy.notes import NOTE_TOKENS, note_asked
from agent_backend.policy.samples import Samples
from agent_backend.policy.tokens import TokenCounts
from agent_backend.ports import KeepBlob, keep_nothing
from vocabulary.base import Frozen
from vocabulary.blobs import BlobRef
from vocabulary.dialect import ChatMessage, ImagePart, Parsed, Screen, TextPart, Unparsed
from vocabulary.dialects import dialect_named
from vocabulary.episodic import Memory
from vocabulary.memory import Budget, condensable, recall, told
from vocabulary.messages import Partial
from vocabulary.observations import Observation
from vocabulary.prompts import Prompt
from vocabulary.proposals import PolicyRef, Proposal
from vocabulary.sampling import Sampling as Sampling
from vocabulary.steps import Step
from vocabulary.tasks import Task
from vocabulary.tools import Tool

HTTP_URL: TypeAdapter[HttpUrl] = TypeAdapter(HttpUrl)
LONGEST_NOTE = 4_000
"""Characters of a note that are kept."""
ReadBlob = Callable[[BlobRef], Awaitable[bytes]]


def an_address(url: str) -> str:
    """The address as it was written. Raises ValueError for one no request can be sent to."""
    HTTP_URL.validate_python(url)
    return url


class Endpoint(Frozen):
    """Which model, where, and how it is asked. `revision` is the word for this very set of weights."""

    base_url: Annotated[str, AfterValidator(an_address)]
    """Ends in `/v1` where the server's paths do."""
    model: str
    dialect: str
    name: str
    revision: str
    scripted: bool = False
    """It answers from a script and is no model at all."""
    api_key: SecretStr = SecretStr("")
    language: str = "English"
    sampling: Sampling = Sampling()
    waits: Waits = Waits()
    budget: Budget = Budget()


class OpenAIPolicy:
    """Proposes what the model at an endpoint says: n replies, streamed, parsed, merged and ranked."""

    def __init__(self, endpoint: Endpoint, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._endpoint = endpoint
        self._dialect = dialect_named(endpoint.dialect)
        self._completions = Completions(
            endpoint.base_url,
            api_key=endpoint.api_key.get_secret_value(),
            waits=endpoint.waits,
            transport=transport,
        )
        self._tokens = TokenCounts(lambda text: self._completions.count(endpoint.model, text))
        self.ref = PolicyRef(
            name=endpoint.name,
            revision=endpoint.revision,
            dialect=endpoint.dialect,
            scripted=endpoint.scripted,
        )

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
        keep: KeepBlob = keep_nothing,
    ) -> tuple[Proposal, ...]:
        """See `Policy.propose`."""
        started = time.monotonic()
        budget, sampling = self._endpoint.budget, self._endpoint.sampling
        past = recall(steps, memories, budget, self._tokens.length)
        messages = self._dialect.render(
            task,
            past.steps,
            observation,
            images=budget.images,
            stride=budget.stride,
            earlier=past.earlier,
            memories=past.memories,
            kinds=kinds,
            tools=tools,
            language=self._endpoint.language,
        )

        limits = self._dialect.limits
        prompt, data = Prompt(
            policy=self.ref, model=self._endpoint.model, image_limits=limits, messages=messages
        ).packed()
        keeping: asyncio.Task[None] | None = None

        async def heard(samples: Samples) -> None:
            nonlocal keeping
            if keeping is None:  # beside the answer, which it must not delay, and not before there is one
                keeping = asyncio.ensure_future(keep(prompt, data))
                self._tokens.learn([*map(told, steps), *(memory.text for memory in memories)])
            await partial(samples.partials())

        try:
            request, *others = await self._requests(messages, blob)
            samples = await self._completions.sample(request, heard, *others)
            await (keeping or keep(prompt, data))
        finally:
            if keeping is not None and not keeping.done():
                keeping.cancel()
        if not samples.by_index:
            raise PolicyUnavailable("the model server answered without any reply (no choices): look into its log")
        screen = Screen.of(observation)
        sizes = sizes_of(messages, past.steps, observation)
        warning = mismatch(samples.prompt_token_ids or (), sizes, limits) if self._dialect.absolute else ""

        def parse(text: str, **given: Any) -> Parsed | Unparsed:
            return self._dialect.parse(text, screen, **given)

        return candidates(
            samples,
            parse,
            policy=self.ref,
            sampling=sampling.model_dump(mode="json"),
            latency_ms=(time.monotonic() - started) * 1000,
            prompt=prompt,
            image_limits=limits,
            warning=warning,
        )

    @property
    def remembers(self) -> bool:
        """See `Rememberer.remembers`; a script has no memory."""
        return bool(self._endpoint.budget.episode) and not self.ref.scripted

    def condensable(self, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> tuple[Step, ...]:
        """See `Rememberer.condensable`."""
        return condensable(steps, memories, self._endpoint.budget) if self.remembers else ()

    async def remember(self, task: Task, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> Memory:
        """See `Rememberer.remember`."""
        condensed = self.condensable(steps, memories)
        asked = note_asked(task, condensed, memories, language=self._endpoint.language)
        request = {
            "model": self._endpoint.model,
            "messages": [await written(message, _no_pictures) for message in asked],
            "stream": True,
            "temperature": 0,
            "max_tokens": NOTE_TOKENS,
        }
        samples = await self._completions.sample(request, _unheard)
        text = " ".join(sample.text for sample in samples.finished()).strip()[:LONGEST_NOTE]
        if not text or not condensed:
            raise PolicyError("the policy wrote no note")
        return Memory(through=condensed[-1].index, text=text, policy=self.ref, written_at=datetime.now(UTC))

    async def aclose(self) -> None:
        """Close the connections to the server."""
        await self._tokens.aclose()
        await self._completions.aclose()

    async def _requests(self, messages: tuple[ChatMessage, ...], blob: ReadBlob) -> list[dict[str, Any]]:
        asked = {
            "model": self._endpoint.model,
            "messages": await asyncio.gather(*(written(message, blob) for message in messages)),
            "stream": True,
            "logprobs": True,
            "top_logprobs": 0,
            "return_token_ids": True,
        }
        return [asked | drawn for drawn in self._endpoint.sampling.requests()]


async def _no_pictures(ref: BlobRef) -> bytes:
    """A note is asked for in text alone."""
    raise KeyError(ref.sha256)


async def _unheard(_: Samples) -> None:
    """Nobody reads along while a note is written."""


async def written(message: ChatMessage, blob: ReadBlob) -> dict[str, JsonValue]:
    """A chat message in OpenAI's words; text alone stays a plain string, which every chat template takes."""
    if all(isinstance(part, TextPart) for part in message.content):
        text = "".join(part.text for part in message.content if isinstance(part, TextPart))
        return {"role": message.role, "content": text}
    return {"role": message.role, "content": [await written_part(part, blob) for part in message.content]}


async def written_part(part: TextPart | ImagePart, blob: ReadBlob) -> dict[str, JsonValue]:
    """One part; a picture goes along as the very bytes that were stored."""
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    try:
        data = base64.b64encode(await blob(part.image)).decode()
    except KeyError:
        raise PolicyError("a screenshot of this episode is lost, so the policy cannot be asked") from None
    return {"type": "image_url", "image_url": {"url": f"data:{part.image.media_type};base64,{data}"}}
