"""OpenEnv's messages over its socket, in the form of `openenv.core.env_server` of openenv 0.10."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from agent_backend.environments.errors import EnvironmentRefusal
from agent_backend.environments.mcp import answer_rpc, call_tool, list_tools, tool_result
from agent_backend.environments.observations import EnvironmentObservation, EnvironmentState
from agent_backend.environments.session import EnvironmentSession
from agent_backend.environments.validation import parse_action, parse_reset
from protocol.actions.types import ACTION_ADAPTER
from protocol.base import find_json_error

NAME = "pilothouse"
ErrorCode = Literal[
    "INVALID_JSON", "UNKNOWN_TYPE", "VALIDATION_ERROR", "EXECUTION_ERROR", "CAPACITY_REACHED", "SESSION_ERROR"
]
CODES: Mapping[str, ErrorCode] = {
    "invalid_json": "INVALID_JSON",
    "unknown_type": "UNKNOWN_TYPE",
    "invalid_request": "VALIDATION_ERROR",
    "capacity_reached": "CAPACITY_REACHED",
    "unknown_session": "SESSION_ERROR",
    "session_attached": "SESSION_ERROR",
    "session_closed": "SESSION_ERROR",
    "session_idle": "SESSION_ERROR",
}
Reply = dict[str, Any]


def error_reply(refusal: EnvironmentRefusal) -> Reply:
    """A refusal: OpenEnv's code, and ours as `reason` and at the beginning of the message."""
    code = CODES.get(refusal.code, "EXECUTION_ERROR")
    return {"type": "error", "data": {"message": str(refusal), "code": code, "reason": refusal.code}}


async def answer_message(session: EnvironmentSession, text: str) -> Reply | None:
    """The reply to one message; None where it closes the session."""
    try:
        kind, data = _parse_message(text)
        return None if kind == "close" else await _answer(session, kind, data)
    except EnvironmentRefusal as refusal:
        return error_reply(refusal)


def _parse_message(text: str) -> tuple[str, dict[str, Any]]:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        raise EnvironmentRefusal("invalid_json", "the message is no JSON") from None
    if not isinstance(message, dict) or find_json_error(message) is not None:
        raise EnvironmentRefusal("invalid_json", "the message is no JSON object")
    kind, data = message.get("type"), message.get("data", {})
    if kind not in ("reset", "step", "state", "mcp", "close"):
        raise EnvironmentRefusal("unknown_type", "a message is reset, step, state, mcp or close")
    if not isinstance(data, dict):
        raise EnvironmentRefusal("invalid_request", "data: it is no object")
    return kind, data


async def _answer(session: EnvironmentSession, kind: str, data: dict[str, Any]) -> Reply:
    match kind:
        case "state":
            return {"type": "state", "data": session.state().model_dump(mode="json")}
        case "mcp":
            return {"type": "mcp", "data": await answer_rpc(session, data)}
        case "reset":
            begun = await session.reset(parse_reset(data))
            return {"type": "observation", "data": begun.model_dump(mode="json")}
        case _:
            return {"type": "observation", "data": await _step(session, data)}


async def _step(session: EnvironmentSession, data: dict[str, Any]) -> Reply:
    """An action of the protocol, or one of OpenEnv's actions for tools. Raises EnvironmentRefusal."""
    if data.get("type") == "list_tools":
        tools = [{**tool, "input_schema": tool["inputSchema"]} for tool in list_tools(session)]
        return {"observation": {"tools": tools}, "reward": None, "done": False}
    if data.get("type") == "call_tool":
        name = data.get("tool_name")
        step = await call_tool(session, name, data.get("arguments", {}))
        observation = {"tool_name": name, "result": tool_result(step), "error": None}
        return {"observation": observation, "reward": step.reward, "done": step.done}
    fields = {name: value for name, value in data.items() if name != "metadata"}
    return (await session.step(parse_action(fields))).model_dump(mode="json")


def schemas() -> Reply:
    """The JSON Schemas of `GET /schema`."""
    return {
        "action": ACTION_ADAPTER.json_schema(),
        "observation": EnvironmentObservation.model_json_schema(),
        "state": EnvironmentState.model_json_schema(),
    }


def metadata(max_sessions: int) -> Reply:
    """The answer of `GET /metadata`."""
    return {
        "name": NAME,
        "description": "Desktops, browsers, phones and terminals with verified tasks.",
        "version": "1",
        "max_concurrent_envs": max_sessions,
    }


def manifest(port: int, episode_seconds: float) -> str:
    """`openenv.yaml` of this environment."""
    return (
        f"spec_version: 1\nname: {NAME}\nversion: 1.0.0\ntype: space\nruntime: fastapi\n"
        f"app: agent_backend.environments.server:app\nport: {port}\n"
        "validation:\n  reward:\n    range: [0.0, 1.0]\n    oracle_tolerance: 0.0\n    floor_margin: 0.1\n"
        f"  resources:\n    cpu: 1.0\n    memory_mb: 512\n    disk_mb: 64\n    episode_timeout_s: {episode_seconds:g}\n"
        "  capabilities:\n    verifier:\n      kind: reward_channel\n    task_api: true\n"
        "  types:\n    tags: [computer-use, browser, phone, terminal]\n"
    )
