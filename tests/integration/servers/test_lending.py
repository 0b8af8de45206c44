"""Real model servers that a turn is lent: each side's weights answer, and what cannot be loaded is told by its code."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from annotation_app.flywheel.model_servers import (
    ServingRefused,
    ServingTaken,
    serve_weights,
    weights_load,
    weights_verify,
)
from annotation_app.flywheel.programs import ProgramRunner, turn_lock
from annotation_app.flywheel.recipe import ServingSettings
from benchmarks.parts.model_servers.launcher import Server


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[ProgramRunner]:
    with turn_lock(tmp_path / "turn") as lock:
        assert lock is not None
        yield ProgramRunner(lock, lambda: True, {})


def greedy_reply(url: str, model: str) -> str:
    """Greedy words of these weights."""
    asked = {"model": model, "messages": [{"role": "user", "content": "Where?"}], "temperature": 0, "max_tokens": 12}
    answer = httpx.post(f"{url}/chat/completions", json=asked, timeout=300, trust_env=False).raise_for_status().json()
    return str(answer["choices"][0]["message"]["content"])


def test_each_side_answers_with_its_own_weights(
    server: Server, checkpoint: Path, other_checkpoint: Path, programs: ProgramRunner, tmp_path: Path
) -> None:
    log, serving = tmp_path / "serve.log", ServingSettings(url=f"{server.url}/v1", model="tiny")
    words, tried = dict[str, list[str]](), tmp_path / "tried"
    try:
        for version, weights in (("one", checkpoint), ("two", other_checkpoint), ("one", checkpoint)):
            with serve_weights(
                programs, weights, name="nano", version=version, threads=1, log=log, serving=serving
            ) as answering:
                assert answering.model == "tiny"
                words.setdefault(version, []).append(greedy_reply(answering.url, answering.model))
            weights_verify(programs, serving.url, version, tried, log=log)
        assert words["one"][0] == words["one"][1] != words["two"][0]

        broken = tmp_path / "broken"
        broken.mkdir()
        with pytest.raises(ServingRefused, match="/collective_rpc"):
            weights_load(programs, serving.url, broken, "broken", log=log)
        tried.mkdir()
        with pytest.raises(ServingTaken, match="'one', not 'two'"):
            weights_verify(programs, serving.url, "two", tried, log=log)
        assert not tried.exists()
    finally:
        weights_load(programs, server.url, checkpoint, "one", log=log)
    assert greedy_reply(f"{server.url}/v1", "tiny") == words["one"][0], "it goes on with what it had"
