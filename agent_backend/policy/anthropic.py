"""Claude by Anthropic's Messages API, through Anthropic's own client."""

import json
from typing import Any

from pydantic import SecretStr

from agent_backend.policy.completions import RequestTimeouts
from agent_backend.policy.hosted_requests import (
    SEE_LAST_RESULT,
    HostedReply,
    HostedRequest,
    ReplyCallback,
    Turn,
    Usage,
)
from agent_backend.policy.provider_errors import SdkErrors, http_client
from agent_backend.policy.samples import CUT_FINISH_REASON
from protocol.dialects.families.anthropic import MEMBER_BY_KIND, MEMBERS, TOOLSET
from protocol.providers import COMPUTER_TOOLS, ProviderSettings
from protocol.trajectory.proposals import ProviderCall

_BETA_BY_TOOL = {
    "computer_20251124": "computer-use-2025-11-24",
    "computer_20250124": "computer-use-2025-01-24",
    "computer_20241022": "computer-use-2024-10-22",
}
"""The older computer tools, and the beta that each belongs to."""
_ZOOMING_TOOL = "computer_20251124"
_FINISH_REASONS = {
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}
_MAX_TEMPERATURE = 1.0
"""Models of the older tools take one; the present ones refuse it."""


class AnthropicClient:
    """Streams one reply a request; the API has no n."""

    title = "Anthropic"

    def __init__(
        self, base_url: str, api_key: SecretStr, timeouts: RequestTimeouts, settings: ProviderSettings
    ) -> None:
        import anthropic  # the import takes a second, so it is done only when needed

        self._tool = settings.computer_tool or COMPUTER_TOOLS["anthropic"][0]
        self._errors = SdkErrors(self.title, anthropic, timeouts)
        self._client = anthropic.AsyncAnthropic(
            api_key=api_key.get_secret_value(),
            base_url=base_url,
            max_retries=0,
            http_client=http_client(timeouts),
        )

    async def ask(self, request: HostedRequest, on_reply: ReplyCallback) -> HostedReply:
        """See `ProviderClient.ask`."""
        reply, blocks = HostedReply(finish_reason=CUT_FINISH_REASON), dict[int, _Block]()
        with self._errors.told(request.model, reply):
            body = self._body(request)
            reply.temperature = body.get("extra_body", {}).get("temperature")
            stream = await self._open(body)
            async with stream:
                async for event in stream:
                    _take(event, reply, blocks)
                    _write(reply, blocks)
                    await on_reply(reply)
            reply.check_begun(self.title)
        if any(block.type == "tool_use" and not block.whole for block in blocks.values()):
            reply.finish_reason = CUT_FINISH_REASON  # a call with missing arguments could mean another action
        return reply

    async def _open(self, body: dict[str, Any]) -> Any:
        client: Any = self._client
        beta = _BETA_BY_TOOL.get(self._tool)
        return await (client.beta.messages.create(**body, betas=[beta]) if beta else client.messages.create(**body))

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.close()

    def _body(self, request: HostedRequest) -> dict[str, Any]:
        tools = [*self._computer_tool(request), *map(_function, request.functions)]
        body: dict[str, Any] = {
            "model": request.model,
            "max_tokens": request.max_tokens,
            "messages": self._messages(request.turns),
            "stream": True,
        }
        if tools:
            body |= {
                "tools": tools,
                "tool_choice": {"type": "auto", "disable_parallel_tool_use": request.max_actions == 1},
            }
        if request.temperature is not None and self._tool in _BETA_BY_TOOL:
            body["extra_body"] = {"temperature": min(request.temperature, _MAX_TEMPERATURE)}
        return body

    def _computer_tool(self, request: HostedRequest) -> list[dict[str, Any]]:
        if not request.native_kinds:
            return []
        if self._tool in _BETA_BY_TOOL:
            size = request.screen
            tool: dict[str, Any] = {"type": self._tool, "name": TOOLSET}
            if self._tool == _ZOOMING_TOOL and "zoom" in request.native_kinds:
                tool["enable_zoom"] = True
            return [tool | ({"display_width_px": size.width, "display_height_px": size.height} if size else {})]
        offered = {MEMBER_BY_KIND[kind] for kind in request.native_kinds if kind in MEMBER_BY_KIND}
        configs = {member: {"enabled": False} for member in sorted(MEMBERS - offered)}
        return [{"type": self._tool, "configs": configs}]

    def _messages(self, turns: tuple[Turn, ...]) -> list[dict[str, Any]]:
        """The conversation; each call is followed by its result."""
        messages: list[dict[str, Any]] = []
        pending: list[dict[str, Any]] = []
        for place, turn in enumerate(turns):
            if turn.role == "user":
                messages.append({"role": "user", "content": _user_content(turn, pending)})
                pending = []
                continue
            if pending:
                messages.append({"role": "user", "content": _user_content(Turn("user", "Done."), pending)})
            calls = [self._sent_call(call, f"toolu_{place}_{nth}") for nth, call in enumerate(turn.calls)]
            pending = [_result_of(call) for call in calls]
            content = [_text(turn.text)] if turn.text.strip() else []
            messages.append({"role": "assistant", "content": [*content, *calls] or [_text("…")]})
        return messages

    def _sent_call(self, call: dict[str, Any], other_id: str) -> dict[str, Any]:
        """A call of a turn in the format of the tool in use; `other_id` is the id of a call that a person made or
        changed."""
        named = {"id": other_id} | call
        if self._tool not in _BETA_BY_TOOL or call.get("toolset_name") != TOOLSET:
            return named
        arguments = {"action": call["name"], **call["input"]}
        return {"type": "tool_use", "id": named["id"], "name": TOOLSET, "input": arguments}


