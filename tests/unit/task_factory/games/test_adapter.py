"""Games from elsewhere made into tasks."""

import json
from pathlib import Path

import pytest

from task_factory.__main__ import main
from task_factory.games.adapter import adapt_game
from vm_bridge.suites.web import FolderSuite
from vm_bridge.suites.web.static_validation import find_faults

PAGE = """<!doctype html><html><head><title>Count</title></head><body><button id="more">0</button><script>
let count = 0;
const show = () => { document.getElementById("more").textContent = count; };
document.getElementById("more").onclick = () => { count++; show(); };
window.gameAPI = {
  init({ seed }) { count = seed % 2; show(); }, reset() { count = 0; show(); },
  getState: () => ({ gameId: "count", schemaVersion: 1, timestampMs: Date.now(),
    terminal: { isTerminal: count > 9, outcome: count > 9 ? "win" : null }, game_state: { player: { score: count } } }),
};
</script></body></html>"""
EXPERT = """function advise() {
  return { thought: { en: "Once more.", zh: "再来一次。" }, action: { kind: "click", x: 20, y: 18 } };
}"""
ABOUT: dict[str, object] = {
    "name": "count",
    "title": {"en": "Count", "zh": "数数"},
    "score": "player.score",
    "source": "tests",
    "licence": "Apache-2.0",
    "author": "Written for this test.",
    "levels": [{"max_steps": 9, "slots": {"goal": 3}}, {"max_steps": 20, "slots": {"goal": 6}}],
    "instructions": {
        "en": ["Click {goal} times.", "Count to {goal}.", "Reach {goal} by clicks."],
        "zh": ["点击 {goal} 次。", "数到 {goal}。", "点到 {goal}。"],
    },
}


def write_game(folder: Path, page: str = PAGE, about: dict[str, object] = ABOUT) -> tuple[Path, Path]:
    """A game from elsewhere: its page, and what is said of it."""
    (folder / "count").mkdir(parents=True)
    (folder / "count" / "index.html").write_text(page)
    (folder / "count" / "expert.js").write_text(EXPERT)
    (folder / "about.json").write_text(json.dumps(about))
    return folder / "count", folder / "about.json"


def test_a_game_becomes_a_folder_of_our_format(tmp_path: Path) -> None:
    page, about = write_game(tmp_path / "given")
    assert main(["games", "adapt", str(page), "--about", str(about), "--out", str(tmp_path / "out")]) == 0
    suite = FolderSuite("adapted", tmp_path / "out")
    folder = suite.folder("count")
    assert list(find_faults(folder)) == []
    html = (folder.path / "page" / "index.html").read_text()
    assert html.index("/task.js") < html.index("/shared/runtime.js") < html.index("gameAPI") < html.index("/adapter.js")
    assert '["player", "score"]' in folder.verifier
    assert json.loads((folder.path / "origin.json").read_text())["licence"] == "Apache-2.0"
    assert suite.make("count", level=2).max_steps == 20


@pytest.mark.parametrize(
    ("page", "about", "words"),
    [
        (PAGE.replace("<head>", '<head><script src="https://cdn.test/p5.js"></script>'), ABOUT, "no network"),
        (PAGE.replace("gameAPI", "game"), ABOUT, "gameAPI"),
        (PAGE, {**ABOUT, "levels": [{"max_steps": 9}]}, "goal"),
        (PAGE, {**ABOUT, "name": "../count"}, "name"),
        (PAGE, {name: value for name, value in ABOUT.items() if name != "licence"}, "licence"),
    ],
)
def test_what_cannot_be_adapted_is_refused(tmp_path: Path, page: str, about: dict[str, object], words: str) -> None:
    folder, told = write_game(tmp_path / "given", page, about)
    with pytest.raises(ValueError, match=words):
        adapt_game(folder, told, tmp_path / "out")
    assert not (tmp_path / "out").exists()
