"""`.env.example` names every variable, with its true default."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.settings.env import Environment
from vm_bridge.config import Config

LINE = re.compile(r"# (?P<name>PILOTHOUSE_\w+)=(?P<value>\S*)")
EXAMPLE = {match["name"]: match["value"] for match in LINE.finditer((ROOT / ".env.example").read_text())}


def spelled(value: Any) -> str:
    """A default as one would write it in the environment."""
    match value:
        case bool():
            return str(value).lower()
        case str() | int() | float() | Path():
            return f"{value:g}" if isinstance(value, float) else str(value)
        case (str(host), int(port)):
            return f"{host}:{port}"
        case _:
            return "{}" if value == {} else ""


@pytest.mark.parametrize("model", [Environment, Config])
def test_every_variable_is_named(model: type[BaseModel]) -> None:
    assert {f"PILOTHOUSE_{name.upper()}" for name in model.model_fields} <= EXAMPLE.keys()


def test_no_variable_is_named_that_nobody_reads() -> None:
    known = {f"PILOTHOUSE_{name.upper()}" for model in (Environment, Config) for name in model.model_fields}
    assert EXAMPLE.keys() <= known


@pytest.mark.parametrize(
    "name", ["database_url", "bridge_url", "bridge_public_url", "vnc_public_url", "scripted_url", "log_level"]
)
def test_the_web_defaults_are_true(name: str) -> None:
    assert EXAMPLE[f"PILOTHOUSE_{name.upper()}"] == spelled(Environment.model_fields[name].default)


@pytest.mark.parametrize(
    "name", ["bridge_bind", "vnc_bind", "machines", "max_machines", "warm_pool", "stream_fps", "stream_bitrate"]
)
def test_the_bridge_defaults_are_true(name: str) -> None:
    assert EXAMPLE[f"PILOTHOUSE_{name.upper()}"] == spelled(Config.model_fields[name].default)