class _Block:
    """A block of content that is still streaming."""

    def __init__(self, block: Any) -> None:
        self.type = str(block.type)
        self.text = str(getattr(block, "text", "") or "")
        self.name = str(getattr(block, "name", "") or "")
        self.id = str(getattr(block, "id", "") or "")
        self.toolset = getattr(block, "toolset_name", None)
        given = getattr(block, "input", None)
        self.input = json.dumps(given, ensure_ascii=False) if given else ""
        self.understood = True
        self.whole = False
        """Whether it is complete and was fully parsed."""

    def written(self) -> str:
        """The call in the form of a turn, with the arguments received so far."""
        toolset = f', "toolset_name": {json.dumps(self.toolset)}' if self.toolset else ""
        name = json.dumps(self.name, ensure_ascii=False)
        return f'{{"type": "tool_use", "name": {name}{toolset}, "input": {self.input or "{}"}}}'


def _take(event: Any, reply: HostedReply, blocks: dict[int, _Block]) -> None:
    """Handle one event of a stream; unknown events are ignored."""
    reply.begun = True
    if event.type == "message_start":
        reply.model = str(event.message.model or "")
        reply.usage = _usage(event.message.usage, reply.usage)
    elif event.type == "content_block_start":
        blocks[event.index] = _Block(event.content_block)
    elif event.type == "content_block_delta" and event.index in blocks:
        block, delta = blocks[event.index], event.delta
        if delta.type == "text_delta":
            block.text += delta.text
        elif delta.type == "input_json_delta":
            block.input += delta.partial_json
        elif delta.type == "thinking_delta":
            reply.reasoning += delta.thinking
        else:
            block.understood = False
    elif event.type == "content_block_stop" and event.index in blocks:
        blocks[event.index].whole = blocks[event.index].understood
    elif event.type == "message_delta":
        reason = event.delta.stop_reason
        reply.finish_reason = _FINISH_REASONS.get(reason, "stop") if reason else reply.finish_reason
        reply.usage = _usage(event.usage, reply.usage)
        if reason == "refusal":
            reply.refusal = _refusal(event.delta)


def _refusal(delta: Any) -> str:
    details = getattr(delta, "stop_details", None)
    explanation = details.get("explanation") if isinstance(details, dict) else getattr(details, "explanation", None)
    return str(explanation or "Anthropic's safety system stopped the reply.")


def _write(reply: HostedReply, blocks: dict[int, _Block]) -> None:
    """The content received so far as a turn."""
    reply.text, reply.provider_calls = "", ()
    for _, block in sorted(blocks.items()):
        if block.type == "tool_use":
            reply.append(block.written())
            reply.provider_calls += (ProviderCall(id=block.id[:300]),)
        elif block.type == "text":
            reply.text += block.text


def _usage(given: Any, before: Usage) -> Usage:
    def count(name: str, other: int) -> int:
        value = getattr(given, name, None)
        return value if isinstance(value, int) else other

    written = getattr(given, "cache_creation_input_tokens", None) or 0
    return Usage(
        input=count("input_tokens", before.input) + written,
        output=count("output_tokens", before.output),
        cached_input=count("cache_read_input_tokens", before.cached_input),
    )


def _result_of(call: dict[str, Any]) -> dict[str, Any]:
    toolset = {key: call[key] for key in ("toolset_name",) if key in call}
    return {"type": "tool_result", "tool_use_id": call["id"], **toolset}


def _user_content(turn: Turn, results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The user's content; if calls wait for results, it is the result of the last call."""
    content = [_text(turn.text)] if turn.text.strip() else []
    content += [
        {"type": "image", "source": {"type": "base64", "media_type": picture.media_type, "data": picture.base64}}
        for picture in turn.pictures
    ]
    if not results:
        return content or [_text("…")]
    # The API takes pictures in results of calls that succeeded alone.
    failed = {"is_error": True} if turn.failed and not turn.pictures else {}
    *others, last = results
    return [*(one | {"content": [_text(SEE_LAST_RESULT)]} for one in others), last | {"content": content} | failed]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _function(function: Any) -> dict[str, Any]:
    return {"name": function.name, "description": function.description, "input_schema": function.schema}
