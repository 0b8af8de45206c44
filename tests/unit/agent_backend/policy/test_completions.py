"""The streaming client: what it hears, what it learns, when it tries again, when it stops."""

import asyncio
from typing import Any

import httpx
import pytest

from agent_backend.errors import PolicyRejected, PolicyUnavailable
from agent_backend.policy.circuit_breaker import CircuitBreaker
from agent_backend.policy.completions import CompletionsClient, RequestTimeouts
from agent_backend.policy.samples import Samples
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk

FAST = RequestTimeouts(pause=0.0, token=5.0, total=10.0)
REQUEST = {
    "model": "m",
    "messages": [],
    "stream": True,
    "n": 2,
    "logprobs": True,
    "top_logprobs": 0,
    "return_token_ids": True,
    "top_k": -1,
    "min_p": 0.0,
}
TWO = [
    {"choices": [], "prompt_token_ids": [5, 6]},
    chunk(0, "he", ids=[1], logprobs=[-0.5]),
    chunk(1, "yo", ids=[3], logprobs=[-2.0]),
    chunk(0, "llo", ids=[2], logprobs=[-1.5]),
]


async def ignore(samples: Samples) -> None:
    """Listens to nothing."""


def completions(server: ModelServer, **given: Any) -> CompletionsClient:
    return CompletionsClient(
        "http://model/v1", timeouts=given.pop("timeouts", FAST), transport=server.transport, **given
    )


async def test_a_stream_adds_up_to_samples() -> None:
    texts: list[str] = []

    async def heard(samples: Samples) -> None:
        texts.append("|".join(part.text for part in samples.partials()))

    samples = await completions(ModelServer(Events(TWO))).sample(REQUEST, heard)
    first, second = samples.finished()
    assert (first.text, first.token_ids, first.logprobs) == ("hello", [1, 2], [-0.5, -1.5])
    assert first.mean_logprob == -1.0
    assert (second.text, second.token_ids) == ("yo", [3])
    assert samples.prompt_token_ids == [5, 6]
    assert texts == ["", "he", "he|yo", "hello|yo"]


async def test_a_server_without_token_ids_gives_texts() -> None:
    samples = await completions(ModelServer(Events([chunk(0, "hi")]))).sample(REQUEST, ignore)
    (only,) = samples.finished()
    assert (only.text, only.token_ids, only.logprobs, only.mean_logprob) == ("hi", [], [], None)


async def test_the_key_goes_along() -> None:
    server = ModelServer(Events(TWO))
    await completions(server, api_key="secret").sample(REQUEST, ignore)
    assert server.headers[0]["authorization"] == "Bearer secret"


async def test_refused_fields_are_left_out_and_remembered() -> None:
    server = ModelServer(Events(TWO), Events(TWO))
    server.refuses = lambda body: "unknown field: top_k" if "top_k" in body else None
    client = completions(server)
    await client.sample(REQUEST, ignore)
    await client.sample(REQUEST, ignore)
    assert ["top_k" in body for body in server.asked] == [True, False, False]
    assert "min_p" not in server.asked[1], "what belongs together goes together"
    assert "return_token_ids" in server.asked[1]


async def test_a_refusal_without_a_name_costs_all_extras() -> None:
    server = ModelServer(Events(TWO))
    server.refuses = lambda body: "bad request" if "return_token_ids" in body else None
    await completions(server).sample(REQUEST, ignore)
    assert set(server.asked[-1]) == {"model", "messages", "stream", "n"}


async def test_a_refusal_of_the_request_itself_is_final_and_teaches_nothing() -> None:
    server = ModelServer(Events(TWO))
    server.refuses = lambda body: "At most 5 image(s) may be provided in one prompt."
    client = completions(server)
    with pytest.raises(PolicyRejected, match="At most 5"):
        await client.sample(REQUEST, ignore)
    server.refuses = lambda body: None
    await client.sample(REQUEST, ignore)
    assert server.asked[-1] == REQUEST


