"""A benchmark run of games with the harness and without, over a real bridge and real browsers, by a model server."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_backend.benchmark.__main__ import main
from agent_backend.benchmark.leaderboard import build_leaderboards
from agent_backend.benchmark.manifest import MANIFEST_FILE, TASK_SETS, read_manifest_file
from agent_backend.trajectory_folders import read_trajectories
from benchmarks.parts.desktops.live_bridge import LiveBridge, live_bridge
from benchmarks.parts.tasks.verifiers_run import ScriptedPolicy

pytestmark = pytest.mark.timeout(300)
STEPS = 2


class RecordingModel(ScriptedPolicy):
    """Presses an arrow at each decision, and notes what it was asked."""

    def __init__(self) -> None:
        super().__init__([])
        self.asked: list[str] = []

    def reply(self, messages: list[dict[str, Any]]) -> str:
        last = messages[-1]["content"]
        parts = [{"type": "text", "text": last}] if isinstance(last, str) else last
        self.pictures += any(part["type"] == "image_url" for part in parts)
        self.asked.append("\n".join(part.get("text", "") for part in parts))
        return "Thought: I go left.\nAction: hotkey(key='left')"


@pytest.fixture
def model() -> Iterator[RecordingModel]:
    server = RecordingModel()
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    yield server
    server.shutdown()
    server.server_close()
    serving.join()


@pytest.fixture
def bridge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LiveBridge]:
    data = tmp_path / "data"
    data.mkdir()
    with live_bridge(tmp_path, data) as bridge:
        monkeypatch.setenv("PILOTHOUSE_SECRET", bridge.secret)
        yield bridge


def test_the_same_games_are_played_with_words_and_with_pictures_alone(
    bridge: LiveBridge, model: RecordingModel, tmp_path: Path
) -> None:
    def play(name: str, *more: str) -> list[str]:
        model.asked, model.pictures = [], 0
        words = ("--bridge", bridge.url, "--model-url", model.url, "--model", "m", "--dialect", "ui_tars_1_5")
        options = ("--revision", "r1", "--max-steps", str(STEPS), "--out", str(tmp_path / "runs" / name))
        assert main(("lmgame", *words, *options, *more)) == 0
        return model.asked

    games = TASK_SETS["lmgame"][1]
    alone = play("alone")
    assert len(alone) == model.pictures >= STEPS * len(games)
    assert not any("in words" in text for text in alone)
    harnessed = play("harnessed", "--harness", "text")
    decisions = [text for text in harnessed if "The screen in words" in text]
    assert len(decisions) >= STEPS * len(games)
    assert model.pictures == 0
    reflected = sum("Your reflection" in text for text in decisions)
    assert reflected == len(decisions) - len(games) == len(harnessed) - len(decisions), "each decision but the first"
    assert read_manifest_file(tmp_path / "runs" / "harnessed" / MANIFEST_FILE).harness
    for _, trajectory in read_trajectories([tmp_path / "runs" / "harnessed" / "attempts"]):
        pages = [step.before.page for step in trajectory.steps]
        assert all(page is not None and page.description for page in pages)
        assert {step.action.kind for step in trajectory.steps} == {"press_keys"}
    (board,) = build_leaderboards(tmp_path / "runs")
    assert {row.run: row.harness for row in board.rows} == {"alone": False, "harnessed": True}
    assert [game.name for game in board.rows[0].games] == list(games)
