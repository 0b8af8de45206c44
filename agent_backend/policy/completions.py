"""Streamed chat completions of any OpenAI-compatible server, with the patience a real one needs."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from pydantic import JsonValue

from agent_backend.errors import PolicyRejected, PolicyUnavailable
from agent_backend.policy.breaker import Breaker
from agent_backend.policy.samples import Samples
from agent_backend.policy.streams import chunks
from vocabulary.base import Frozen

EXTRAS = (("return_token_ids",), ("top_k", "min_p"), ("logprobs", "top_logprobs"))
"""Fields beyond the common ground, by what they are for; a server that refuses them is asked without."""

RETRIED = frozenset({408, 429, 500, 502, 503, 504})
REFUSED = frozenset({400, 404, 405, 413, 415, 422})
WEIGHTS_WAIT = 0.5
"""Seconds a server may take to say what its weights are called."""
COUNT_WAIT = 2.0
"""Seconds it may take to count the tokens of a step."""
EXCERPT = 500
"""Characters of a server's complaint that are passed on."""
LONGEST_REPLY = 262_144
"""Characters of one reply that are read; the rest is cut."""
LONGEST_WAIT = 600.0
"""Seconds that a server can ask to be left alone for."""
SHORT_WAIT = 2.0
"""Seconds that are waited within one question."""
_SEVERAL = re.compile(
    r"(?<![\\\w])n(?!\w)|best_of|(?:multiple|several|number of|more than one) (?:choice|completion|sample|repl)", re.I
)
_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|max(?:imum)?[ _]model[ _]len|prompt is too long|too many (?:input )?tokens"
    r"|reduce the length|exceeds? the (?:maximum|context|available)",
    re.I,
)

Heard = Callable[[Samples], Awaitable[None]]


class Waits(Frozen):
    """Seconds: to connect, between two tokens (the first included), for the whole answer; and attempts in all."""

    connect: float = 3.0
    token: float = 30.0
    total: float = 120.0
    attempts: int = 3
    pause: float = 0.25


class Busy(PolicyUnavailable):
    """The server answered that it cannot now; it may be asked again."""


class Refused(PolicyRejected):
    """The server did not like the request as it was; `body` says why."""

    def __init__(self, status: int, body: str) -> None:
        super().__init__(f"the model server refused the request ({status}): {body[:EXCERPT]}")
        self.body = body


