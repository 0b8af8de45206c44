"""OpenAI's models by the Responses API and its computer tool, through OpenAI's own client."""

import json
from typing import Any

from pydantic import SecretStr

from agent_backend.policy.completions import RequestTimeouts
from agent_backend.policy.hosted_requests import (
    SEE_LAST_RESULT,
    HostedReply,
    HostedRequest,
    Picture,
    ReplyCallback,
    Turn,
    Usage,
)
from agent_backend.policy.provider_errors import SdkErrors, error_of_type, http_client
from agent_backend.policy.samples import CUT_FINISH_REASON
from protocol.providers import ProviderSettings
from protocol.trajectory.proposals import ProviderCall, SafetyCheck

COMPUTER_TOOL, PREVIEW_TOOL = "computer", "computer_use_preview"
_INCOMPLETE = {"max_output_tokens": "length", "content_filter": "content_filter"}
_ENVIRONMENTS = {"desktop": "linux", "browser": "browser", "phone": "linux", "terminal": "linux"}


class OpenAIResponsesClient:
    """Streams one reply a request; the API has no n."""

    title = "OpenAI"

    def __init__(
        self, base_url: str, api_key: SecretStr, timeouts: RequestTimeouts, settings: ProviderSettings
    ) -> None:
        import openai

        self._tool = settings.computer_tool or COMPUTER_TOOL
        self._errors = SdkErrors(self.title, openai, timeouts)
        self._client = openai.AsyncOpenAI(
            api_key=api_key.get_secret_value(),
            base_url=base_url,
            max_retries=0,
            http_client=http_client(timeouts),
        )

    async def ask(self, request: HostedRequest, on_reply: ReplyCallback) -> HostedReply:
        """See `ProviderClient.ask`."""
        reply = HostedReply(finish_reason=CUT_FINISH_REASON, temperature=request.temperature)
        client: Any = self._client
        with self._errors.told(request.model, reply):
            stream = await client.responses.create(**self._body(request))
            async with stream:
                async for event in stream:
                    self._take(event, reply, request.model)
                    await on_reply(reply)
            reply.check_begun(self.title)
        return reply

    async def aclose(self) -> None:
        """Close every connection."""
        await self._client.close()

    def _body(self, request: HostedRequest) -> dict[str, Any]:
        tools = [*self._computer_tool(request), *map(_function, request.functions)]
        body: dict[str, Any] = {
            "model": request.model,
            "input": self._items(request.turns),
            "max_output_tokens": request.max_tokens,
            "store": False,
            "stream": True,
        }
        if tools:
            body |= {"tools": tools, "parallel_tool_calls": request.max_actions > 1}
        if self._tool == PREVIEW_TOOL:
            body["truncation"] = "auto"
        if request.temperature is not None:
            body["temperature"] = request.temperature
        return body

    def _computer_tool(self, request: HostedRequest) -> list[dict[str, Any]]:
        if not request.native_kinds:
            return []
        if self._tool != PREVIEW_TOOL or request.screen is None:
            return [{"type": COMPUTER_TOOL}]
        size = {"display_width": request.screen.width, "display_height": request.screen.height}
        return [{"type": PREVIEW_TOOL, **size, "environment": _ENVIRONMENTS[request.platform]}]

    def _items(self, turns: tuple[Turn, ...]) -> list[dict[str, Any]]:
        """The conversation. A result of the computer tool is a picture, so a call without a following picture is
        described in words."""
        items: list[dict[str, Any]] = []
        for place, turn in enumerate(turns):
            before = turns[place - 1] if place else None
            if turn.role == "assistant":
                following = turns[place + 1] if place + 1 < len(turns) else None
                items += self._said(turn, _named(turn.calls, place), following)
            elif before is not None and before.calls:
                items += self._results(turn, _named(before.calls, place - 1))
            else:
                items.append(_user_message(turn))
        return items

    def _said(self, turn: Turn, calls: list[dict[str, Any]], following: Turn | None) -> list[dict[str, Any]]:
        """The model's text and calls; a function call without a shown result counts as done."""
        shown = following is not None and following.role == "user"
        kept, told = self._sendable(calls, pictured=bool(shown and following and following.pictures))
        text = "\n".join(filter(None, (turn.text, *told)))
        items: list[dict[str, Any]] = []
        if text.strip():
            items.append({"role": "assistant", "content": [{"type": "output_text", "text": text}]})
        for call in kept:
            if call["type"] == "function_call":
                items.append(call)
                continue
            listed = call["actions"]
            actions = {"action": listed[0]} if self._tool == PREVIEW_TOOL else {"actions": listed}
            fixed = {"pending_safety_checks": call.get("pending_safety_checks", []), "status": "completed"}
            items.append({"type": "computer_call", "id": call["id"], "call_id": call["call_id"], **actions, **fixed})
        return items if shown else [*items, *(_function_output(call["call_id"], "Done.") for call in kept)]

    def _sendable(self, calls: list[dict[str, Any]], *, pictured: bool) -> tuple[list[dict[str, Any]], list[str]]:
        """The calls that can be sent, and the others in words: the result of the computer tool is a picture, of which a
        turn has one, and the preview's calls have one action."""
        computer = [call for call in calls if call["type"] == "computer_call"]
        last = computer[-1] if computer and pictured else None
        if last is not None and self._tool == PREVIEW_TOOL and len(last["actions"]) > 1:
            last = None
        kept = [call for call in calls if call is last or call["type"] == "function_call"]
        return kept, [json.dumps(call["actions"], ensure_ascii=False) for call in computer if call is not last]

    def _results(self, turn: Turn, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The results of calls: that of the last as text, and the present screen as a picture."""
        kept, _ = self._sendable(calls, pictured=bool(turn.pictures))
        if not kept:
            return [_user_message(turn)] if turn.text.strip() or turn.pictures else []
        items, last = [], kept[-1]
        for call in kept:
            if call["type"] == "function_call":
                text = (turn.text or "Done.") if call is last else SEE_LAST_RESULT
                items.append(_function_output(call["call_id"], text))
            else:
                items.append(_screenshot_output(call, turn.pictures[-1]))
        pictured = any(call["type"] == "computer_call" for call in kept)
        text = "" if last["type"] == "function_call" else turn.text
        rest = turn.pictures[:-1] if pictured else turn.pictures
        if rest and not text:
            text = "The screen now:" if not pictured else ""
        return [*items, _user_message(Turn("user", text, pictures=rest))] if text.strip() or rest else items

    def _take(self, event: Any, reply: HostedReply, model: str) -> None:
        """Handle one event of a stream; unknown events are ignored. Raises PolicyError for a failure event."""
        reply.begun = True
        if event.type == "response.output_text.delta":
            reply.text += event.delta
        elif event.type == "response.refusal.delta":
            reply.refusal += event.delta
        elif event.type in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            reply.reasoning += event.delta
        elif event.type == "response.output_item.done":
            _take_item(event.item, reply)
        elif event.type in ("response.completed", "response.incomplete"):
            _finish(event.response, reply)
        elif event.type == "response.failed":
            error = event.response.error
            raise error_of_type(self.title, model, error.to_dict() if error else {"message": "the response failed"})
        elif event.type == "error":
            raise error_of_type(self.title, model, {"code": event.code, "message": event.message})


def _take_item(item: Any, reply: HostedReply) -> None:
    """Add a complete call."""
    fields = item.to_dict()
    if item.type == "computer_call":
        actions = fields.get("actions") or [fields.get("action")]
        reply.append(json.dumps({"type": "computer_call", "actions": actions}, ensure_ascii=False))
        reply.provider_calls += (_known(fields),)
    elif item.type == "function_call":
        call = {"type": "function_call", "name": fields.get("name"), "arguments": fields.get("arguments") or "{}"}
        reply.append(json.dumps(call, ensure_ascii=False))
        reply.provider_calls += (_known(fields),)


def _known(fields: dict[str, Any]) -> ProviderCall:
    return ProviderCall(
        id=str(fields.get("call_id") or "")[:300],
        item_id=str(fields.get("id") or "")[:300],
        safety_checks=tuple(map(_safety_check, fields.get("pending_safety_checks") or ())),
    )


def _safety_check(check: dict[str, Any]) -> SafetyCheck:
    return SafetyCheck(
        id=str(check.get("id") or "check")[:200],
        code=str(check.get("code") or "")[:200],
        message=str(check.get("message") or "")[:2_000],
    )


def _finish(response: Any, reply: HostedReply) -> None:
    reply.model = str(response.model or "")
    details = response.incomplete_details
    reason = getattr(details, "reason", None)
    reply.finish_reason = _INCOMPLETE.get(str(reason), "length") if reason else "stop"
    usage = response.usage
    if usage is not None:
        cached = getattr(getattr(usage, "input_tokens_details", None), "cached_tokens", 0) or 0
        reply.usage = Usage(usage.input_tokens - cached, usage.output_tokens, cached)


def _user_message(turn: Turn) -> dict[str, Any]:
    content = [{"type": "input_text", "text": turn.text}] if turn.text.strip() else []
    content += [
        {"type": "input_image", "detail": "original", "image_url": _data_url(picture)} for picture in turn.pictures
    ]
    return {"role": "user", "content": content or [{"type": "input_text", "text": "…"}]}


def _named(calls: tuple[dict[str, Any], ...], place: int) -> list[dict[str, Any]]:
    """The calls of a turn, those with names that a person made or changed."""
    return [
        {"call_id": f"call_{place}_{nth}"}
        | ({"id": f"cu_{place}_{nth}"} if call["type"] == "computer_call" else {})
        | call
        for nth, call in enumerate(calls)
    ]


def _screenshot_output(call: dict[str, Any], picture: Picture) -> dict[str, Any]:
    """The result of the computer tool. A person, or the pool's setting, acknowledged the checks of what was done."""
    output = {"type": "computer_screenshot", "image_url": _data_url(picture)}
    checks = call.get("pending_safety_checks")
    acknowledged = {"acknowledged_safety_checks": checks} if checks else {}
    return {"type": "computer_call_output", "call_id": call["call_id"], "output": output, **acknowledged}


def _function_output(call_id: str, text: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


def _function(function: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "name": function.name,
        "description": function.description,
        "parameters": function.schema,
        "strict": False,
    }


def _data_url(picture: Picture) -> str:
    return f"data:{picture.media_type};base64,{picture.base64}"
