"""Offers the session's actions as MCP tools: JSON-RPC requests, and results with pictures."""

from collections.abc import Mapping
from typing import Any

from agent_backend.environments.errors import EnvironmentRefusal
from agent_backend.environments.observations import EnvironmentStep, action_tools, supported_kinds
from agent_backend.environments.session import EnvironmentSession
from agent_backend.environments.validation import parse_action, parse_reset
from protocol.base import JsonObject

PROTOCOL_VERSION = "2025-06-18"
PARSE_ERROR, INVALID_REQUEST, UNKNOWN_METHOD, INVALID_PARAMS, SERVER_ERROR = -32700, -32600, -32601, -32602, -32000
START_TASK = "start_task"
"""The tool that begins an episode; OpenEnv does not allow tools called `reset`."""
START_TASK_TOOL: JsonObject = {
    "name": START_TASK,
    "description": "Begin a task on a fresh machine. Without a name the seed chooses it.",
    "inputSchema": {
        "type": "object",
        "properties": {"task": {"type": "string"}, "seed": {"type": "integer"}},
        "additionalProperties": False,
    },
}
Response = dict[str, Any]


def list_tools(session: EnvironmentSession) -> list[JsonObject]:
    """The tools of a session: its machine's kinds of action, and `start_task`."""
    return [START_TASK_TOOL, *action_tools(session.capabilities)]


async def call_tool(session: EnvironmentSession, name: object, arguments: object) -> EnvironmentStep:
    """Call one of these tools. Raises EnvironmentRefusal."""
    if not isinstance(arguments, Mapping):
        raise EnvironmentRefusal("invalid_request", "arguments: it is no object")
    if name == START_TASK:
        return await session.reset(parse_reset(arguments))
    if name not in supported_kinds(session.capabilities):
        raise EnvironmentRefusal("unknown_tool", "this machine has no such tool")
    return await session.step(parse_action({**arguments, "kind": name}))


def tool_result(step: EnvironmentStep) -> Response:
    """MCP's CallToolResult: the observation without its picture as text and as data, and the picture."""
    observation = step.observation
    record = step.model_copy(update={"observation": observation.model_copy(update={"screenshot": None})})
    content: list[dict[str, Any]] = [{"type": "text", "text": record.model_dump_json(exclude_none=True)}]
    for picture in (observation.screenshot, observation.attachment):
        if picture is not None and picture.media_type.startswith("image/"):
            content.append({"type": "image", "data": picture.data, "mimeType": picture.media_type})
    return {
        "content": content,
        "structuredContent": record.model_dump(mode="json", exclude_none=True),
        "isError": observation.error is not None,
    }


def rpc_error(request_id: object, code: int, message: str, reason: str = "") -> Response:
    """A JSON-RPC error; `reason` is our stable code."""
    error: dict[str, Any] = {"code": code, "message": message}
    if reason:
        error["data"] = {"reason": reason}
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def rpc_result(request_id: object, result: Mapping[str, Any]) -> Response:
    """A JSON-RPC result."""
    return {"jsonrpc": "2.0", "id": request_id, "result": dict(result)}


async def answer_rpc(session: EnvironmentSession, request: Mapping[str, Any]) -> Response:
    """The answer to `tools/list`, `tools/call` and `ping`. Refused calls are results with `isError`."""
    request_id, method, params = request.get("id"), request.get("method"), request.get("params") or {}
    if not isinstance(params, dict):
        return rpc_error(request_id, INVALID_PARAMS, "params: it is no object")
    match method:
        case "ping":
            return rpc_result(request_id, {})
        case "tools/list":
            return rpc_result(request_id, {"tools": list_tools(session)})
        case "tools/call":
            try:
                step = await call_tool(session, params.get("name"), params.get("arguments") or {})
            except EnvironmentRefusal as refusal:
                return rpc_error(request_id, SERVER_ERROR, str(refusal), refusal.code)
            return rpc_result(request_id, tool_result(step))
        case _:
            return rpc_error(request_id, UNKNOWN_METHOD, "the methods are ping, tools/list and tools/call")


def initialize_result() -> Response:
    """The instructions that MCP clients get first."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "capabilities": {"tools": {"listChanged": False}},
        "serverInfo": {"name": "pilothouse", "version": "1"},
        "instructions": f"Call {START_TASK} first; it answers with the instruction and the screen.",
    }
