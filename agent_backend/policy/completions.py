"""Streamed chat completions of any OpenAI-compatible server, with retries, timeouts and a circuit breaker."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from pydantic import JsonValue

from agent_backend.errors import PolicyMisconfigured, PolicyRejected, PolicyUnavailable
from agent_backend.policy.circuit_breaker import CircuitBreaker
from agent_backend.policy.samples import Samples
from agent_backend.policy.server_sent_events import read_chunks
from protocol.base import FrozenModel

OPTIONAL_FIELDS = (("return_token_ids",), ("top_k", "min_p"), ("logprobs", "top_logprobs"))
"""Optional fields by purpose; if a server refuses them, the request is repeated without them."""

RETRIED_STATUSES = frozenset({408, 429, 500, 502, 503, 504})
REJECTED_STATUSES = frozenset({400, 404, 405, 413, 415, 422})
MISCONFIGURED_STATUSES = frozenset({401, 402, 403})
"""Statuses of refusals that affect every request: the key is missing or wrong, or lacks credit or rights."""
WEIGHT_VERSION_TIMEOUT_SECONDS = 0.5
"""Timeout of a request for the name of a server's weights (seconds)."""
TOKENIZE_TIMEOUT_SECONDS = 2.0
"""Timeout of a request to count the tokens of a step (seconds)."""
MAX_ERROR_CHARACTERS = 500
"""Characters of a server's error that are passed on."""
MAX_REPLY_CHARACTERS = 262_144
"""Characters of one reply that are read; the rest is cut."""
MAX_RETRY_AFTER_SECONDS = 600.0
"""The longest pause that a server can ask for (seconds)."""
MAX_INLINE_WAIT_SECONDS = 2.0
"""The longest wait within one request (seconds)."""
_MULTIPLE_CHOICES_ERROR = re.compile(
    r"(?<![\\\w])n(?!\w)|best_of|(?:multiple|several|number of|more than one) (?:choice|completion|sample|repl)", re.I
)
CONTEXT_LENGTH_ERROR = re.compile(
    r"context[ _](?:length|window|size)|max(?:imum)?[ _]model[ _]len|prompt is too long|too many (?:input )?tokens"
    r"|reduce the length|exceeds? the (?:maximum|context|available)",
    re.I,
)

SamplesCallback = Callable[[Samples], Awaitable[None]]


class RequestTimeouts(FrozenModel):
    """How long a request to a model server may take, in seconds, and how often it is tried."""

    connect: float = 3.0
    """Seconds to connect."""
    token: float = 30.0
    """Seconds between two tokens, the first included."""
    total: float = 120.0
    """Seconds for the whole answer."""
    attempts: int = 3
    """Attempts in all, from 1."""
    pause: float = 0.25
    """Seconds before the second attempt; each further pause is longer."""


class ServerBusy(PolicyUnavailable):
    """The server is busy; the request may be retried."""


