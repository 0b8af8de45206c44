"""Inspect's own package over real machines: an evaluation by its command, and its checks of a sandbox."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation_app.operations.console import Console
from benchmarks.parts.desktops.live_bridge import live_bridge
from benchmarks.parts.tasks.environments import running_server
from benchmarks.parts.tasks.inspect_run import ensure_inspect, evaluation_accuracy, run_checks

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("inspect")]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What Inspect is told of a server over a real bridge."""
    scratch = tmp_path_factory.mktemp("inspect")
    data, source = scratch / "data", scratch / "tasks.jsonl"
    data.mkdir()
    source.write_text('{"id": "any", "instruction": "Do."}\n')
    with live_bridge(scratch, data) as bridge, running_server(scratch, bridge, source) as server:
        yield {**server.environment, "PILOTHOUSE_OPENENV_URL": server.url}


@pytest.fixture(scope="module")
def python() -> Path:
    return ensure_inspect(Console())


def test_an_evaluation_uses_a_sandbox_and_its_scorer_looks_into_it(
    python: Path, told: dict[str, str], tmp_path: Path
) -> None:
    assert evaluation_accuracy(python, tmp_path / "logs", told) == 1.0


def test_inspects_checks_of_a_sandbox_pass(python: Path, told: dict[str, str]) -> None:
    assert "1 xfailed" in run_checks(python, told), "the one that needs a second user"
