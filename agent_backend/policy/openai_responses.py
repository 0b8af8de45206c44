"""OpenAI's models by the Responses API and its computer tool, through OpenAI's own client."""

import json
from typing import Any

from pydantic import SecretStr

from agent_backend.policy.completions import RequestTimeouts
from agent_backend.policy.hosted_requests import HostedReply, HostedRequest, Picture, ReplyCallback, Turn, Usage
from agent_backend.policy.provider_errors import SdkErrors, error_of_type, http_client
from agent_backend.policy.samples import CUT_FINISH_REASON
from protocol.providers import ProviderSettings
from protocol.trajectory.proposals import SafetyCheck

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
            body |= {"tools": tools, "parallel_tool_calls": False}
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
        """The conversation. A result of the computer tool is a picture, so that a call which no picture follows is
        told in words."""
        items: list[dict[str, Any]] = []
        for place, turn in enumerate(turns):
            before = turns[place - 1] if place else None
            if turn.role == "assistant":
                following = turns[place + 1] if place + 1 < len(turns) else None
                items += self._said(turn, f"call_{place}", following)
            elif before is not None and before.call is not None:
                items += _result(turn, before.call, f"call_{place - 1}")
            else:
                items.append(_user_message(turn))
        return items

    def _said(self, turn: Turn, call_id: str, following: Turn | None) -> list[dict[str, Any]]:
        """What the model said and called; a function whose result is not shown was done."""
        text, call = turn.text, turn.call
        shown = following is not None and following.role == "user"
        if call is not None and call["type"] == "computer_call" and not (shown and following and following.pictures):
            text, call = f"{text}\n{json.dumps(call['actions'], ensure_ascii=False)}".strip(), None
        items: list[dict[str, Any]] = []
        if text.strip():
            items.append({"role": "assistant", "content": [{"type": "output_text", "text": text}]})
        if call is None:
            return items
        if call["type"] == "function_call":
            items.append({**call, "call_id": call_id})
            return items if shown else [*items, _function_output(call_id, "Done.")]
        actions = {"action": call["actions"][0]} if self._tool == PREVIEW_TOOL else {"actions": call["actions"]}
        checks: dict[str, Any] = {"pending_safety_checks": [], "status": "completed"}
        items.append({"type": "computer_call", "id": f"cu_{call_id}", "call_id": call_id, **actions, **checks})
        return items

    def _take(self, event: Any, reply: HostedReply, model: str) -> None:
        """One event of a stream; unknown ones are passed over. Raises PolicyError for one that tells of a failure."""
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
    """A call that is whole."""
    fields = item.to_dict()
    if item.type == "computer_call":
        actions = fields.get("actions") or [fields.get("action")]
        reply.append(json.dumps({"type": "computer_call", "actions": actions}, ensure_ascii=False))
        reply.safety_checks += tuple(map(_safety_check, fields.get("pending_safety_checks") or ()))
    elif item.type == "function_call":
        call = {"type": "function_call", "name": fields.get("name"), "arguments": fields.get("arguments") or "{}"}
        reply.append(json.dumps(call, ensure_ascii=False))


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


def _result(turn: Turn, call: dict[str, Any], call_id: str) -> list[dict[str, Any]]:
    """What came of a call; the present screen is its last picture."""
    notes = [_user_message(Turn("user", turn.text, pictures=turn.pictures[:-1]))]
    notes = notes if turn.text.strip() or turn.pictures[1:] else []
    if call["type"] == "function_call":
        pictures = [_user_message(Turn("user", "The screen now:", pictures=turn.pictures))] if turn.pictures else []
        return [_function_output(call_id, turn.text or "Done."), *pictures]
    if not turn.pictures:
        return notes
    output = {"type": "computer_screenshot", "image_url": _data_url(turn.pictures[-1])}
    return [{"type": "computer_call_output", "call_id": call_id, "output": output}, *notes]


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
