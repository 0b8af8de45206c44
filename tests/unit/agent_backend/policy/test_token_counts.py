"""Tokens are counted by the model's own server, beside the work; where it does not, they are estimated."""

import json

import httpx

from agent_backend.policy.completions import CompletionsClient, RequestTimeouts
from agent_backend.policy.token_counts import CACHE_SIZE, MAX_TEXTS_PER_STEP, TokenCounter


async def learned(counts: TokenCounter, *texts: str) -> None:
    counts.count_in_background(texts)
    if counts._counting is not None:
        await counts._counting


async def test_a_text_is_estimated_until_it_is_counted() -> None:
    asked: list[str] = []

    async def count(text: str) -> int | None:
        asked.append(text)
        return 3

    counts = TokenCounter(count)
    assert counts.length("x" * 40) == 10
    await learned(counts, "x" * 40)
    assert counts.length("x" * 40) == 3
    await learned(counts, "x" * 40, "")
    assert asked == ["x" * 40], "each once, and nothing for nothing"


async def test_few_are_asked_at_once_the_latest_first() -> None:
    asked: list[str] = []

    async def count(text: str) -> int | None:
        asked.append(text)
        return 1

    await learned(TokenCounter(count), *map(str, range(20)))
    assert asked == [str(number) for number in range(19, 19 - MAX_TEXTS_PER_STEP, -1)]


async def test_what_is_known_is_bounded() -> None:
    async def count(text: str) -> int | None:
        return 9

    counts = TokenCounter(count)
    for number in range(0, CACHE_SIZE + MAX_TEXTS_PER_STEP, MAX_TEXTS_PER_STEP):
        await learned(counts, *(f"text {number + more}" for more in range(MAX_TEXTS_PER_STEP)))
    assert counts.length("text 7") == 2, "the first is an estimate again"
    assert counts.length(f"text {CACHE_SIZE}") == 9


def completions(answer: httpx.Response | Exception, asked: list[httpx.Request]) -> CompletionsClient:
    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return CompletionsClient("http://model/v1", timeouts=RequestTimeouts(), transport=httpx.MockTransport(handle))


async def test_the_server_counts_without_its_template() -> None:
    asked: list[httpx.Request] = []
    client = completions(httpx.Response(200, json={"count": 5, "tokens": []}), asked)
    assert await client.count("tiny", "hello") == 5
    assert asked[0].url == "http://model/tokenize"
    assert json.loads(asked[0].content) == {"model": "tiny", "prompt": "hello", "add_special_tokens": False}


async def test_a_server_that_does_not_count_is_asked_once() -> None:
    asked: list[httpx.Request] = []
    client = completions(httpx.Response(404), asked)
    assert [await client.count("tiny", "hello") for _ in range(3)] == [None] * 3
    assert len(asked) == 1


async def test_a_server_that_is_away_is_asked_again() -> None:
    asked: list[httpx.Request] = []
    client = completions(httpx.ConnectError("refused"), asked)
    assert [await client.count("tiny", "hello") for _ in range(2)] == [None] * 2
    assert len(asked) == 2