class RequestRejected(PolicyRejected):
    """The server did not accept the request: `status` is HTTP's, and `body` says why."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"the model server refused the request ({status}): {body[:MAX_ERROR_CHARACTERS]}")
        self.status = status
        self.body = body


class CompletionsClient:
    """A client of one endpoint. It remembers refused fields, and pauses requests after failures."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str = "",
        timeouts: RequestTimeouts,
        breaker: CircuitBreaker | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._timeouts = timeouts
        self._breaker = breaker or CircuitBreaker()
        self._rejected_fields: frozenset[str] = frozenset()
        self._single_choice = False
        """Whether the server gives only one reply per request."""
        self._root = base_url.rstrip("/").removesuffix("/v1")
        self._weights_url = self._root + "/weight_info"
        self._reports_weights = True
        """Whether the server reports the name of its weights, as far as is known."""
        self._counts_tokens = True
        """Whether it counts tokens, as far as is known."""
        self._client = httpx.AsyncClient(
            base_url=base_url.rstrip("/") + "/",
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx.Timeout(timeouts.token, connect=timeouts.connect),
            transport=transport,
            trust_env=False,  # the environment's proxy is not for the model's address
        )

    async def sample(self, request: dict[str, Any], on_samples: SamplesCallback, *others: dict[str, Any]) -> Samples:
        """Send a request and read its stream to the end; `on_samples` receives the growing samples. `others` are
        concurrent requests with the same prompt; all are answered, or none.

        Raises PolicyUnavailable if no answer comes in time, PolicyRejected if the server refuses the request.
        Cancelling closes the connection, and the server stops generating.
        """
        self._breaker.admit()
        try:
            async with asyncio.timeout(self._timeouts.total):
                before = asyncio.create_task(self.weight_version())
                try:
                    samples = await self._request_all(on_samples, request, *others)
                    if not samples.weight_versions:
                        samples.add_weight_version(await before)
                        samples.add_weight_version(await self.weight_version())
                finally:
                    before.cancel()
        except TimeoutError:
            self._breaker.fail()
            raise PolicyUnavailable(f"the model did not finish within {self._timeouts.total:g} s") from None
        except PolicyUnavailable as error:
            self._breaker.fail(error.retry_after)
            raise
        self._breaker.succeed()
        return samples

    async def sample_once(self, request: dict[str, Any]) -> Samples:
        """Send an optional request: no retries, and a failure does not count against the server.

        Raises PolicyUnavailable, also if the last request through `sample` failed, and PolicyRejected.
        """
        if self._breaker.failing:
            raise PolicyUnavailable("the last request to the model server failed")
        try:
            return await self._stream(request | {"stream": True}, _ignore_samples)
        except httpx.TransportError as error:
            raise PolicyUnavailable(f"the model server does not answer: {error or type(error).__name__}") from None

    async def weight_version(self) -> str | None:
        """The current name of the server's weights; None if the server does not report it in time. A proposal never
        fails because of it."""
        if not self._reports_weights:
            return None
        try:
            response = await self._client.get(self._weights_url, timeout=WEIGHT_VERSION_TIMEOUT_SECONDS)
            version = response.json().get("weight_version") if response.is_success else None
        except (httpx.HTTPError, ValueError, AttributeError):
            return None
        self._reports_weights = isinstance(version, str)
        return version if isinstance(version, str) else None

    async def count(self, model: str, text: str) -> int | None:
        """The number of tokens of a text by the server's own tokenizer; None if the server does not report it in
        time."""
        if not self._counts_tokens:
            return None
        body = {"model": model, "prompt": text, "add_special_tokens": False}
        try:
            response = await self._client.post(self._root + "/tokenize", json=body, timeout=TOKENIZE_TIMEOUT_SECONDS)
            count = response.json().get("count") if response.is_success else None
        except (httpx.HTTPError, ValueError, AttributeError):
            return None
        self._counts_tokens = response.status_code not in REJECTED_STATUSES
        return count if isinstance(count, int) else None

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def _request_all(self, on_samples: SamplesCallback, *requests: dict[str, Any]) -> Samples:
        """The replies to all requests; the first that fails ends the others."""
        parts = [Samples() for _ in requests]

        async def one(place: int, request: dict[str, Any]) -> None:
            async def on_part(samples: Samples) -> None:
                parts[place] = samples
                await on_samples(Samples.merge(parts))

            parts[place] = await self._request_without_rejected(request, on_part)

        requests_sent = [asyncio.create_task(one(place, request)) for place, request in enumerate(requests)]
        try:
            await asyncio.gather(*requests_sent)
        finally:
            for task in requests_sent:
                task.cancel()
            await asyncio.gather(*requests_sent, return_exceptions=True)
        return Samples.merge(parts)

    async def _request_without_rejected(self, request: dict[str, Any], on_samples: SamplesCallback) -> Samples:
        """Send every field that the server may support. Refused fields are left out, and remembered if that helps. A
        server that refuses several replies per request gets one request for each."""
        left_out, single_choice = self._rejected_fields, self._single_choice
        while True:
            body = {name: value for name, value in request.items() if name not in left_out}
            try:
                samples = await (
                    self._request_one_by_one(body, on_samples)
                    if single_choice
                    else self._request_with_retries(body, on_samples)
                )
            except RequestRejected as error:
                if CONTEXT_LENGTH_ERROR.search(error.body):
                    raise PolicyRejected(
                        f"the prompt is longer than the model takes: {error.body[:MAX_ERROR_CHARACTERS]}. Show it "
                        "fewer screenshots (memory of the revision), or start its server with a longer context."
                    ) from None
                suspects = suspect_fields(error.body, body)
                several = not single_choice and body.get("n", 1) > 1
                if (
                    several
                    and (not suspects or _MULTIPLE_CHOICES_ERROR.search(error.body))
                    and not names_optional_field(error.body, body)
                ):
                    single_choice, left_out = True, self._rejected_fields
                elif suspects:
                    left_out |= suspects
                else:
                    raise
            else:
                self._rejected_fields, self._single_choice = left_out, single_choice
                return samples

    async def _request_one_by_one(self, body: dict[str, Any], on_samples: SamplesCallback) -> Samples:
        """The replies of sequential requests for one reply each; earlier replies stay if a later request fails."""
        count = body.get("n", 1)
        parts: list[Samples] = []
        for place in range(count):
            seed = {} if body.get("seed") is None else {"seed": body["seed"] + place}

            async def on_part(samples: Samples) -> None:
                await on_samples(Samples.merge([*parts, samples]))

            try:
                parts.append(await self._request_with_retries(body | {"n": 1} | seed, on_part))
            except PolicyUnavailable:
                if not parts:
                    raise
                break
        return Samples.merge(parts)

    async def _request_with_retries(self, body: dict[str, Any], on_samples: SamplesCallback) -> Samples:
        """Retry a request that got no response. A response, slow or wrong, is final. While the circuit breaker counts
        failures there is one attempt."""
        attempts = 1 if self._breaker.failing else self._timeouts.attempts
        for attempt in range(attempts):
            pause = self._timeouts.pause * 2**attempt
            try:
                return await self._stream(body, on_samples)
            except httpx.ReadTimeout:
                raise PolicyUnavailable(f"no token within {self._timeouts.token:g} s") from None
            except (httpx.TransportError, ServerBusy) as error:
                requested_delay = error.retry_after if isinstance(error, ServerBusy) else None
                if attempt == attempts - 1 or (requested_delay or 0.0) > MAX_INLINE_WAIT_SECONDS:
                    raise PolicyUnavailable(
                        f"the model server does not answer: {error or type(error).__name__}"
                        f"{_describe_retry_after(requested_delay)}",
                        retry_after=requested_delay,
                    ) from None
                pause = max(pause, requested_delay or 0.0)
            await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _stream(self, body: dict[str, JsonValue], on_samples: SamplesCallback) -> Samples:
        temperature = body.get("temperature")
        samples = Samples(temperature=temperature if isinstance(temperature, int | float) else None)
        whole = False
        async with self._client.stream("POST", "chat/completions", json=body) as response:
            await raise_for_status(response)
            async for chunk in read_chunks(response):
                if chunk is None:
                    whole = True
                    break
                samples.add(chunk)
                await on_samples(samples)
                if samples.longest > MAX_REPLY_CHARACTERS:
                    samples.cut(MAX_REPLY_CHARACTERS)
                    break
        samples.end(whole=whole)
        return samples


