"""What a task's site answers to a path: files, the task itself, and the delays and failures its manifest asks for."""

import json
import mimetypes
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from vm_bridge.suites.web.manifest import ResponseRule
from vm_bridge.suites.web.task_folder import PAGE, TaskFolder

SHARED_FOLDER = Path(__file__).parent / "shared"
SHELL = SHARED_FOLDER / "game.html"
"""The page of a game that brings none, and whose suite has none."""
STYLE = "/site.css"
"""The look of one site beside its suite's, which the page of all asks for; a site need have none."""
MAX_PATH_LENGTH = 255
"""Characters of a path that can be a file's."""
TYPES = {".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml", ".webp": "image/webp"}


@dataclass(frozen=True, slots=True)
class SiteResponse:
    """An answer; `delay_ms` is game time, `abort` a connection that fails."""

    status: int
    media_type: str
    body: bytes
    delay_ms: float = 0
    abort: bool = False


class SiteResponder:
    """The answers to one episode: a rule that holds a few times counts them, so each episode has its own."""

    def __init__(self, folder: TaskFolder, told: dict[str, JsonValue], rules: tuple[ResponseRule, ...]) -> None:
        self._page = (folder.path / PAGE).resolve()
        self._kit = folder.kit.resolve()
        self._game = folder.manifest.kind == "game"
        self._told = told
        self._rules = rules
        self._used: Counter[int] = Counter()

    def to(self, path: str) -> SiteResponse:
        """The response for a path of the site; the query is ignored."""
        for number, rule in enumerate(self._rules):
            if rule.path == path and (rule.times == 0 or self._used[number] < rule.times):
                self._used[number] += 1
                return self._ruled(rule, path)
        return self._plain(path)

    def _ruled(self, rule: ResponseRule, path: str) -> SiteResponse:
        if rule.body is not None:
            return SiteResponse(rule.status, "application/json", _json(rule.body), rule.delay_ms, rule.abort)
        plain = self._plain(path)
        status = rule.status if plain.status == 200 or rule.status != 200 else plain.status
        return SiteResponse(status, plain.media_type, plain.body, rule.delay_ms, rule.abort)

    def _plain(self, path: str) -> SiteResponse:
        if path == "/task.js":
            return SiteResponse(200, "text/javascript", b"const TASK = Object.freeze(" + _json(self._told) + b");\n")
        found = self._file(path)
        if found is None:
            # A browser tells whoever works the page what it did not find, which here says nothing of the task.
            return (
                SiteResponse(200, "text/css", b"") if path == STYLE else SiteResponse(404, "text/plain", b"not found")
            )
        return SiteResponse(200, _type(found), found.read_bytes())

    def _file(self, path: str) -> Path | None:
        home, rest = self._page, path[1:]
        for prefix, other in (("/shared/", SHARED_FOLDER), ("/suite/", self._kit)):
            if path.startswith(prefix):
                home, rest = other, path.removeprefix(prefix)
        found = (home / rest).resolve()
        if not found.is_relative_to(home) or len(rest) > MAX_PATH_LENGTH:
            return None
        if found.is_dir():
            found /= "index.html"
        if not found.is_file() and self._game and path == "/":
            own = self._kit / "index.html"
            found = own if own.is_file() else SHELL
        elif not found.is_file() and home == self._page and "." not in path:
            found = self._kit / "index.html"  # a site of many addresses, all of one page
        return found if found.is_file() else None


def _type(path: Path) -> str:
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def _json(value: JsonValue) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
