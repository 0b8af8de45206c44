"""Spans of episodes: what a collector gets, that none is named by default, and that a dead one costs no step."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from agent_backend.episode.in_memory_store import InMemoryEpisodeStore
from agent_backend.telemetry.requests import add_usage
from agent_backend.telemetry.tracer import captures_content, episode_tracer, exports_spans
from protocol.actions.types import Finish, TypeText
from protocol.trajectory.proposals import Proposal, Reply
from tests.span_receiver import SpanReceiver, attributes_of, fresh_tracer, receiving_spans
from tests.unit.agent_backend.episode.test_unattended import Returning, run_episode
from tests.unit.agent_backend.policy.fake_policy import Answer, FakePolicy

SECRET = r'hunter2"hunter\2'
"""With characters that JSON escapes."""
SAID: tuple[Answer, ...] = ((("I type it.", TypeText(text="hello")),), (("Done.", Finish(answer=SECRET)),))
ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[SpanReceiver]:
    with receiving_spans() as receiver:
        monkeypatch.setenv(ENDPOINT, receiver.url)
        yield receiver


async def traced(policy: FakePolicy) -> InMemoryEpisodeStore:
    with fresh_tracer():
        return await run_episode(policy)


async def test_an_episode_is_a_span_with_its_requests_and_steps_in_it(collector: SpanReceiver) -> None:
    state = (await traced(FakePolicy(SAID))).state
    (root,) = collector.named("invoke_agent")
    requests, steps = collector.named("chat"), collector.named("execute_tool")
    assert [span.name for span in steps] == ["execute_tool type_text", "execute_tool finish"]
    assert {span.trace_id for span in collector.spans} == {root.trace_id}
    assert {span.parent_span_id for span in (*requests, *steps)} == {root.span_id}
    assert root.parent_span_id == b""
    assert collector.resources[0]["service.name"] == "pilothouse"

    episode = attributes_of(root)
    assert episode["gen_ai.operation.name"] == "invoke_agent"
    assert episode["gen_ai.conversation.id"] == state.id
    assert (episode["pilothouse.outcome"], episode["pilothouse.steps"]) == ("success", 2)
    step = attributes_of(steps[0])
    assert step["gen_ai.tool.name"] == "type_text"
    assert step["gen_ai.tool.call.id"] == state.steps[0].command_id
    assert (step["pilothouse.step.actor"], step["pilothouse.step.decision"]) == ("policy", "auto")
    request = attributes_of(requests[0])
    assert request["gen_ai.operation.name"] == "chat"
    policy = state.steps[0].policy
    assert policy is not None
    assert request["gen_ai.request.model"] == policy.name
    for span in (*requests, *steps):
        assert root.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano


async def test_nothing_that_was_said_goes_along_unless_it_is_asked_for(
    collector: SpanReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    await traced(FakePolicy(SAID))
    sent = str(collector.spans)
    assert not any(word in sent for word in ("hello", "I type it", "hunter", "Type hello"))
    collector.spans.clear()

    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    monkeypatch.setenv("PILOTHOUSE_POOL_SECRET_SHOP", SECRET)
    await traced(FakePolicy(SAID))
    first, last = (attributes_of(span) for span in collector.named("execute_tool"))
    assert json.loads(first["gen_ai.tool.call.arguments"]) == {"text": "hello"}
    assert first["pilothouse.step.thought"] == "I type it."
    assert json.loads(last["gen_ai.tool.call.arguments"])["answer"] == "secret:SHOP"
    (root,) = collector.named("invoke_agent")
    assert json.loads(attributes_of(root)["gen_ai.input.messages"])[0]["parts"][0]["content"] == "Type hello"
    assert "hunter" not in str(collector.spans)


async def test_nothing_that_was_said_of_a_sealed_task_goes_along(
    collector: SpanReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    with fresh_tracer():
        await run_episode(FakePolicy(SAID), parameters={"sealed": {"password": "own"}})
    assert collector.named("invoke_agent")
    sent = str(collector.spans)
    assert not any(word in sent for word in ("hello", "I type it", "Type hello"))


async def test_a_request_that_failed_says_why_and_a_providers_count_of_tokens_is_its_own(
    collector: SpanReceiver,
) -> None:
    class Counting(Returning):
        async def propose(self, *given: Any, **more: Any) -> tuple[Proposal, ...]:
            add_usage(1200, 34)
            return await super().propose(*given, **more)

    await traced(Counting(SAID))
    failed, answered, *_ = (attributes_of(span) for span in collector.named("chat"))
    assert failed["error.type"] == "policy_unavailable"
    assert (answered["gen_ai.usage.input_tokens"], answered["gen_ai.usage.output_tokens"]) == (1200, 34)
    assert "error.type" not in answered


async def test_tokens_that_came_with_the_replies_are_counted(collector: SpanReceiver) -> None:
    class Counted(FakePolicy):
        async def propose(self, *given: Any, **more: Any) -> tuple[Proposal, ...]:
            other = Reply(token_ids=(7, 8))
            tokens = {"prompt_token_ids": (1, 2, 3), "completion_token_ids": (4, 5), "others": (other,)}
            offered = await super().propose(*given, **more)
            return tuple(one.model_copy(update={**tokens, "finish_reason": "length"}) for one in offered)

    await traced(Counted(SAID))
    request = attributes_of(collector.named("chat")[0])
    assert (request["gen_ai.usage.input_tokens"], request["gen_ai.usage.output_tokens"]) == (3, 4)
    assert request["gen_ai.response.finish_reasons"] == ["length"]


async def test_a_dead_collector_costs_spans_and_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv(ENDPOINT, f"http://127.0.0.1:{port}")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "2")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
    state = (await traced(FakePolicy(SAID))).state
    assert (state.status, state.outcome, len(state.steps)) == ("finished", "success", 2)


def test_by_default_nothing_is_traced_and_nothing_of_it_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (ENDPOINT, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_TRACES_EXPORTER"):
        monkeypatch.delenv(name, raising=False)
    with fresh_tracer():
        assert episode_tracer() is None
    program = (
        "import sys, agent_backend.rollout.__main__, agent_backend.telemetry.tracer as t\n"
        "assert not t.episode_tracer()\n"
        "assert not [m for m in sys.modules if m.startswith(('opentelemetry.sdk', 'opentelemetry.exporter'))]"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


@pytest.mark.parametrize(
    ("environment", "on"),
    [
        ({}, False),
        ({ENDPOINT: "http://c:4318"}, True),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, True),
        ({"OTEL_TRACES_EXPORTER": "otlp"}, True),
        ({"OTEL_TRACES_EXPORTER": "none", ENDPOINT: "http://c:4318"}, False),
        ({"OTEL_TRACES_EXPORTER": "console"}, False),
        ({"OTEL_SDK_DISABLED": "true", ENDPOINT: "http://c:4318"}, False),
    ],
)
def test_opentelemetrys_own_variables_switch_it_on_and_off(environment: dict[str, str], on: bool) -> None:
    assert exports_spans(environment) is on
    assert captures_content(environment) is False
