"""The alert rules and the dashboard can be read, and name only metrics that docs/guides/operator/metrics.md lists."""

import json
import re

import yaml

from annotation_app.operations.runtime.stack import ROOT

MONITORING = ROOT / "docker" / "monitoring"
METRIC = re.compile(r"\bpilothouse_[a-z_]+\b")
SUFFIXES = re.compile(r"_(bucket|sum|count|total)$")
ROW = re.compile(r"^\| `(pilothouse_\w+)` \| (\w+) \|([^|]*)\|", re.MULTILINE)


def listed() -> dict[str, tuple[str, set[str]]]:
    """Type and labels of every metric that the page lists."""
    page = (ROOT / "docs" / "guides" / "operator" / "metrics.md").read_text()
    return {name: (kind, set(re.findall(r"`(\w+)`", labels))) for name, kind, labels in ROW.findall(page)}


def assert_known(expression: str) -> None:
    """Every metric of an expression is listed, and so is every label that it groups by."""
    known = listed()
    families = [family(name) for name in METRIC.findall(expression)]
    assert set(families) <= known.keys(), expression
    labels = {"le"} | {label for name in families for label in known[name][1]}
    for group in re.findall(r"by \(([^)]*)\)", expression):
        assert {word.strip() for word in group.split(",")} <= labels, expression


def family(name: str) -> str:
    """The metric behind a name that Prometheus gives to its parts."""
    return name if name in listed() else SUFFIXES.sub("", name)


def test_alert_rules_are_whole_and_name_known_metrics() -> None:
    groups = yaml.safe_load((MONITORING / "pilothouse-alerts.yaml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    assert len({rule["alert"] for rule in rules}) == len(rules) >= 8
    for rule in rules:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert {"summary", "description"} <= rule["annotations"].keys()
        assert_known(rule["expr"])


def test_the_dashboard_shows_every_metric_and_no_other() -> None:
    dashboard = json.loads((MONITORING / "grafana-dashboard.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    for expression in expressions:
        assert_known(expression)
    shown = {family(name) for expression in expressions for name in METRIC.findall(expression)}
    assert shown == listed().keys()
    places = [panel["gridPos"] for panel in dashboard["panels"]]
    assert all(place["x"] + place["w"] <= 24 for place in places)


def test_prometheus_reads_the_address_that_there_is() -> None:
    config = yaml.safe_load((MONITORING / "prometheus.yaml").read_text())
    (job,) = config["scrape_configs"]
    assert job["metrics_path"] == "/api/metrics"
    assert config["rule_files"] == ["pilothouse-alerts.yaml"]
    assert (MONITORING / "pilothouse-alerts.yaml").exists()
