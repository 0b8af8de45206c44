"""Spans of an episode at the desk, with a policy behind HTTP, as a real receiver of OTLP gets them."""

from urllib.parse import urlsplit

import pytest

from tests.integration.web.conftest import Stack
from tests.span_receiver import attributes_of, fresh_tracer, receiving_spans
from tests.waiting import eventually

pytestmark = pytest.mark.django_db(transaction=True)


async def test_a_desks_episode_is_traced(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    with receiving_spans() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        with fresh_tracer():
            desk = await stack.deciding()
            act = {"thought": "I type it.", "action": {"kind": "type_text", "text": "mine"}}
            assert (await desk.ask(type="act", command_id="act-00000001", **act))["type"] == "acknowledged"
            await desk.until(type="step.added")
            await desk.until(type="proposals.ready")
            await desk.send(type="finish", command_id="finish-00001", outcome="failure", answer="", reason="")
            await desk.until(type="episode.changed", status="finished")
            await eventually(lambda: collector.flushed("invoke_agent"))

    (root,) = collector.named("invoke_agent")
    (step,) = collector.named("execute_tool")
    assert root.name == "invoke_agent scripted"
    assert attributes_of(root)["gen_ai.conversation.id"] == str(desk.episode_id)
    assert attributes_of(root)["pilothouse.outcome"] == "failure"
    assert (step.parent_span_id, step.trace_id) == (root.span_id, root.trace_id)
    assert attributes_of(step)["pilothouse.step.actor"] == "human"

    request = attributes_of(collector.named("chat scripted")[0])
    server = urlsplit(stack.model_url)
    assert request["gen_ai.provider.name"] == "openai_compatible"
    assert request["gen_ai.request.model"] == "scripted"
    assert request["gen_ai.request.temperature"] == 0.8
    assert request["gen_ai.request.choice.count"] > 1
    assert set(request["gen_ai.response.finish_reasons"]) == {"stop"}
    assert (request["server.address"], request["server.port"]) == (server.hostname, server.port)
    assert "mine" not in str(collector.spans)
