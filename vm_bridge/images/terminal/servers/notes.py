"""A small MCP server for the bundled tasks: notes with titles, kept in `notes.json` of the home folder."""

import json
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

NOTES = Path.home() / "notes.json"
server = MCPServer("notes")


@server.tool()
def add(title: str, text: str) -> str:
    """Keep a note; a note of the same title is replaced."""
    _write({**_read(), title: text})
    return f"Kept the note {title!r}."


@server.tool()
def read(title: str) -> str:
    """The text of a note."""
    notes = _read()
    if title not in notes:
        raise ToolError(f"there is no note {title!r}")
    return notes[title]


@server.tool()
def titles() -> str:
    """The titles of all notes, one a line."""
    return "\n".join(sorted(_read())) or "There are no notes."


@server.tool()
def search(word: str) -> str:
    """The titles of the notes that hold a word, one a line."""
    wanted = word.casefold()
    found = [title for title, text in _read().items() if wanted in f"{title} {text}".casefold()]
    return "\n".join(sorted(found)) or f"No note holds {word!r}."


@server.tool()
def remove(title: str) -> str:
    """Throw a note away."""
    notes = _read()
    if notes.pop(title, None) is None:
        raise ToolError(f"there is no note {title!r}")
    _write(notes)
    return f"Removed the note {title!r}."


def _read() -> dict[str, str]:
    notes: dict[str, str] = json.loads(NOTES.read_text(encoding="utf-8")) if NOTES.exists() else {}
    return notes


def _write(notes: dict[str, str]) -> None:
    fresh = NOTES.with_suffix(".writing")
    fresh.write_text(json.dumps(notes, ensure_ascii=False, indent=1), encoding="utf-8")
    fresh.replace(NOTES)


if __name__ == "__main__":
    server.run()
