"""Spans of episodes by the semantic conventions of OpenTelemetry for generative AI. Each episode is an `invoke_agent`
span. It contains a `chat` span for each request to a policy and an `execute_tool` span for each step.

Trace and span ids are derived from the episode's id, so a process that resumes an episode adds to the same trace. The
span of the episode is exported when it ends. https://github.com/open-telemetry/semantic-conventions-genai
"""

import hashlib
import json
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)
from opentelemetry.util.types import AttributeValue
from pydantic import ValidationError

from agent_backend.telemetry.requests import PolicyRequest
from protocol.dialects.dialect import TextPart
from protocol.dialects.prompts import Prompt
from protocol.messages.events import DurableEvent, EpisodeChanged, EpisodeState, StepAdded
from protocol.trajectory.mcp_servers import environment_secrets
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.sealing import SEALED
from protocol.trajectory.secret_masks import mask_json
from protocol.trajectory.steps import Step

SERVICE_NAME = "pilothouse"
PROVIDER_NAMES = {"gemini": "gcp.gemini"}
"""Providers that the conventions name differently."""
FLUSH_SECONDS = 5.0
MAX_CONTENT_CHARACTERS = 100_000
"""Limit for one exported text."""
Attributes = dict[str, AttributeValue]


class EpisodeIds(RandomIdGenerator):
    """Random ids, except for the spans of episodes."""

    def __init__(self) -> None:
        self._given = threading.local()

    @contextmanager
    def given(self, context: SpanContext) -> Iterator[None]:
        """Spans that this thread starts in the block have these ids."""
        self._given.context = context
        try:
            yield
        finally:
            self._given.context = None

    def generate_trace_id(self) -> int:
        context: SpanContext | None = getattr(self._given, "context", None)
        return super().generate_trace_id() if context is None else context.trace_id

    def generate_span_id(self) -> int:
        context: SpanContext | None = getattr(self._given, "context", None)
        return super().generate_span_id() if context is None else context.span_id


class SpanTracer:
    """See `EpisodeTracer`. A thread exports the spans from a bounded queue: when the collector is too slow, spans are
    lost."""

    def __init__(self, exporter: OTLPSpanExporter, *, content: bool, secrets: Mapping[str, str]) -> None:
        self._ids = EpisodeIds()
        self._provider = TracerProvider(resource=_resource(), id_generator=self._ids, shutdown_on_exit=False)
        self._processor = BatchSpanProcessor(exporter)
        self._provider.add_span_processor(self._processor)
        self._tracer = self._provider.get_tracer("pilothouse")
        self._content = content
        self._secrets = secrets

    def on_request(self, state: EpisodeState, request: PolicyRequest) -> None:
        attributes = _model_attributes(request) | _usage_attributes(request)
        attributes |= {"gen_ai.operation.name": "chat", "gen_ai.conversation.id": state.id}
        if reasons := [one.finish_reason for one in request.proposals if one.finish_reason]:
            attributes["gen_ai.response.finish_reasons"] = reasons
        if self._has_content(state):
            attributes["gen_ai.input.messages"] = self._text(_input_messages(request.prompt))
            attributes["gen_ai.output.messages"] = self._text([_output_message(one) for one in request.proposals])
        name = f"chat {request.model.model}"
        self._emit(state, name, SpanKind.CLIENT, request.started, request.ended, attributes, request.error)

    def on_event(self, state: EpisodeState, event: DurableEvent) -> None:
        if isinstance(event, StepAdded):
            self._step(state, event.step)
        elif isinstance(event, EpisodeChanged) and event.status in ("finished", "left"):
            self._episode(state)

    def _has_content(self, state: EpisodeState) -> bool:
        """Whether spans of an episode contain texts. Spans of a sealed task never do."""
        return self._content and SEALED not in state.task.parameters

    def flush(self) -> None:
        # The exporter retries a dead collector for longer than FLUSH_SECONDS.
        exporting = threading.Thread(target=self._provider.force_flush, name="flush-spans", daemon=True)
        exporting.start()
        exporting.join(FLUSH_SECONDS)

    def _step(self, state: EpisodeState, step: Step) -> None:
        tool = getattr(step.action, "name", "") if step.action.kind == "call_tool" else step.action.kind
        attributes: Attributes = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.conversation.id": state.id,
            "gen_ai.tool.name": tool,
            "gen_ai.tool.type": "extension" if step.action.kind == "call_tool" else "function",
            "gen_ai.tool.call.id": step.command_id,
            "pilothouse.step.index": step.index,
            "pilothouse.step.actor": step.actor,
            "pilothouse.step.decision": step.decision,
        }
        if self._has_content(state):
            after = step.after.text if step.after is not None else None
            attributes["gen_ai.tool.call.arguments"] = self._text(step.action.model_dump(mode="json", exclude={"kind"}))
            attributes["gen_ai.tool.call.result"] = self._text(step.error.message if step.error else after or "")
            attributes["pilothouse.step.thought"] = self._text(step.thought)
        error = step.error.code if step.error else ""
        started, ended = _nanoseconds(step.started_at), _nanoseconds(step.ended_at)
        self._emit(state, f"execute_tool {tool}", SpanKind.INTERNAL, started, ended, attributes, error)

    def _episode(self, state: EpisodeState) -> None:
        policy = next((step.policy for step in reversed(state.steps) if step.policy is not None), state.policy)
        agent = policy.name if policy is not None else "human"
        attributes: Attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.conversation.id": state.id,
            "gen_ai.agent.name": agent,
            "pilothouse.task.id": state.task.id,
            "pilothouse.pool": state.pool,
            "pilothouse.steps": len(state.steps),
            "pilothouse.outcome": state.outcome or "",
        }
        if policy is not None:
            attributes["gen_ai.agent.version"] = policy.revision
        if state.verdict is not None:
            attributes["pilothouse.verdict.success"] = bool(state.verdict.success)
        if self._has_content(state):
            attributes["gen_ai.input.messages"] = self._text([_message("user", state.task.instruction)])
            attributes["gen_ai.output.messages"] = self._text([_message("assistant", state.answer)])
        error = "machine_failed" if state.error else ""
        ended = _nanoseconds(state.finished_at or datetime.now(state.created_at.tzinfo))
        name, started = f"invoke_agent {agent}", _nanoseconds(state.created_at)
        context = _episode_context(state.id)
        with self._ids.given(context):
            span = self._tracer.start_span(name, Context(), SpanKind.INTERNAL, attributes, start_time=started)
        _end(span, ended, error)

    def _emit(
        self,
        state: EpisodeState,
        name: str,
        kind: SpanKind,
        started: int,
        ended: int,
        attributes: Attributes,
        error: str,
    ) -> None:
        parent = set_span_in_context(NonRecordingSpan(_episode_context(state.id)), Context())
        span = self._tracer.start_span(name, parent, kind, attributes, start_time=started)
        _end(span, ended, error)

    def _text(self, value: object) -> str:
        """A text, or a value as JSON, without the values of secrets."""
        masked = mask_json(value, self._secrets)
        text = masked if isinstance(masked, str) else json.dumps(masked, ensure_ascii=False)
        return text[:MAX_CONTENT_CHARACTERS]


