"""The JSON Schema document that TypeScript is generated from."""

import json
import re
import subprocess
import sys

from protocol.actions.keys import KEYS
from protocol.actions.types import ACTION_CLASSES
from protocol.schema import LITERALS, MODELS, UNIONS, build_schema

DOCUMENT = build_schema()
DEFINITIONS = DOCUMENT["$defs"]


def test_the_command_prints_it() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "protocol.schema"], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert json.loads(printed) == DOCUMENT


def test_every_shared_name_is_defined() -> None:
    assert DEFINITIONS.keys() >= UNIONS.keys() | LITERALS.keys() | MODELS.keys()
    assert {cls.__name__ for cls in ACTION_CLASSES.values()} <= DEFINITIONS.keys()


def test_every_reference_leads_somewhere() -> None:
    names = set(re.findall(r'"\$ref": "#/\$defs/(\w+)"', json.dumps(DOCUMENT)))
    assert names <= DEFINITIONS.keys()


def test_unions_and_literals_are_referred_to_by_name() -> None:
    assert DEFINITIONS["Step"]["properties"]["action"] == {"$ref": "#/$defs/Action"}
    assert DEFINITIONS["Drag"]["properties"]["button"] == {"$ref": "#/$defs/Button"}
    assert DEFINITIONS["EpisodeState"]["properties"]["thinking"] == {"$ref": "#/$defs/Thinking"}


def test_each_action_is_told_by_its_kind() -> None:
    for kind, cls in ACTION_CLASSES.items():
        definition = DEFINITIONS[cls.__name__]
        assert definition["properties"]["kind"] == {"const": kind, "type": "string"}
        assert set(definition["required"]) == set(definition["properties"]), "nothing is optional on the way out"
        assert definition["additionalProperties"] is False


def test_no_titles_that_would_become_types() -> None:
    assert '"title": "' not in json.dumps(DOCUMENT)


def test_constants_are_those_of_python() -> None:
    constants = DOCUMENT["x-constants"]
    assert constants["ACTION_KINDS"] == list(ACTION_CLASSES)
    assert set(constants["KEY_NAMES"]) == KEYS
    assert constants["INPUT_KINDS"] == [
        *("move_to", "mouse_down", "mouse_up", "press", "release", "scroll", "type_text")
    ]
