"""What a policy adds to a half-written reply, as its server is asked for it."""

import httpx
import pytest

from agent_backend.errors import ContinuationUnsupported, PolicyRejected, PolicyUnavailable
from agent_backend.policy.continuations import ContinuationSupport, NewReply
from agent_backend.policy.openai_chat import OpenAIPolicy, PolicyEndpoint
from protocol.blobs import BlobRef
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.policy.fake_model_server import Chunk, Events, ModelServer, chunk
from tests.unit.agent_backend.policy.test_openai_chat import CLICK, ENDPOINT, past, picture, seen, texts

HALF = "I open the "
ACTION = "\nAction: click(point='<point>644 364</point>')"
KINDS = frozenset({"click", "finish", "type_text"})


def stopped(text: str, reason: str = "stop") -> Events:
    """A reply of one choice with this text."""
    end: Chunk = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    return Events([chunk(0, text), end])


async def ask(policy: OpenAIPolicy, thought: str = HALF) -> str:
    kept = {seen(number).screenshot: picture(number) for number in range(9)}

    async def blob(ref: BlobRef) -> bytes:
        return kept[ref]

    task = Task(id="t1", instruction="Open the report")
    return await policy.continue_text(task, past(1), seen(1), thought, kinds=KINDS, blob=blob)


def policy_of(server: ModelServer, endpoint: PolicyEndpoint = ENDPOINT) -> OpenAIPolicy:
    return OpenAIPolicy(endpoint, transport=server.transport)


async def test_the_last_message_is_the_beginning_of_a_reply_and_is_continued() -> None:
    server = ModelServer(stopped(f" report.{ACTION}"))
    assert await ask(policy_of(server)) == "report."
    (body,) = server.asked
    assert body["messages"][-1] == {"role": "assistant", "content": "Thought: I open the"}
    assert "Open the report" in "".join(map(texts, body["messages"])), "it reads what it reads for proposals"
    names = ("continue_final_message", "add_generation_prompt", "temperature", "n")
    assert [body[name] for name in names] == [True, False, 0, 1]
    assert body["max_tokens"] < 100


@pytest.mark.parametrize(
    ("reply", "reason", "added"),
    [
        ("ing it now, then the o", "length", "ing it now, then the"),
        (f"ing it.\nThen more.{ACTION}", "stop", "ing it."),
        (f"ing it.{ACTION[:12]}", "length", "ing it."),
        ("o55')", "stop", ""),
        ("", "stop", ""),
    ],
)
async def test_a_continuation_is_a_line_of_whole_words_before_an_action(reply: str, reason: str, added: str) -> None:
    policy = policy_of(ModelServer(stopped(reply, reason)))
    assert await ask(policy, "I open") == added


REFUSED = httpx.Response(400, json={"error": {"message": "add_generation_prompt: extra inputs are not permitted"}})


async def test_a_server_that_refuses_the_fields_is_not_asked_for_ten_minutes(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    support = ContinuationSupport("tars 1", lambda: now)
    policy = policy_of(ModelServer(REFUSED))
    with pytest.raises(ContinuationUnsupported):
        await support.watch(ask(policy))
    assert (policy.continues_text, support.available) == (False, False)
    assert "tars 1 gets no requests to continue thoughts for 10 minutes" in caplog.text
    now = 600.0
    assert support.available


async def test_two_new_replies_in_a_row_count_against_a_server_and_one_does_not() -> None:
    odd, fit = stopped(CLICK), stopped(f" report.{ACTION}")
    policy = policy_of(ModelServer(odd, fit, odd, odd))
    with pytest.raises(NewReply):
        await ask(policy)
    assert await ask(policy) == "report."
    with pytest.raises(NewReply):
        await ask(policy)
    assert policy.continues_text
    with pytest.raises(ContinuationUnsupported):
        await ask(policy)
    assert not policy.continues_text


@pytest.mark.parametrize("status", [400, 404])
async def test_another_refusal_says_nothing_of_continuations(status: int) -> None:
    policy = policy_of(ModelServer(httpx.Response(status, json={"error": {"message": "the model is loading"}})))
    with pytest.raises(PolicyRejected):
        await ask(policy)
    assert policy.continues_text


async def test_a_prompt_that_is_too_long_says_nothing_of_the_server() -> None:
    full = httpx.Response(400, json={"error": {"message": "maximum context length is 8 tokens"}})
    policy = policy_of(ModelServer(full))
    with pytest.raises(PolicyRejected):
        await ask(policy)
    assert policy.continues_text


async def test_a_failure_is_not_tried_again_and_does_not_count_against_proposals() -> None:
    server = ModelServer(httpx.ConnectError("no route"))
    policy = policy_of(server)
    for _ in range(4):
        with pytest.raises(PolicyUnavailable):
            await ask(policy)
    assert len(server.asked) == 4, "one request each, and the circuit breaker stays closed"