@pytest.mark.parametrize(
    "trouble", [httpx.ConnectError("refused"), httpx.Response(503, text="loading"), httpx.RemoteProtocolError("cut")]
)
async def test_who_does_not_answer_is_asked_again(trouble: Exception | httpx.Response) -> None:
    server = ModelServer(trouble, Events(TWO))
    samples = await completions(server).sample(REQUEST, ignore)
    assert len(samples.finished()) == 2
    assert len(server.asked) == 2


async def test_attempts_are_bounded() -> None:
    server = ModelServer(httpx.ConnectError("refused"))
    with pytest.raises(PolicyUnavailable, match="refused"):
        await completions(server).sample(REQUEST, ignore)
    assert len(server.asked) == FAST.attempts


async def test_a_rejected_key_is_not_tried_again() -> None:
    server = ModelServer(httpx.Response(401, text="wrong key"))
    with pytest.raises(PolicyRejected, match="wrong key"):
        await completions(server).sample(REQUEST, ignore)
    assert len(server.asked) == 1


async def test_a_slow_answer_is_given_up() -> None:
    events = Events(TWO, hold=asyncio.Event())
    with pytest.raises(PolicyUnavailable, match="did not finish"):
        await completions(ModelServer(events), timeouts=RequestTimeouts(total=0.05)).sample(REQUEST, ignore)
    assert events.closed.is_set()


async def test_a_silent_answer_is_given_up_and_not_asked_twice() -> None:
    server = ModelServer(httpx.ReadTimeout("nothing"))
    with pytest.raises(PolicyUnavailable, match="no token"):
        await completions(server).sample(REQUEST, ignore)
    assert len(server.asked) == 1


async def test_an_error_in_the_stream_is_told() -> None:
    server = ModelServer(Events([TWO[1], {"error": {"message": "out of memory", "code": 500}}]))
    with pytest.raises(PolicyUnavailable, match="out of memory"):
        await completions(server).sample(REQUEST, ignore)


async def test_what_is_no_stream_is_told() -> None:
    server = ModelServer(httpx.Response(200, text="data: <html>"))
    with pytest.raises(PolicyUnavailable, match="no completion chunk"):
        await completions(server).sample(REQUEST, ignore)


async def test_cancelling_closes_the_request() -> None:
    events = Events(TWO, hold=asyncio.Event())
    heard = asyncio.Event()

    async def hear(samples: Samples) -> None:
        heard.set()

    asking = asyncio.create_task(completions(ModelServer(events)).sample(REQUEST, hear))
    await asyncio.wait_for(heard.wait(), 5)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert events.closed.is_set()


async def test_a_failing_server_is_left_alone_then_tried_once() -> None:
    now = 0.0
    breaker = CircuitBreaker(failures=2, cool=10.0, clock=lambda: now)
    server = ModelServer(httpx.ConnectError("refused"))
    client = completions(server, breaker=breaker, timeouts=RequestTimeouts(attempts=1))

    async def fails(match: str) -> None:
        with pytest.raises(PolicyUnavailable, match=match):
            await client.sample(REQUEST, ignore)

    await fails("refused")
    await fails("refused")
    await fails("next request follows in 10 s")
    assert len(server.asked) == 2
    now = 10.0
    await fails("refused")
    assert len(server.asked) == 3
    await fails("next request follows in 20 s")
    now = 30.0
    server._answers = [Events(TWO)]
    await client.sample(REQUEST, ignore)
    await client.sample(REQUEST, ignore)


def test_a_breaker_lets_one_trial_pass_at_a_time() -> None:
    now = 0.0
    breaker = CircuitBreaker(failures=1, cool=10.0, clock=lambda: now)
    breaker.fail()
    now = 10.0
    breaker.admit()
    with pytest.raises(PolicyUnavailable):
        breaker.admit()
    breaker.succeed()
    breaker.admit()
