"""The reference says of each setting, command, route, message, format and dialect what the code says."""

import argparse
import importlib
import re
from pathlib import Path
from typing import Any, NoReturn, get_args

import pytest

from annotation_app.audit.verbs import VERBS
from annotation_app.notifications.schemas import EventKind
from annotation_app.notifications.webhook_events import EVENTS, event_kinds
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.reference.__main__ import PAGES, write_pages
from annotation_app.reference.command_page import command_page
from annotation_app.reference.http_page import http_page
from annotation_app.reference.markdown import default_code, table
from annotation_app.reference.options import find_programs
from annotation_app.reference.protocol_pages import EXAMPLE_SCREEN, EXAMPLES, dialects_page, messages_page
from annotation_app.reference.records_pages import audit_details, audit_page, webhooks_page
from annotation_app.reference.settings_pages import (
    PROCESSES,
    environment_page,
    trainer_commands,
    trainer_page,
)
from annotation_app.reference.source_fields import read_class
from annotation_app.reference.variables import INTERNAL, VARIABLES
from annotation_app.settings.env import Environment
from protocol.dialects.families import get_dialect, list_dialects
from protocol.legacy_names import ENVIRONMENT
from protocol.messages import events
from vm_bridge.config import Config

PRODUCT = ("protocol", "agent_backend", "vm_bridge", "annotation_app", "trainer", "task_factory", "recorder", "clients")
VARIABLE = re.compile(r"\bPILOTHOUSE_[A-Z0-9_]+")
PROGRAMS = {program.module: program for program in find_programs(ROOT)}


class ParserFound(Exception):
    """Carries the parser that a program made."""


@pytest.mark.parametrize(("module", "name", "_"), PROCESSES.values(), ids=PROCESSES)
def test_every_setting_says_what_it_does(module: str, name: str, _: str) -> None:
    assert [one.name for one in read_class(ROOT, module, name).fields if not one.meaning] == []


@pytest.mark.parametrize("command", trainer_commands(ROOT))
def test_every_setting_of_the_trainer_says_what_it_does(command: str) -> None:
    fields = read_class(ROOT, trainer_commands(ROOT)[command], "Config").fields
    assert fields
    assert [one.name for one in fields if not one.meaning] == []
    assert f"## {command}\n" in trainer_page(ROOT)


@pytest.mark.parametrize("model", [Environment, Config])
def test_fields_are_read_as_pydantic_has_them(model: type[Any]) -> None:
    read = {one.name: one for one in read_class(ROOT, model.__module__, model.__name__).fields}
    assert list(read) == list(model.model_fields)
    for name, field in model.model_fields.items():
        assert (read[name].default == "required") == field.is_required()


def test_every_variable_of_the_code_is_on_the_page() -> None:
    files = [file for top in PRODUCT for file in (ROOT / top).rglob("*.py")]
    used = {name for file in files for name in VARIABLE.findall(file.read_text())}
    fields = {f"PILOTHOUSE_{name.upper()}" for model in (Environment, Config) for name in model.model_fields}
    listed = {one.name for one in VARIABLES}
    assert used - fields - listed - ENVIRONMENT.keys() - INTERNAL.keys() == set()
    assert listed <= used
    text = environment_page(ROOT)
    assert all(f"`{name}`" in text for name in fields | listed)


@pytest.mark.parametrize(
    "module",
    ["agent_backend.judges", "agent_backend.rollout", "annotation_app.client", "vm_bridge.suites", "task_factory"],
)
def test_options_are_read_as_argparse_has_them(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse_args(parser: argparse.ArgumentParser, *words: object) -> NoReturn:
        raise ParserFound(parser)

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", parse_args)
    with pytest.raises(ParserFound) as found:
        importlib.import_module(f"{module}.__main__").main([])
    expected = options_of(found.value.args[0])
    read = {option.names for command in PROGRAMS[module].commands for option in command.options}
    computed = {name for name in read if not name.startswith("--") or "." in name}
    assert read - computed <= expected
    # What a loop over a class's fields adds has no name in the source.
    assert {name for name in expected if name.startswith("--")} - read == set() or module == "annotation_app.client"


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    """The options of a parser and of its commands; positional arguments by their names."""
    found: set[str] = set()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update(*(options_of(one) for one in action.choices.values()))
        elif action.dest != "help":
            found.add(", ".join(action.option_strings) or action.dest)
    return found


def test_commands_of_pilothouse_programs_and_management_are_listed() -> None:
    text = command_page(ROOT)
    for part in ("### backup\n", "## python -m trainer.serve\n", "### export_trajectories\n", "`--served-model-name`"):
        assert part in text


def test_every_message_is_listed_with_its_fields() -> None:
    text = messages_page(ROOT)
    for one in ("accept", "takeover", "snapshot", "step.added", "text.continued", "rejected"):
        assert f"### {one}\n" in text
    assert set(events.EpisodeState.model_fields) <= set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE))


