"""Figures for Prometheus: what this process did, and what the database and the queue hold at this moment."""

import os
import socket
from collections.abc import Iterator

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from annotation_app.health.selectors import check_all_parts, disk_free, object_counts

REGISTRY = CollectorRegistry()
PROCESS = f"{socket.gethostname()}:{os.getpid()}"
"""Label of this process's own series. Through a proxy Prometheus reads another process each time; without the label its
`rate` would take that for a restart."""
REQUESTS = Histogram(
    "pilothouse_http_request_seconds",
    "How long this process took to answer, by route",
    ("method", "route", "process"),
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
    registry=REGISTRY,
)
RESPONSES = Counter(
    "pilothouse_http_answers", "Answers of this process, by status", ("status", "process"), registry=REGISTRY
)


class ObjectCountCollector(Collector):
    """What there is now, counted when it is asked for."""

    def collect(self) -> Iterator[Metric]:
        """The gauges."""
        for name, about, label, counts in object_counts():
            gauge = GaugeMetricFamily(f"pilothouse_{name}", about, labels=[label])
            for value, count in counts.items():
                gauge.add_metric([value], count)
            yield gauge
        free, total = disk_free()
        yield GaugeMetricFamily("pilothouse_disk_free_bytes", "Free where the data lies", value=free)
        yield GaugeMetricFamily("pilothouse_disk_bytes", "In all where the data lies", value=total)
        up = GaugeMetricFamily("pilothouse_up", "Whether a part answers", labels=["part"])
        for check in check_all_parts():
            up.add_metric([check.name], float(check.ok))
        yield up

    def describe(self) -> Iterator[Metric]:
        """Nothing, so that registering it asks nothing of the database."""
        return iter(())


REGISTRY.register(ObjectCountCollector())


def record_response(status: int) -> None:
    """Count one answer of this process."""
    RESPONSES.labels(str(status), PROCESS).inc()


def record_request(method: str, route: str, seconds: float) -> None:
    """Note how long this process took to answer."""
    REQUESTS.labels(method, route, PROCESS).observe(seconds)


def render_metrics() -> bytes:
    """Everything in the text format."""
    return generate_latest(REGISTRY)
