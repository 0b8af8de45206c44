"""A collector that keeps what it is sent: OTLP over HTTP, as protobuf."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agent_backend.telemetry.tracer import episode_tracer, flush_spans


class SpanReceiver:
    """Collects the spans it receives, as protobuf messages."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[Any] = []
        self.resources: list[dict[str, Any]] = []

    def take(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resources.append(attributes_of(resource.resource))
            for scope in resource.scope_spans:
                self.spans += scope.spans

    def flushed(self, beginning: str) -> list[Any]:
        """The same, after a flush of the exporter."""
        flush_spans()
        return self.named(beginning)

    def named(self, beginning: str) -> list[Any]:
        """Spans whose names begin with `beginning`, earliest first."""
        found = [span for span in self.spans if span.name.startswith(beginning)]
        return sorted(found, key=lambda span: span.start_time_unix_nano)


def attributes_of(span: Any) -> dict[str, Any]:
    """The attributes of a span or a resource."""
    return {each.key: _value(each.value) for each in span.attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(each) for each in value.array_value.values]
    return getattr(value, kind)


@contextmanager
def receiving_spans() -> Iterator[SpanReceiver]:
    """A collector on a free port while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            assert self.path == "/v1/traces"
            assert self.headers["Content-Type"] == "application/x-protobuf"
            receiver.take(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *arguments: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver = SpanReceiver(f"http://127.0.0.1:{server.server_address[1]}")
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def fresh_tracer() -> Iterator[None]:
    """Runners that begin in the block trace as the environment says now."""
    episode_tracer.cache_clear()
    try:
        yield
        flush_spans()
    finally:
        episode_tracer.cache_clear()