def test_a_dialects_example_reads_back() -> None:
    text = dialects_page(ROOT)
    for name in list_dialects():
        dialect = get_dialect(name)
        for thought, action in EXAMPLES:
            if action.kind in dialect.kinds:
                assert dialect.write(thought, action, EXAMPLE_SCREEN) in text
        assert f"## {name}\n" in text


def test_a_route_has_its_parameters_body_and_answers() -> None:
    schema = {"$ref": "#/components/schemas/Pool"}
    route = {
        "tags": ["pools"],
        "description": "Change a pool.",
        "security": [{"TokenBearer": []}],
        "parameters": [{"in": "path", "name": "pool", "required": True, "schema": {"type": "integer", "minimum": 1}}],
        "requestBody": {"content": {"application/json": {"schema": schema}}},
        "responses": {"200": {"content": {"application/json": {"schema": schema}}}, "204": {}},
    }
    fields = {
        "names": {"type": "array", "items": {"type": "string", "maxLength": 9}, "default": []},
        "mode": {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]},
    }
    text = http_page(
        {
            "paths": {"/api/pools/{pool}": {"patch": route}},
            "components": {"schemas": {"Pool": {"properties": fields, "required": ["mode"]}}},
        }
    )
    assert "### PATCH /pools/{pool}\n\nChange a pool.\n" in text
    assert "| `pool` | path | integer (≥ 1) | yes |" in text
    assert "Body: `Pool`\n\nAnswers: `200` `Pool`, `204`" in text
    assert "* `names`: list of string (at most 9 characters); default `[]`" in text
    assert "* `mode`: `a`, `b` or null" in text


def test_markdown_keeps_bars_and_line_ends_out_of_cells() -> None:
    assert table(("a",), [("x | y\nz",)]).splitlines()[-1] == "| x \\| y z |"
    assert table(("a",), []) == ""
    assert [default_code(one) for one in ("''", "'a'", "Path('.data')", "8")] == ["", "`a`", "`.data`", "`8`"]


def test_pages_are_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation_app.reference.__main__.PAGES", {"one": lambda: "# One\n"})
    write_pages(tmp_path)
    first = (tmp_path / "one.md").stat().st_mtime_ns
    write_pages(tmp_path)
    assert (tmp_path / "one.md").stat().st_mtime_ns == first
    assert "\none\n" in (tmp_path / "index.md").read_text()
    pages = {"settings", "commands", "http-api", "messages", "formats", "dialects", "trainer"}
    assert set(PAGES) == pages | {"webhook-events", "audit-verbs"}


def test_each_kind_of_webhook_event_has_one_model_and_its_fields_on_the_page() -> None:
    kinds = [kind for model in EVENTS for kind in event_kinds(model)]
    assert sorted(kinds) == sorted(get_args(EventKind))
    text = webhooks_page(ROOT)
    assert all(kind in text for kind in kinds)
    assert "| `manifest_sha256` | `str` | SHA-256 of its manifest; empty where it failed. |" in text
    assert "| `kind` |" not in text


def test_each_verb_of_the_audit_log_is_on_the_page_with_its_details() -> None:
    text = audit_page(ROOT)
    assert [verb for verb in VERBS if f"| `{verb}` |" not in text] == []
    details = audit_details(ROOT)
    assert details["webhook.added"] == {"url", "events"}, "through a name"
    assert details["judge.created"] == {"judge"}
    assert set(details) <= set(VERBS)
