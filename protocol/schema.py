"""One JSON Schema document of the shared types: `python -m protocol.schema`; TypeScript is generated from it.

Every union and every literal type that has a name in Python has the same name in the document, so
json-schema-to-typescript (with unreachableDefinitions and ignoreMinAndMaxItems) writes discriminated unions without
numbered aliases. Types have no run-time values: `x-constants` holds those TypeScript needs, each for one
`export const NAME = … as const`.
"""

import json
import sys
from typing import Any, get_args

from pydantic import TypeAdapter

from protocol.actions import inputs, tools, types
from protocol.actions.keys import KEY_ALIASES, KEYS, MODIFIERS, NAMED_KEYS
from protocol.dialects import dialect, prompts
from protocol.messages import events
from protocol.trajectory import observations, proposals, reviews, steps, trajectories
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.trajectories import Trajectory

UNIONS: dict[str, Any] = {
    "Action": types.Action,
    "InputEvent": inputs.InputEvent,
    "Command": events.Command,
    "Event": events.Event,
    "DurableEvent": events.DurableEvent,
}

LITERALS: dict[str, Any] = {
    "Button": inputs.Button,
    "Direction": inputs.Direction,
    "Platform": observations.Platform,
    "Rest": observations.Rest,
    "ClockMode": observations.ClockMode,
    "PageEventKind": observations.PageEventKind,
    "Mark": proposals.Mark,
    "Actor": steps.Actor,
    "Decision": steps.Decision,
    "StepVerdict": reviews.StepVerdict,
    "Origin": trajectories.Origin,
    "Outcome": trajectories.Outcome,
    "EpisodeStatus": events.EpisodeStatus,
    "Control": events.Control,
    "Thinking": events.Thinking,
    "Noting": events.Noting,
}

MODELS: dict[str, Any] = {
    "EpisodeState": events.EpisodeState,
    "Trajectory": Trajectory,
    "Proposal": Proposal,
    "ChatMessage": dialect.ChatMessage,
    "Prompt": prompts.Prompt,
    "Tool": tools.Tool,
}

CONSTANTS: dict[str, Any] = {
    "ACTION_KINDS": list(types.ACTION_CLASSES),
    "CONTROL_KINDS": sorted(types.CONTROL_KINDS),
    "INPUT_KINDS": [cls.model_fields["kind"].default for cls in get_args(get_args(inputs.InputEvent)[0])],
    "MODIFIERS": list(MODIFIERS),
    "NAMED_KEYS": list(NAMED_KEYS),
    "KEY_NAMES": sorted(KEYS),
    "KEY_ALIASES": dict(sorted(KEY_ALIASES.items())),
    "MAX_TEXT": inputs.MAX_TEXT,
    "MAX_FILE": types.MAX_FILE,
}


def build_schema() -> dict[str, Any]:
    """The whole document: every named type under `$defs`, the constants under `x-constants`."""
    adapters = {name: TypeAdapter(type_) for name, type_ in {**UNIONS, **LITERALS, **MODELS}.items()}
    schemas, shared = TypeAdapter.json_schemas(
        [(name, "serialization", adapter) for name, adapter in adapters.items()],
    )
    named = {name: _without_titles(schemas[name, "serialization"]) for name in adapters if name not in MODELS}
    definitions = {**_without_titles(shared["$defs"]), **named}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$defs": {name: _with_names(definitions[name], named, but=name) for name in sorted(definitions)},
        "x-constants": CONSTANTS,
    }


def _without_titles(schema: Any) -> Any:
    """The schema without titles and defaults: of a title json-schema-to-typescript would make an alias type."""
    if isinstance(schema, dict):
        return {key: _without_titles(value) for key, value in schema.items() if not _is_annotation(key, value)}
    if isinstance(schema, list):
        return [_without_titles(value) for value in schema]
    return schema


def _is_annotation(key: str, value: Any) -> bool:
    return key == "default" or (key == "title" and isinstance(value, str))


def _with_names(schema: Any, named: dict[str, Any], but: str = "") -> Any:
    """The schema with every occurrence of a named one replaced by a reference to it."""
    for name, whole in named.items():
        if name != but and schema == whole:
            return {"$ref": f"#/$defs/{name}"}
    if isinstance(schema, dict):
        return {key: _with_names(value, named) for key, value in schema.items()}
    if isinstance(schema, list):
        return [_with_names(value, named) for value in schema]
    return schema


if __name__ == "__main__":
    json.dump(build_schema(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