async def _ignore_samples(_: Samples) -> None:
    """Ignores the growing text."""


def names_optional_field(complaint: str, body: dict[str, Any]) -> bool:
    """Whether a refusal names one of the optional fields that were sent."""
    return any(name in complaint for group in OPTIONAL_FIELDS for name in group if name in body)


def suspect_fields(complaint: str, body: dict[str, Any]) -> frozenset[str]:
    """The optional fields that may have caused a refusal: those it names, with related fields, else all that were
    sent."""
    sent = [group for group in OPTIONAL_FIELDS if any(name in body for name in group)]
    named = [group for group in sent if any(name in complaint for name in group)]
    return frozenset(name for group in named or sent for name in group)


async def raise_for_status(response: httpx.Response) -> None:
    """Return if the response succeeded.

    Raises:
        ServerBusy: A status that is worth a retry.
        RequestRejected: A status that a changed request may avoid.
        PolicyMisconfigured: The key, the address or the model is wrong.
        PolicyRejected: Any other status.
    """
    if response.is_success:
        return
    text = (await response.aread()).decode(errors="replace")
    if response.status_code in RETRIED_STATUSES:
        wait = parse_retry_after(response.headers.get("retry-after", ""))
        raise ServerBusy(f"status {response.status_code}: {text[:MAX_ERROR_CHARACTERS]}", retry_after=wait)
    if response.status_code in REJECTED_STATUSES:
        raise RequestRejected(response.status_code, text)
    hint = " Check the key of this endpoint." if response.status_code in (401, 403) else ""
    kind = PolicyMisconfigured if response.status_code in MISCONFIGURED_STATUSES else PolicyRejected
    raise kind(f"the model server refused the request ({response.status_code}): {text[:MAX_ERROR_CHARACTERS]}{hint}")


def parse_retry_after(header: str, now: datetime | None = None) -> float | None:
    """Seconds that a `Retry-After` asks for (RFC 9110, section 10.2.3); None if it is unreadable."""
    text = header.strip()
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text):
        return min(float(text), MAX_RETRY_AFTER_SECONDS)
    try:
        then = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return min(max((then - (now or datetime.now(UTC))).total_seconds(), 0.0), MAX_RETRY_AFTER_SECONDS)


def _describe_retry_after(wait: float | None) -> str:
    return f" (it asks to be left alone for {wait:.0f} s)" if wait else ""
