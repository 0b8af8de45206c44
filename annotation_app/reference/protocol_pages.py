"""Pages of the protocol: WebSocket messages, export formats, dialects."""

import inspect
import sys
import tomllib
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, get_args, get_origin

from annotation_app.reference.markdown import code, page, table
from annotation_app.reference.source_fields import read_class
from protocol.actions.types import Click, TypeText
from protocol.dialects.dialect import Dialect, ScreenSize
from protocol.dialects.families import get_dialect, list_dialects
from protocol.formats.registry import FORMATS, READERS
from protocol.messages import commands, events

EXAMPLE_SCREEN = ScreenSize(width=1920, height=1080)
EXAMPLES = (("Open the menu.", Click(x=960, y=324)), ("Enter the name.", TypeText(text="Ada")))


def messages_page(root: Path) -> str:
    """Every command and event of the annotation WebSocket, with its fields."""
    durable = {one.__name__ for one in _members(events.DurableEvent)}
    sections = [("Commands", _messages(root, _members(commands.Command)))]
    durables = [one for one in _members(events.Event) if one.__name__ in durable]
    others = [one for one in _members(events.Event) if one.__name__ not in durable]
    sections.append(("Durable events", f"Each carries `version`, which rises by one.\n\n{_messages(root, durables)}"))
    sections.append(("Other events", f"They have no version.\n\n{_messages(root, others)}"))
    state = read_class(root, events.EpisodeState.__module__, events.EpisodeState.__name__)
    rows = ((code(one.name), code(one.type), code(one.default), one.meaning) for one in state.fields)
    sections.append(("EpisodeState", f"{state.docstring}\n\n{table(('field', 'type', 'default', 'meaning'), rows)}"))
    lead = f"JSON messages of `/ws/episodes/{{id}}/`. {inspect.getdoc(events)}"
    return page("WebSocket messages", lead, sections)


def _members(union: Any) -> list[type[Any]]:
    """The classes of a union in pydantic's or Python's notation."""
    if get_origin(union) is Annotated:
        return _members(get_args(union)[0])
    return list(get_args(union)) if isinstance(union, UnionType) or get_args(union) else [union]


def _messages(root: Path, classes: list[type[Any]]) -> str:
    parts = []
    for one in classes:
        source = read_class(root, one.__module__, one.__name__)
        tag = str(one.model_fields["type"].default)
        rows = (
            (code(field.name), code(field.type), code(field.default), field.meaning)
            for field in source.fields
            if field.name != "type"
        )
        fields = table(("field", "type", "default", "meaning"), rows)
        parts.append(f"### {tag}\n\n{source.docstring}\n\n{fields}")
    return "\n".join(parts)


def formats_page() -> str:
    """Every format that exports write and imports read."""
    written = table(
        ("format", "layout", "told in a dialect", "points", "content"),
        (
            (
                code(one.name),
                one.layout,
                "yes" if one.dialect else "no",
                "the dialect's" if one.dialect else "shares of the picture" if one.relative_points else "pixels",
                _first_line(inspect.getmodule(one.records)),
            )
            for one in FORMATS.values()
        ),
    )
    read = table(
        ("format", "content"),
        ((code(one.name), _first_line(inspect.getmodule(one.read))) for one in READERS.values()),
    )
    lead = (
        "A layout is JSON Lines beside pictures (`lines`), parquet (`table`), tar files (`shards`), or a folder for"
        " each trajectory (`folders`)."
    )
    return page("Formats", lead, [("Written by exports", written), ("Read by imports", read)])


def dialects_page(root: Path) -> str:
    """Every dialect with its families, the actions that it can express, and an example."""
    with (root / "protocol/dialects/registry.toml").open("rb") as file:
        families = tomllib.load(file)["family"]
    sections = []
    for name in list_dialects():
        dialect = get_dialect(name)
        own = [one["name"] for one in families if one["dialect"] == name]
        grid = "pixels of the scaled picture" if dialect.absolute else "thousandths of the screen"
        kinds = ", ".join(code(kind) for kind in sorted(dialect.kinds))
        facts = (
            f"{_first_line(sys.modules[f'protocol.dialects.families.{name}'])}\n\n* models: {', '.join(own) or 'any'}"
        )
        sections.append((name, f"{facts}\n* points: {grid}\n* actions: {kinds}\n\n{_examples(dialect)}"))
    lead = "Examples are what the dialect writes for a screen of 1920 by 1080 pixels, and what it reads back."
    return page("Dialects", lead, sections)


def _examples(dialect: Dialect) -> str:
    said = [
        dialect.write(thought, action, EXAMPLE_SCREEN) for thought, action in EXAMPLES if action.kind in dialect.kinds
    ]
    return "\n\n".join(f"````text\n{one}\n````" for one in said)


def _first_line(module: Any) -> str:
    return (inspect.getdoc(module) or "").split("\n\n")[0]
