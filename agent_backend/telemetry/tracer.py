"""The tracer of this process, if it exports spans. OpenTelemetry is imported only then."""

import logging
import os
from collections.abc import Mapping
from functools import cache
from typing import Protocol

from agent_backend.telemetry.requests import PolicyRequest
from protocol.messages.events import DurableEvent, EpisodeState

logger = logging.getLogger(__name__)

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
EXPORTER, DISABLED = "OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED"
CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"


class EpisodeTracer(Protocol):
    """Makes spans of what happens in episodes. Its calls neither block nor raise."""

    def on_request(self, state: EpisodeState, request: PolicyRequest) -> None:
        """A request to a policy has ended."""
        ...

    def on_event(self, state: EpisodeState, event: DurableEvent) -> None:
        """An event was stored; `state` includes it."""
        ...

    def flush(self) -> None:
        """Export queued spans. Blocks for a few seconds at most."""
        ...


def exports_spans(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether OpenTelemetry's own variables name a collector."""
    if environment.get(DISABLED, "").strip().lower() == "true":
        return False
    exporters = [name.strip().lower() for name in environment.get(EXPORTER, "").split(",") if name.strip()]
    if exporters:
        return "otlp" in exporters
    return any(environment.get(name, "").strip() for name in ENDPOINTS)


def captures_content(environment: Mapping[str, str] = os.environ) -> bool:
    """Whether spans contain prompts, thoughts and texts."""
    return environment.get(CONTENT, "").strip().lower() in ("true", "1", "span_only", "span_and_event")


@cache
def episode_tracer() -> EpisodeTracer | None:
    """The tracer of this process; None if it exports no spans."""
    if not exports_spans():
        return None
    try:
        from agent_backend.telemetry.spans import open_tracer
    except ImportError as error:
        logger.error("spans are not exported: OpenTelemetry is not installed: %s", error)
        return None
    return open_tracer(content=captures_content())


def flush_spans() -> None:
    """Export queued spans before the process ends. Blocks for a few seconds at most."""
    if (tracer := episode_tracer()) is not None:
        tracer.flush()
