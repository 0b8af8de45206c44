"""A policy of a hosted model, through its provider's own client and within a budget."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from agent_backend.errors import PolicyError, PolicyRejected, PolicyUnavailable
from agent_backend.interfaces import SaveBlob, discard_blob
from agent_backend.policy.candidates import build_proposals, other_model_warning
from agent_backend.policy.circuit_breaker import CircuitBreaker
from agent_backend.policy.completions import MAX_INLINE_WAIT_SECONDS, MAX_REPLY_CHARACTERS, RequestTimeouts, ServerBusy
from agent_backend.policy.hosted_requests import Budget, HostedReply, HostedRequest, ProviderClient, conversation_turns
from agent_backend.policy.memory_prompt import MAX_MEMORY_TOKENS, render_memory_prompt
from agent_backend.policy.pictures import PictureScaler
from agent_backend.policy.provider_errors import OptionalFieldRejected
from agent_backend.policy.samples import Samples
from agent_backend.telemetry.requests import ModelDescription, add_usage, describe_model
from protocol.actions.tools import Tool
from protocol.dialects.dialect import ChatMessage, ImagePart, ParsedReply, ScreenSize, UnparsedReply
from protocol.dialects.prompts import Prompt
from protocol.dialects.tool_calls import ToolDialect
from protocol.messages.events import Partial
from protocol.providers import Prices, Provider, ProviderSettings
from protocol.sampling import SamplingParams
from protocol.trajectory.memory import HistoryBudget, Memory, estimate_tokens, recall_history, steps_to_summarize
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import PolicyRef, Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task

MAX_PARALLEL_REQUESTS = 4
"""Concurrent requests for the candidates of one decision."""
PICTURE_TOKENS = 5_000
"""Most tokens of a picture, for reservations of budget."""
MAX_MEMORY_CHARACTERS = 4_000
"""Characters of a note that are stored."""


@dataclass(frozen=True, slots=True)
class HostedModel:
    """A hosted model with its settings."""

    ref: PolicyRef
    provider: Provider
    model: str
    dialect: ToolDialect
    sampling: SamplingParams
    timeouts: RequestTimeouts
    history: HistoryBudget
    settings: ProviderSettings
    language: str = "English"


class HostedPolicy:
    """Proposes the replies of a hosted model: n requests of one reply each, since the APIs have no n."""

    def __init__(self, model: HostedModel, client: ProviderClient, budget: Budget | None = None) -> None:
        self.ref = model.ref
        self._model = model
        self._client = client
        self._budget = budget
        self._breaker = CircuitBreaker()
        self._rejected_fields: frozenset[str] = frozenset()
        self._scaler = PictureScaler(model.dialect.picture_grid)

    @property
    def description(self) -> ModelDescription:
        """See `DescribedPolicy.description`."""
        return describe_model(self._model.provider, self._model.model, self._model.sampling)

    async def propose(
        self,
        task: Task,
        steps: tuple[Step, ...],
        observation: Observation,
        *,
        kinds: frozenset[str],
        tools: tuple[Tool, ...] = (),
        memories: tuple[Memory, ...] = (),
        blob: Callable[[Any], Awaitable[bytes]],
        partial: Callable[[tuple[Partial, ...]], Awaitable[None]],
        save_blob: SaveBlob = discard_blob,
    ) -> tuple[Proposal, ...]:
        """See `Policy.propose`. Raises PolicyError, and BudgetSpent if no budget is left."""
        started = time.monotonic()
        model, dialect = self._model, self._model.dialect
        history = recall_history(steps, memories, model.history, estimate_tokens)
        messages = dialect.render(
            task,
            history.steps,
            observation,
            images=model.history.images,
            stride=model.history.stride,
            earlier=history.earlier,
            memories=history.memories,
            kinds=kinds,
            tools=tools,
            language=model.language,
            max_actions=model.sampling.max_actions,
        )
        functions = dialect.functions(task.platform, kinds, tools=bool(tools))
        prompt, data = Prompt(
            policy=self.ref,
            model=model.model,
            image_limits=dialect.limits,
            messages=messages,
            functions=tuple({"name": one.name, "parameters": one.schema} for one in functions),
        ).to_blob()
        screen = ScreenSize.of(observation)
        columns, rows = dialect.picture_grid(screen)
        request = HostedRequest(
            model=model.model,
            turns=conversation_turns(messages, dialect, await self._scaler.pictures(_pictures(messages), blob)),
            max_tokens=model.sampling.max_tokens,
            functions=functions,
            native_kinds=dialect.native_kinds & kinds & dialect.grammars[task.platform].lines.keys(),
            platform=task.platform,
            screen=ScreenSize(width=columns, height=rows) if observation.screenshot else None,
            max_actions=model.sampling.max_actions,
        )
        replies = await self._ask_all(request, _temperatures(model.sampling), partial)
        await save_blob(prompt, data)

        def parse(text: str, **options: Any) -> ParsedReply | UnparsedReply:
            return dialect.parse(text, screen, max_actions=model.sampling.max_actions, **options)

        samples = Samples(by_index={place: reply.sample() for place, reply in enumerate(replies)})
        return build_proposals(
            samples,
            parse,
            policy=self.ref,
            sampling=model.sampling.model_dump(mode="json"),
            latency_ms=(time.monotonic() - started) * 1000,
            prompt=prompt,
            image_limits=dialect.limits,
            warning=other_model_warning(model.model, (reply.model for reply in replies), self._client.title),
            cost_usd=_cost(model.settings.prices, replies),
        )

    @property
    def writes_memories(self) -> bool:
        """See `SummarizingPolicy.writes_memories`."""
        return bool(self._model.history.episode)

    def steps_to_summarize(self, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> tuple[Step, ...]:
        """See `SummarizingPolicy.steps_to_summarize`."""
        return steps_to_summarize(steps, memories, self._model.history) if self.writes_memories else ()

    async def write_memory(self, task: Task, steps: tuple[Step, ...], memories: tuple[Memory, ...]) -> Memory:
        """See `SummarizingPolicy.write_memory`. Raises PolicyError for an empty note, or no step to summarize."""
        summarized = self.steps_to_summarize(steps, memories)
        messages = render_memory_prompt(task, summarized, memories, language=self._model.language)
        text = await self.write_text(messages, max_tokens=MAX_MEMORY_TOKENS)
        if not text or not summarized:
            raise PolicyError("the policy wrote no note")
        return Memory(through=summarized[-1].index, text=text, policy=self.ref, written_at=datetime.now(UTC))

    async def write_text(self, messages: tuple[ChatMessage, ...], *, max_tokens: int) -> str:
        """See `WritingPolicy.write_text`."""
        turns = conversation_turns(messages, self._model.dialect, {})
        request = HostedRequest(model=self._model.model, turns=turns, max_tokens=max_tokens)
        (reply,) = await self._ask_all(request, (None,), _ignore_progress)
        return reply.text.strip()[:MAX_MEMORY_CHARACTERS]

    @property
    def language(self) -> str:
        """See `WritingPolicy.language`."""
        return self._model.language

    async def aclose(self) -> None:
        """Close the connections to the provider."""
        await self._client.aclose()

    async def _ask_all(
        self,
        request: HostedRequest,
        temperatures: tuple[float | None, ...],
        partial: Callable[[tuple[Partial, ...]], Awaitable[None]],
    ) -> list[HostedReply]:
        """The replies at these temperatures, in order. Replies that arrived stay if another request fails."""
        self._breaker.admit()
        growing: dict[int, Partial] = {}
        gate = asyncio.Semaphore(MAX_PARALLEL_REQUESTS)
        first_failure: list[PolicyError] = []

        async def one(place: int, temperature: float | None) -> HostedReply | None:
            async def on_reply(reply: HostedReply) -> None:
                growing[place] = Partial(index=place, text=(reply.reasoning + reply.text)[-MAX_REPLY_CHARACTERS:])
                await partial(tuple(growing[index] for index in sorted(growing)))

            async with gate:
                if first_failure:
                    return None  # the provider would fail again: start no further requests
                try:
                    return await self._ask_within_budget(replace(request, temperature=temperature), on_reply)
                except PolicyError as error:
                    first_failure.append(error)
                    return None

        replies = await self._gather([one(place, heat) for place, heat in enumerate(temperatures)])
        found = [reply for reply in replies if reply is not None]
        for reply in found:
            add_usage(reply.usage.input + reply.usage.cached_input, reply.usage.output)
        if found:
            self._breaker.succeed()
            return found
        error = first_failure[0]
        if isinstance(error, PolicyUnavailable):
            self._breaker.fail(error.retry_after)
        raise error

    async def _gather(self, asked: list[Coroutine[Any, Any, HostedReply | None]]) -> list[HostedReply | None]:
        """The results of all, within the total timeout; any error or cancellation ends every request."""
        total = self._model.timeouts.total
        tasks = [asyncio.create_task(one) for one in asked]
        try:
            async with asyncio.timeout(total):
                return await asyncio.gather(*tasks)
        except TimeoutError:
            self._breaker.fail()
            raise PolicyUnavailable(f"{self._client.title} did not finish within {total:g} s") from None
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _ask_within_budget(
        self, request: HostedRequest, on_reply: Callable[[HostedReply], Awaitable[None]]
    ) -> HostedReply:
        """Send one request after reserving its highest possible cost. Raises PolicyError."""
        prices, budget = self._model.settings.prices, self._budget
        if budget is None:
            return await self._ask_with_retries(request, on_reply)
        if prices is None:
            if budget.limited:
                raise PolicyRejected(
                    f"The pool has a budget, and no prices are known of {self._model.model}: an admin must register "
                    "the policy with its prices."
                )
            return await self._ask_with_retries(request, on_reply)
        most = _most_usage(request, prices)
        await budget.reserve(most)
        seen = HostedReply()

        async def count(reply: HostedReply) -> None:
            nonlocal seen
            seen = reply
            await on_reply(reply)

        spent: int | None = None
        try:
            reply = await self._ask_with_retries(request, count)
            spent = reply.usage.cost(prices)
            return reply
        except PolicyError:
            spent = seen.usage.cost(prices)
            raise
        finally:
            # A cancelled request is billed for its prompt: it counts with its reservation.
            await asyncio.shield(budget.settle(most, most if spent is None else spent))

    async def _ask_with_retries(
        self, request: HostedRequest, on_reply: Callable[[HostedReply], Awaitable[None]]
    ) -> HostedReply:
        """Retry a request that was not answered. An answer, slow or wrong, is final."""
        timeouts = self._model.timeouts
        attempts = 1 if self._breaker.failing else timeouts.attempts
        attempt = 0
        while True:
            try:
                return await self._client.ask(self._without_rejected(request), on_reply)
            except OptionalFieldRejected as error:
                if error.field in self._rejected_fields:
                    raise
                self._rejected_fields |= {error.field}
            except ServerBusy as error:
                attempt += 1
                wait = error.retry_after or 0.0
                if attempt >= attempts or wait > MAX_INLINE_WAIT_SECONDS:
                    asked = f" (it asks to be left alone for {wait:.0f} s)" if wait else ""
                    raise PolicyUnavailable(f"{error}{asked}", retry_after=error.retry_after) from None
                await asyncio.sleep(max(timeouts.pause * 2 ** (attempt - 1), wait))

    def _without_rejected(self, request: HostedRequest) -> HostedRequest:
        if "temperature" in self._rejected_fields:
            request = replace(request, temperature=None)
        return request


def _temperatures(sampling: SamplingParams) -> tuple[float | None, ...]:
    """One for each candidate."""
    return tuple(fields["temperature"] for fields in sampling.requests() for _ in range(fields["n"]))


def _pictures(messages: tuple[ChatMessage, ...]) -> list[Any]:
    return [part.image for message in messages for part in message.content if isinstance(part, ImagePart)]


def _most_usage(request: HostedRequest, prices: Prices) -> int:
    """The highest possible cost of a request, in millionths of a US dollar."""
    pictures = sum(len(turn.pictures) for turn in request.turns)
    text = sum(estimate_tokens(turn.text) + estimate_tokens(str(turn.calls or "")) for turn in request.turns)
    read = 2 * text + PICTURE_TOKENS * pictures + 4_000
    return round(read * prices.input + request.max_tokens * prices.output) + 1


def _cost(prices: Prices | None, replies: list[HostedReply]) -> float | None:
    """US dollars that the replies cost; None where no prices are known."""
    return None if prices is None else sum(reply.usage.cost(prices) for reply in replies) / 1_000_000


async def _ignore_progress(_: tuple[Partial, ...]) -> None:
    """Ignores the growing note."""