class Completions:
    """One endpoint: what it has refused is remembered, and when it fails it is left alone for a while."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str = "",
        waits: Waits,
        breaker: Breaker | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._waits = waits
        self._breaker = breaker or Breaker()
        self._refused: frozenset[str] = frozenset()
        self._one_each = False
        """Whether the server gives one reply a request."""
        self._root = base_url.rstrip("/").removesuffix("/v1")
        self._weights_url = self._root + "/weight_info"
        self._weights_told = True
        """Whether the server says what its weights are called, as far as is known."""
        self._counts = True
        """Whether it counts tokens, as far as is known."""
        self._client = httpx.AsyncClient(
            base_url=base_url.rstrip("/") + "/",
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx.Timeout(waits.token, connect=waits.connect),
            transport=transport,
            trust_env=False,  # the address is the model's own; a proxy of the environment is for other things
        )

    async def sample(self, request: dict[str, Any], heard: Heard, *others: dict[str, Any]) -> Samples:
        """Ask once and listen to the end; `heard` hears the samples grow. `others` are requests with the same prompt
        that go out beside it; all are answered, or none.

        Raises PolicyUnavailable when no answer comes in time, PolicyRejected when the server will not have the
        request. Cancelling closes the request, and the server stops generating.
        """
        self._breaker.admit()
        try:
            async with asyncio.timeout(self._waits.total):
                before = asyncio.create_task(self.weight_version())
                try:
                    samples = await self._beside(heard, request, *others)
                    if not samples.weight_versions:
                        samples.meet(await before)
                        samples.meet(await self.weight_version())
                finally:
                    before.cancel()
        except TimeoutError:
            self._breaker.fail()
            raise PolicyUnavailable(f"the model did not finish within {self._waits.total:g} s") from None
        except PolicyUnavailable as error:
            self._breaker.fail(error.retry_after)
            raise
        self._breaker.succeed()
        return samples

    async def weight_version(self) -> str | None:
        """What the server calls its weights now; None where it does not say, or not soon. A proposal never fails for
        it."""
        if not self._weights_told:
            return None
        try:
            response = await self._client.get(self._weights_url, timeout=WEIGHTS_WAIT)
            version = response.json().get("weight_version") if response.is_success else None
        except (httpx.HTTPError, ValueError, AttributeError):
            return None
        self._weights_told = isinstance(version, str)
        return version if isinstance(version, str) else None

    async def count(self, model: str, text: str) -> int | None:
        """The tokens of a text as the server's own tokenizer has it; None where it does not say, or not soon."""
        if not self._counts:
            return None
        body = {"model": model, "prompt": text, "add_special_tokens": False}
        try:
            response = await self._client.post(self._root + "/tokenize", json=body, timeout=COUNT_WAIT)
            count = response.json().get("count") if response.is_success else None
        except (httpx.HTTPError, ValueError, AttributeError):
            return None
        self._counts = response.status_code not in REFUSED
        return count if isinstance(count, int) else None

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def _beside(self, heard: Heard, *requests: dict[str, Any]) -> Samples:
        """The replies to all requests; the first that fails ends the others."""
        parts = [Samples() for _ in requests]

        async def one(place: int, request: dict[str, Any]) -> None:
            async def hear(samples: Samples) -> None:
                parts[place] = samples
                await heard(Samples.together(parts))

            parts[place] = await self._learn(request, hear)

        asked = [asyncio.create_task(one(place, request)) for place, request in enumerate(requests)]
        try:
            await asyncio.gather(*asked)
        finally:
            for task in asked:
                task.cancel()
            await asyncio.gather(*asked, return_exceptions=True)
        return Samples.together(parts)

    async def _learn(self, request: dict[str, Any], heard: Heard) -> Samples:
        """Ask with every field the server may know; what it refuses is left out, and remembered once that helps. A
        server that refuses several replies a request is asked for one at a time."""
        left_out, one_each = self._refused, self._one_each
        while True:
            body = {name: value for name, value in request.items() if name not in left_out}
            try:
                samples = await (self._one_by_one(body, heard) if one_each else self._persist(body, heard))
            except Refused as error:
                if _TOO_LONG.search(error.body):
                    raise PolicyRejected(
                        f"the prompt is longer than the model takes: {error.body[:EXCERPT]}. Show it fewer "
                        "screenshots (memory of the revision), or start its server with a longer context."
                    ) from None
                suspects = suspected(error.body, body)
                several = not one_each and body.get("n", 1) > 1
                if several and (not suspects or _SEVERAL.search(error.body)) and not named(error.body, body):
                    one_each, left_out = True, self._refused
                elif suspects:
                    left_out |= suspects
                else:
                    raise
            else:
                self._refused, self._one_each = left_out, one_each
                return samples

    async def _one_by_one(self, body: dict[str, Any], heard: Heard) -> Samples:
        """The replies of as many requests for one each, one after the other; those that came stay when one fails."""
        count = body.get("n", 1)
        parts: list[Samples] = []
        for place in range(count):
            seed = {} if body.get("seed") is None else {"seed": body["seed"] + place}

            async def hear(samples: Samples) -> None:
                await heard(Samples.together([*parts, samples]))

            try:
                parts.append(await self._persist(body | {"n": 1} | seed, hear))
            except PolicyUnavailable:
                if not parts:
                    raise
                break
        return Samples.together(parts)

    async def _persist(self, body: dict[str, Any], heard: Heard) -> Samples:
        """Retry a request that got no response. A response, slow or wrong, is final. While the circuit breaker counts
        failures there is one attempt."""
        attempts = 1 if self._breaker.failing else self._waits.attempts
        for attempt in range(attempts):
            pause = self._waits.pause * 2**attempt
            try:
                return await self._listen(body, heard)
            except httpx.ReadTimeout:
                raise PolicyUnavailable(f"no token within {self._waits.token:g} s") from None
            except (httpx.TransportError, Busy) as error:
                asked_for = error.retry_after if isinstance(error, Busy) else None
                if attempt == attempts - 1 or (asked_for or 0.0) > SHORT_WAIT:
                    raise PolicyUnavailable(
                        f"the model server does not answer: {error or type(error).__name__}{_later(asked_for)}",
                        retry_after=asked_for,
                    ) from None
                pause = max(pause, asked_for or 0.0)
            await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    async def _listen(self, body: dict[str, JsonValue], heard: Heard) -> Samples:
        temperature = body.get("temperature")
        samples = Samples(temperature=temperature if isinstance(temperature, int | float) else None)
        whole = False
        async with self._client.stream("POST", "chat/completions", json=body) as response:
            await check(response)
            async for chunk in chunks(response):
                if chunk is None:
                    whole = True
                    break
                samples.add(chunk)
                await heard(samples)
                if samples.longest > LONGEST_REPLY:
                    samples.cut(LONGEST_REPLY)
                    break
        samples.end(whole=whole)
        return samples


def named(complaint: str, body: dict[str, Any]) -> bool:
    """Whether a refusal names one of the extra fields that were sent."""
    return any(name in complaint for group in EXTRAS for name in group if name in body)


def suspected(complaint: str, body: dict[str, Any]) -> frozenset[str]:
    """The extra fields a refusal may be about: those it names, with what belongs to them, else all that were sent."""
    sent = [group for group in EXTRAS if any(name in body for name in group)]
    named = [group for group in sent if any(name in complaint for name in group)]
    return frozenset(name for group in named or sent for name in group)


async def check(response: httpx.Response) -> None:
    """Raises Busy, Refused or PolicyRejected unless an answer begins."""
    if response.is_success:
        return
    text = (await response.aread()).decode(errors="replace")
    if response.status_code in RETRIED:
        wait = retry_after(response.headers.get("retry-after", ""))
        raise Busy(f"status {response.status_code}: {text[:EXCERPT]}", retry_after=wait)
    if response.status_code in REFUSED:
        raise Refused(response.status_code, text)
    hint = " Check the key of this endpoint." if response.status_code in (401, 403) else ""
    raise PolicyRejected(f"the model server refused the request ({response.status_code}): {text[:EXCERPT]}{hint}")


def retry_after(header: str, now: datetime | None = None) -> float | None:
    """Seconds that a `Retry-After` asks for (RFC 9110, section 10.2.3); None where it says nothing readable."""
    text = header.strip()
    if re.fullmatch(r"\d{1,9}(?:\.\d{1,9})?", text):
        return min(float(text), LONGEST_WAIT)
    try:
        then = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return min(max((then - (now or datetime.now(UTC))).total_seconds(), 0.0), LONGEST_WAIT)


def _later(wait: float | None) -> str:
    return f" (it asks to be left alone for {wait:.0f} s)" if wait else ""
