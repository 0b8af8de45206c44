"""What a client of an environment receives: a screen, texts, and the state of the episode."""

import base64
from typing import Any

from protocol.actions.types import ACTION_CLASSES, CONTROL_KINDS, OBSERVATION_KINDS
from protocol.base import FrozenModel, JsonObject
from protocol.blobs import BlobRef
from protocol.trajectory.observations import ActionError, Observation
from vm_bridge.machine import Capabilities, Machine

UNSUPPORTED_KINDS = frozenset({"call_user", "no_action", "upload_file", "zoom"})
"""Kinds of action that need a person, staged bytes or a part of a picture. An environment offers none of them."""


class EncodedFile(FrozenModel):
    """The bytes of a picture or file, in base64."""

    media_type: str
    data: str


class EnvironmentObservation(FrozenModel):
    """One observation of the machine, with the state of the episode."""

    instruction: str
    task: str
    """The task's id."""
    seed: int
    screenshot: EncodedFile | None = None
    width: int = 0
    height: int = 0
    """The size of the screen, in whose pixels actions point."""
    text: str | None = None
    """Output of an action, or what a terminal shows."""
    attachment: EncodedFile | None = None
    """A file that the action downloaded."""
    url: str | None = None
    application: str | None = None
    error: ActionError | None = None
    """Why the action failed; the step counts."""
    steps: int = 0
    max_steps: int = 0
    score: float = 0.0
    """The sum of the rewards so far."""
    success: bool | None = None
    """The verdict, once the episode has ended; None if no verifier can judge the task."""
    reason: str = ""
    """The verifier's message."""
    truncated: bool = False
    """Whether the limit of steps or the task's own time ended the episode."""


class EnvironmentStep(FrozenModel):
    """The answer to a reset or a step. `reward` is None after a reset, and if no verifier can judge the end."""

    observation: EnvironmentObservation
    reward: float | None
    done: bool


class EnvironmentState(FrozenModel):
    """The state of a session's episode."""

    episode_id: str | None = None
    step_count: int = 0
    session_id: str = ""
    task: str | None = None
    seed: int | None = None
    done: bool = False
    score: float = 0.0


async def screen_fields(machine: Machine, seen: Observation) -> dict[str, Any]:
    """The fields of an observation that come from the machine. Raises BridgeError."""
    return {
        "screenshot": await _encoded(machine, seen.screenshot),
        "attachment": await _encoded(machine, seen.attachment),
        "width": seen.width,
        "height": seen.height,
        "text": seen.text,
        "url": seen.url,
        "application": seen.application,
    }


async def _encoded(machine: Machine, ref: BlobRef | None) -> EncodedFile | None:
    if ref is None:
        return None
    data = base64.b64encode(await machine.blob(ref)).decode()
    return EncodedFile(media_type=ref.media_type, data=data)


def supported_kinds(capabilities: Capabilities | None) -> tuple[str, ...]:
    """The kinds of action that a session may be sent; every kind while it has no machine."""
    if capabilities is None:
        return tuple(kind for kind in ACTION_CLASSES if kind not in UNSUPPORTED_KINDS)
    known = {*capabilities.kinds, *CONTROL_KINDS, *(OBSERVATION_KINDS if capabilities.width else ())}
    return tuple(kind for kind in ACTION_CLASSES if kind in known - UNSUPPORTED_KINDS)


def action_tools(capabilities: Capabilities | None) -> list[JsonObject]:
    """One tool for each kind of action, with the JSON Schema of its arguments, as MCP lists them."""
    return [_action_tool(kind) for kind in supported_kinds(capabilities)]


def _action_tool(kind: str) -> JsonObject:
    schema: JsonObject = ACTION_CLASSES[kind].model_json_schema()
    properties = schema.get("properties")
    if isinstance(properties, dict):
        schema["properties"] = {name: each for name, each in properties.items() if name != "kind"}
    required = schema.get("required")
    if isinstance(required, list):
        schema["required"] = [name for name in required if name != "kind"]
    about = schema.pop("description", kind)
    return {"name": kind, "description": about, "inputSchema": schema}
