"""Makes a browser task of an HTML5 game from elsewhere that has `window.gameAPI` {init, reset, getState}.

`getState()` gives {terminal: {isTerminal, outcome}, game_state: {…}} and more. Such a game keeps its own state and
clock, so that its score is what the page says: it is not made again from moves, as that of a made game is.
"""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from protocol.base import FrozenModel
from vm_bridge.suites.web.manifest import Level, LocalizedText, Manifest, Phrasings
from vm_bridge.suites.web.task_folder import EXPERT, PAGE, VERIFIER

SCRIPTS = Path(__file__).parent / "js"
ADAPTER = "adapter.js"
ELSEWHERE = re.compile(r"""(?:src|href)\s*=\s*["']?\s*((?:https?:)?//[^"'\s>]+)""", re.IGNORECASE)
HEAD = '<script src="/task.js"></script><script src="/shared/runtime.js"></script>'
FOOT = f'<script src="/{ADAPTER}"></script>'


class AdaptedGame(FrozenModel):
    """What a game's page does not say of itself; a JSON file with these fields."""

    name: str
    version: str = "1.0"
    title: LocalizedText
    instructions: Phrasings
    levels: tuple[Level, ...]
    """`slots` are given to `init`; each level has the slot `goal`, the score that wins."""
    score: str = "score"
    """Where the score is in `game_state`, with dots."""
    size: tuple[int, int] = (800, 600)
    step_ms: int = 0
    webgl: bool = False
    source: str
    """Where the game is from."""
    licence: str
    author: str


def adapt_game(folder: Path, about: Path, out: Path) -> Path:
    """Write the task's folder and give its path.

    Args:
        folder: The game's page: an index.html and all that it loads.
        about: An `AdaptedGame` as JSON.
        out: The task's folder is made in here, under the game's name.

    Raises ValueError for a page that cannot be adapted, OSError.
    """
    try:
        game = AdaptedGame.model_validate_json(about.read_bytes())
    except ValidationError as error:
        raise ValueError(f"{about}: {error}") from error
    faults = list(_page_faults(folder)) + [
        f"level {number} has no slot `goal`" for number, level in enumerate(game.levels, 1) if "goal" not in level.slots
    ]
    if faults:
        raise ValueError("; ".join(faults))
    manifest = {
        "format": 1,
        "kind": "game",
        **game.model_dump(mode="json", exclude={"score", "source", "licence", "author"}),
    }
    try:
        Manifest.model_validate_json(json.dumps(manifest))
    except ValidationError as error:
        raise ValueError(f"{about}: {error}") from error
    target = out / game.name
    shutil.copytree(folder, target / PAGE, ignore=shutil.ignore_patterns(EXPERT))
    index = target / PAGE / "index.html"
    index.write_text(_with_scripts(index.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copyfile(SCRIPTS / ADAPTER, target / PAGE / ADAPTER)
    path = json.dumps(game.score.split("."))
    verifier = (SCRIPTS / "adapted_verifier.js").read_text(encoding="utf-8")
    (target / VERIFIER).write_text(verifier.replace('["score"]', path), encoding="utf-8")
    if (folder / EXPERT).is_file():
        shutil.copyfile(folder / EXPERT, target / EXPERT)
    (target / "manifest.json").write_text(json.dumps(manifest, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    origin = {"format": 1, "adapted": True, **{name: getattr(game, name) for name in ("author", "source", "licence")}}
    (target / "origin.json").write_text(json.dumps(origin, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return target


def _page_faults(folder: Path) -> Iterator[str]:
    index = folder / "index.html"
    if not index.is_file():
        yield f"{folder} has no index.html"
        return
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".html", ".htm", ".svg"):
            for found in ELSEWHERE.findall(path.read_text(encoding="utf-8")):
                yield f"{path.relative_to(folder)} loads {found}: there is no network"
    if not any(
        "gameAPI" in path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.suffix in (".js", ".html")
    ):
        yield "no script sets window.gameAPI"


def _with_scripts(page: str) -> str:
    """The page with our scripts: the task first in its head, the adapter last in its body."""
    head = re.search(r"<head[^>]*>|<html[^>]*>|<!doctype[^>]*>", page, re.IGNORECASE)
    at = head.end() if head else 0
    page = f"{page[:at]}{HEAD}{page[at:]}"
    foot = page.lower().rfind("</body>")
    return f"{page}{FOOT}" if foot < 0 else f"{page[:foot]}{FOOT}{page[foot:]}"