def open_tracer(*, content: bool, environment: Mapping[str, str] = os.environ) -> SpanTracer:
    """A tracer that exports over OTLP/HTTP to the endpoint in OpenTelemetry's environment variables."""
    return SpanTracer(OTLPSpanExporter(), content=content, secrets=environment_secrets(environment))


def _resource() -> Resource:
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return Resource.create({} if named else {"service.name": SERVICE_NAME})


def _episode_context(episode_id: str) -> SpanContext:
    """The trace of an episode and the id of its own span."""
    digest = hashlib.sha256(episode_id.encode()).digest()
    trace_id, span_id = int.from_bytes(digest[:16]), int.from_bytes(digest[16:24])
    return SpanContext(trace_id or 1, span_id or 1, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _end(span: Any, ended: int, error: str) -> None:
    if error:
        span.set_attribute("error.type", error)
        span.set_status(Status(StatusCode.ERROR))
    span.end(end_time=ended)


def _model_attributes(request: PolicyRequest) -> Attributes:
    model = request.model
    server = urlsplit(model.base_url)
    found: dict[str, AttributeValue | None] = {
        "gen_ai.provider.name": PROVIDER_NAMES.get(model.provider, model.provider),
        "gen_ai.request.model": model.model,
        "gen_ai.request.temperature": model.temperature,
        "gen_ai.request.top_p": model.top_p,
        "gen_ai.request.max_tokens": model.max_tokens,
        "gen_ai.request.choice.count": model.choices if model.choices > 1 else None,
        "gen_ai.agent.name": request.policy.name,
        "gen_ai.agent.version": request.policy.revision,
        "server.address": server.hostname,
        "server.port": server.port,
    }
    return {name: value for name, value in found.items() if value is not None}


def _usage_attributes(request: PolicyRequest) -> Attributes:
    read, written = request.count_tokens()
    found = {"gen_ai.usage.input_tokens": read, "gen_ai.usage.output_tokens": written}
    return {name: value for name, value in found.items() if value is not None}


def _message(role: str, text: str) -> dict[str, object]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _output_message(proposal: Proposal) -> dict[str, object]:
    return {**_message("assistant", proposal.raw_text), "finish_reason": proposal.finish_reason or "stop"}


def _input_messages(prompt: bytes) -> list[dict[str, object]]:
    """The messages of a prompt; pictures are named by their SHA-256."""
    try:
        messages = Prompt.model_validate_json(prompt).messages if prompt else ()
    except ValidationError:
        return []
    return [
        {
            "role": message.role,
            "parts": [
                {"type": "text", "content": part.text}
                if isinstance(part, TextPart)
                else {"type": "uri", "modality": "image", "uri": f"sha256:{part.image.sha256}"}
                for part in message.content
            ],
        }
        for message in messages
    ]


def _nanoseconds(time: datetime) -> int:
    return int(time.timestamp() * 1_000_000) * 1_000
