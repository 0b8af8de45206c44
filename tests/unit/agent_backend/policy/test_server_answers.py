"""What model servers answer in place of a plain stream: read where it can be read, told in words where it cannot."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from agent_backend.episode.proposal_requests import RetryPolicy, retry_delay
from agent_backend.errors import PolicyError, PolicyRejected, PolicyUnavailable
from agent_backend.policy.circuit_breaker import CircuitBreaker
from agent_backend.policy.completions import MAX_REPLY_CHARACTERS, CompletionsClient, RequestTimeouts, parse_retry_after
from agent_backend.policy.samples import Sample, Samples
from protocol.actions.types import Click, TypeText, Wait
from protocol.trajectory.proposals import Proposal
from tests.unit.agent_backend.policy.fake_model_server import Events, ModelServer, chunk
from tests.unit.agent_backend.policy.test_openai_chat import CLICK, ENDPOINT, ask

WAITS = RequestTimeouts(pause=0.0, token=5.0, total=10.0)
DONE = b"data: [DONE]\n\n"
REQUEST = {"model": "m", "messages": [], "stream": True, "n": 1, "return_token_ids": True}


def event(delta: Any, **fields: Any) -> bytes:
    """One event, its characters as they are."""
    choice = {"index": 0, "delta": delta, "finish_reason": None, **fields}
    return b"data: " + json.dumps({"choices": [choice]}, ensure_ascii=False).encode() + b"\n\n"


def typing(text: str) -> str:
    return f"Thought: So.\nAction: type(content='{text}')"


class Parts(httpx.AsyncByteStream):
    """A body in these parts."""

    def __init__(self, *parts: bytes) -> None:
        self._parts = parts

    async def __aiter__(self) -> Any:
        for part in self._parts:
            yield part


def answer(*parts: bytes, kind: str = "text/event-stream") -> httpx.Response:
    return httpx.Response(200, headers={"content-type": kind}, stream=Parts(*parts))


async def heard(samples: Samples) -> None:
    """Listens as a desk does."""
    samples.partials()


def client(server: ModelServer, **given: Any) -> CompletionsClient:
    return CompletionsClient(
        "http://model/v1", timeouts=given.pop("timeouts", WAITS), transport=server.transport, **given
    )


async def sampled(*parts: bytes) -> Sample:
    (sample,) = (await client(ModelServer(answer(*parts))).sample(REQUEST, heard)).finished()
    return sample


async def proposed(*parts: bytes, dialect: str = "ui_tars_1_5") -> Proposal:
    endpoint = ENDPOINT.model_copy(update={"dialect": dialect, "timeouts": WAITS})
    (proposal,) = await ask(ModelServer(answer(*parts)), endpoint=endpoint)
    return proposal


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c"])
async def test_only_cr_and_lf_end_a_line(separator: str) -> None:
    said = {"content": typing(f"a{separator}b")}
    raw = json.dumps({"choices": [{"delta": said}]}, ensure_ascii=False)
    if separator < " ":
        raw = json.dumps({"choices": [{"delta": said}]})
    proposal = await proposed(f"data: {raw}\n\n".encode(), DONE)
    assert proposal.action == TypeText(text=f"a{separator}b")


@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
async def test_every_line_end_of_the_standard_at_every_cut(end: bytes) -> None:
    body = (event({"content": "é"}) + b": keep-alive\n\n" + event({"content": "終"}) + DONE).replace(b"\n\n", end)
    for at in range(len(body)):
        sample = await sampled(body[:at], body[at:])
        assert (sample.text, sample.finish_reason) == ("é終", None)


async def test_half_an_emoji_waits_for_its_other_half() -> None:
    halves = (b'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % half for half in (b"a\\ud83d", b"\\ude00b"))
    assert (await sampled(*halves, DONE)).text == "a😀b"
    alone = await sampled(b'data: {"choices": [{"delta": {"content": "a\\ud83d"}}]}\n\n', DONE)
    assert alone.text == "a\ufffd"


@pytest.mark.parametrize(
    "part",
    [
        event(None),
        event({"content": None}),
        event({"role": "assistant", "content": []}),
        b'data: {"choices": [], "usage": {"completion_tokens": 3}}\n\n',
        b'data: {"choices": null}\n\n',
        b": ping\n\n",
        b"event: message\nid: 3\nretry: 10\n",
        b"\xef\xbb\xbf: ping\n",
    ],
)
async def test_what_says_nothing_is_passed_over(part: bytes) -> None:
    assert (await sampled(part, event({"content": "hi"}), part, DONE)).text == "hi"


async def test_a_line_of_no_known_field_is_passed_over_once_a_stream_has_begun() -> None:
    assert (await sampled(event({"content": "h"}), b"warning: slow\n{}\n", event({"content": "i"}), DONE)).text == "hi"


async def test_content_in_parts_is_one_text() -> None:
    parts = [{"type": "text", "text": "he"}, {"type": "text", "text": "llo"}]
    assert (await sampled(event({"content": parts}), DONE)).text == "hello"


async def test_a_completion_that_is_not_streamed_is_read() -> None:
    whole = {"choices": [{"index": 0, "message": {"content": CLICK}, "finish_reason": "stop"}]}
    for body in (json.dumps(whole), json.dumps(whole, indent=2)):
        assert (await proposed(body.encode())).action == Click(x=640, y=360)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<!DOCTYPE html><html>hello</html>", "a web page"),
        (b"\n <html>\n" + b"x" * 100, "a web page"),
        (b"error: out of memory\n", "out of memory"),
        (b'error: {"message": "out of memory"}\n\n', "out of memory"),
        (b'event: error\ndata: {"message": "out of memory"}\n\n', "out of memory"),
        (b'data: {"error": "out of memory"}\n\n', "out of memory"),
        (b'data: {"error": {"message": {"detail": "out of memory"}}}\n\n', "out of memory"),
        (b'data: {"object": "error", "message": "out of memory"}\n\n', "out of memory"),
        (b'{"error": {"message": "out of memory"}}', "out of memory"),
        (b'{"detail": [{"msg": "out of memory"}]}', "out of memory"),
        (b"data: oops\n\n", "oops"),
        (b"Service started", "Service started"),
        (b'data: {"choices": []}\n\ndata: [DONE]\n\n', "without any reply"),
        (b"", "without any reply"),
        (b"data: [DONE]\n\n", "without any reply"),
        (b'data: {"choices": 3}\n\n', "no completion chunk"),
        (b"data: " + b"[" * 30_000 + b"\n\n", "no completion chunk"),
    ],
)
async def test_what_is_no_reply_is_told_and_asked_once(body: bytes, words: str) -> None:
    server = ModelServer(answer(body))
    with pytest.raises(PolicyUnavailable, match=words):
        await ask(server, endpoint=ENDPOINT.model_copy(update={"timeouts": WAITS}))
    assert len(server.asked) == 1


async def test_a_stream_that_breaks_off_is_no_whole_reply() -> None:
    for ending in (b"", b'data: {"choi', event({"content": "é"})[:-6]):
        proposal = await proposed(event({"content": CLICK}), ending)
        assert (proposal.action, proposal.finish_reason) == (None, "cut")
        assert proposal.error is not None
        assert proposal.error.code == "unfinished_call"
    for whole in (DONE, event({}, finish_reason="stop")):
        assert (await proposed(event({"content": CLICK}), whole)).action == Click(x=640, y=360)


async def test_a_reply_without_its_end_among_others_that_have_one_was_cut() -> None:
    samples = Samples()
    samples.by_index = {0: Sample(text=CLICK, finish_reason="stop"), 1: Sample(text=CLICK)}
    samples.end(whole=True)
    assert [sample.finish_reason for sample in samples.finished()] == ["stop", "cut"]


@pytest.mark.parametrize(("reason", "code"), [("length", "unfinished_call"), ("content_filter", "filtered")])
async def test_why_a_reply_was_cut_is_told(reason: str, code: str) -> None:
    proposal = await proposed(event({"content": CLICK}, finish_reason=reason), DONE)
    assert proposal.action is None
    assert proposal.error is not None
    assert proposal.error.code == code
    assert proposal.raw_text == CLICK


async def test_a_refusal_is_told_in_its_words() -> None:
    proposal = await proposed(event({"refusal": "I cannot "}), event({"refusal": "do that."}), DONE)
    assert proposal.error is not None
    assert proposal.error.code == "refused"
    assert "I cannot do that." in proposal.error.message
    assert proposal.raw_text == "I cannot do that."


async def test_tool_calls_that_the_server_made_are_read_or_told() -> None:
    calls = [{"index": 0, "function": {"name": "wait", "arguments": '{"time"'}}]
    parts = (
        event({"content": None, "tool_calls": calls}),
        event({"tool_calls": [{"index": 0, "function": {"arguments": ": 2}"}}]}, finish_reason="tool_calls"),
        DONE,
    )
    assert (await proposed(*parts, dialect="json_calls")).action == Wait(seconds=2)
    other = await proposed(*parts)
    assert other.error is not None
    assert "tool parser" in other.error.message


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
async def test_reasoning_is_the_thought_and_its_tokens_count(field: str) -> None:
    thinking, acting = {field: "I look."}, {"content": CLICK}
    logprob = {"content": [{"token": "t", "logprob": -0.5}]}
    told = [event(delta, token_ids=[place], logprobs=logprob) for place, delta in enumerate((thinking, acting))]
    proposal = await proposed(*told, DONE)
    assert (proposal.thought, proposal.action) == ("I look.\nThere it is.", Click(x=640, y=360))
    assert (proposal.completion_token_ids, proposal.logprobs) == ((0, 1), (-0.5, -0.5))
    assert proposal.raw_text == f"<think>\nI look.\n</think>\n\n{CLICK}"
    partly = await proposed(event(thinking), told[1], DONE)
    assert (partly.thought, partly.completion_token_ids, partly.logprobs) == ("I look.\nThere it is.", None, None)
    assert "not trained on" in partly.warning


async def test_reasoning_alone_is_no_action() -> None:
    proposal = await proposed(event({"reasoning": CLICK}), DONE)
    assert proposal.error is not None
    assert (proposal.error.code, CLICK in proposal.raw_text) == ("no_action", True)


async def test_a_reply_without_bounds_is_cut() -> None:
    sample = await sampled(*[event({"content": "x" * 100_000})] * 10, DONE)
    assert MAX_REPLY_CHARACTERS < len(sample.text) < MAX_REPLY_CHARACTERS + 100_001
    assert sample.finish_reason == "length"


async def test_a_server_that_gives_one_reply_a_request_is_asked_as_often() -> None:
    server = ModelServer(Events([chunk(0, "hi")]))
    server.refuses = lambda body: "n must be 1" if body["n"] > 1 else None
    completions = client(server)
    for _ in range(2):
        samples = await completions.sample(REQUEST | {"n": 3, "seed": 5}, heard)
        assert [sample.text for sample in samples.finished()] == ["hi"] * 3
    assert [body["n"] for body in server.asked] == [3, 1, 1, 1, 1, 1, 1]
    assert [body["seed"] for body in server.asked[1:4]] == [5, 6, 7]


async def test_replies_that_came_stay_when_a_later_request_fails() -> None:
    server = ModelServer(Events([chunk(0, "hi")]), answer(b"data: oops\n\n"))
    server.refuses = lambda body: "only one choice: n=1" if body["n"] > 1 else None
    samples = await client(server).sample(REQUEST | {"n": 3}, heard)
    assert [sample.text for sample in samples.finished()] == ["hi"]


async def test_a_refusal_without_a_name_is_tried_without_extras_and_then_one_by_one_with_them() -> None:
    server = ModelServer(Events([chunk(0, "hi")]))
    server.refuses = lambda body: "bad request" if body["n"] > 1 else None
    await client(server).sample(REQUEST | {"n": 2}, heard)
    asked = [(body["n"], "return_token_ids" in body) for body in server.asked]
    assert asked == [(2, True), (2, False), (1, True), (1, True)]


@pytest.mark.parametrize("said", [{"content": [{"token": "t", "logprob": None}]}, "none", {"content": 3}])
async def test_logprobs_that_are_none_cost_no_reply(said: Any) -> None:
    sample = await sampled(event({"content": "hi"}, logprobs=said, token_ids=[1]), DONE)
    assert (sample.text, sample.token_ids, sample.logprobs) == ("hi", [1], [])


@pytest.mark.parametrize("complaint", ["This model's maximum context length is 4096 tokens", "prompt is too long"])
async def test_a_prompt_that_is_too_long_is_not_asked_again_with_less(complaint: str) -> None:
    server = ModelServer(Events([chunk(0, "hi")]))
    server.refuses = lambda body: complaint
    with pytest.raises(PolicyRejected, match="fewer screenshots"):
        await client(server).sample(REQUEST | {"n": 3}, heard)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [429, 503])
async def test_a_server_that_asks_for_time_gets_it(status: int) -> None:
    now = 0.0
    server = ModelServer(httpx.Response(status, headers={"retry-after": "30"}, text="busy"), Events([chunk(0, "hi")]))
    completions = client(server, breaker=CircuitBreaker(clock=lambda: now))
    with pytest.raises(PolicyUnavailable, match="30 s") as failed:
        await completions.sample(REQUEST, heard)
    assert failed.value.retry_after == 30
    with pytest.raises(PolicyUnavailable, match="30 s"):
        await completions.sample(REQUEST, heard)
    assert len(server.asked) == 1
    now = 30.0
    assert (await completions.sample(REQUEST, heard)).finished()[0].text == "hi"


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3.0),
        ("0", 0.0),
        ("1.5", 1.5),
        ("Sat, 28 Nov 2026 00:00:10 GMT", 10.0),
        ("Sat, 28 Nov 2026 00:00:00 -0000", 0.0),
        ("Fri, 27 Nov 2026 00:00:00 GMT", 0.0),
        ("999999999", 600.0),
        ("", None),
        ("soon", None),
        ("-3", None),
    ],
)
def test_retry_after(header: str, seconds: float | None) -> None:
    assert parse_retry_after(header, datetime(2026, 11, 28, tzinfo=UTC)) == seconds


@pytest.mark.parametrize(
    ("error", "delays"),
    [
        (PolicyUnavailable("down"), [1.0, 2.0, 4.0]),
        (PolicyUnavailable("busy", retry_after=45.0), [45.0, 45.0, 45.0]),
        (PolicyRejected("no"), [30.0, 30.0, 30.0]),
    ],
)
def test_a_silent_policy_is_asked_again_later_each_time(error: PolicyError, delays: list[float]) -> None:
    assert [retry_delay(error, failures, RetryPolicy()) for failures in (1, 2, 3)] == delays


async def test_a_server_that_keeps_failing_is_asked_once_a_question() -> None:
    server = ModelServer(httpx.Response(500, text="oops"))
    completions = client(server, breaker=CircuitBreaker(failures=99))
    for asked in (3, 4, 5):
        with pytest.raises(PolicyUnavailable, match="oops"):
            await completions.sample(REQUEST, heard)
        assert len(server.asked) == asked


async def test_a_server_that_is_down_for_a_while_meets_no_storm() -> None:
    now, failures = 0.0, 0
    server = ModelServer(httpx.Response(500, text="oops"))
    completions = client(server, breaker=CircuitBreaker(clock=lambda: now))
    while now < 75:
        with pytest.raises(PolicyUnavailable) as failed:
            await completions.sample(REQUEST, heard)
        failures += 1
        now += retry_delay(failed.value, failures, RetryPolicy())
    assert len(server.asked) <= 10


async def test_cancelling_a_request_for_one_of_many_closes_it() -> None:
    events = Events([chunk(0, "hi")], hold=asyncio.Event())
    server = ModelServer(events)
    server.refuses = lambda body: "n must be 1" if body["n"] > 1 else None
    begun = asyncio.Event()

    async def hear(samples: Samples) -> None:
        begun.set()

    asking = asyncio.create_task(client(server).sample(REQUEST | {"n": 2}, hear))
    await asyncio.wait_for(begun.wait(), 5)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert events.closed.is_set()
