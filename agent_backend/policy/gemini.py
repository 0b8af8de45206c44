"""Gemini by its generateContent API and computer use, through Google's own client."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
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
from agent_backend.policy.provider_errors import (
    UNREADABLE,
    blocking_http_client,
    connection_error,
    http_client,
    malformed_answer,
    optional_field_error,
    silence_error,
    status_error,
)
from agent_backend.policy.samples import CUT_FINISH_REASON
from protocol.dialects.families.gemini_computer import NAME_BY_KIND, legacy_call
from protocol.providers import ProviderSettings
from protocol.trajectory.proposals import MAX_SIGNATURE_CHARACTERS, ProviderCall, SafetyCheck

_ENVIRONMENTS = {
    "desktop": "ENVIRONMENT_DESKTOP",
    "browser": "ENVIRONMENT_BROWSER",
    "phone": "ENVIRONMENT_MOBILE",
    "terminal": "ENVIRONMENT_DESKTOP",
}
LEGACY_TOOL = "gemini_2_5"
_LEGACY_EXCLUDED = ("open_web_browser", "search", "type_text_at")
_EXCLUDED = ("list_apps",)
_FINISH_REASONS = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    "MALFORMED_FUNCTION_CALL": "stop",
    "UNEXPECTED_TOOL_CALL": "stop",
}
"""Finish reasons in the words of the OpenAI API. Every other reason is a content filter's."""
_UNSIGNED = b"skip_thought_signature_validator"
"""Stands for the signature of a call that a person made or corrected
(https://ai.google.dev/gemini-api/docs/thought-signatures)."""
_RESPONSES: ContextVar[list[Any]] = ContextVar("responses")
"""Responses to the request of the present task."""


class GeminiClient:
    """Streams one reply a request."""

    title = "Gemini"

    def __init__(
        self, base_url: str, api_key: SecretStr, timeouts: RequestTimeouts, settings: ProviderSettings
    ) -> None:
        from google import genai

        self._legacy = settings.computer_tool == LEGACY_TOOL
        self._timeouts = timeouts
        self._transport = http_client(timeouts)
        self._transport.event_hooks["response"].append(_note_response)
        self._unused = blocking_http_client()  # without one, Google's client makes its own, which takes long
        options: Any = {
            "base_url": base_url,
            "httpx_async_client": self._transport,
            "httpx_client": self._unused,
            "retry_options": {"attempts": 1},
            "timeout": int(timeouts.token * 1000),
        }
        self._client = genai.Client(api_key=api_key.get_secret_value() or "none", vertexai=False, http_options=options)

    async def ask(self, request: HostedRequest, on_reply: ReplyCallback) -> HostedReply:
        """See `ProviderClient.ask`."""
        reply = HostedReply(finish_reason=CUT_FINISH_REASON, temperature=request.temperature)
        responses: list[Any] = []
        _RESPONSES.set(responses)
        models: Any = self._client.aio.models
        with self._told(request.model, reply):
            try:
                stream = await models.generate_content_stream(
                    model=request.model,
                    contents=self._contents(request.turns),
                    config=self._config(request),
                )
                async for chunk in stream:
                    _take(chunk, reply)
                    await on_reply(reply)
            finally:
                for response in responses:  # the client's own generators leave it open when they are cancelled
                    await response.aclose()
            reply.check_begun(self.title)
        return reply

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()
        self._unused.close()
        self._client.close()

    @contextmanager
    def _told(self, model: str, reply: HostedReply) -> Iterator[None]:
        import httpx2
        from google.genai import errors

        try:
            yield
        except errors.APIError as error:
            message, status = str(error.message or error.status or ""), error.code or 500
            if "API key not valid" in message:
                status = 401
            wait = getattr(error.response, "headers", None) or {}
            optional = optional_field_error(self.title, message) if status == 400 else None
            told = optional or status_error(self.title, model, status, message, wait.get("retry-after", ""))
            raise told from None
        except httpx2.TimeoutException:
            raise silence_error(self.title, self._timeouts.token) from None
        except httpx2.HTTPError as error:
            if not reply.begun:
                raise connection_error(self.title, str(error) or type(error).__name__) from None
        except UNREADABLE as error:
            raise malformed_answer(self.title, str(error)) from None

    def _config(self, request: HostedRequest) -> dict[str, Any]:
        config: dict[str, Any] = {
            "max_output_tokens": request.max_tokens,
            "automatic_function_calling": {"disable": True},
            "tools": [*self._computer_tool(request)],
        }
        if request.functions:
            declared = [
                {"name": one.name, "description": one.description, "parameters_json_schema": one.schema}
                for one in request.functions
            ]
            config["tools"].append({"function_declarations": declared})
        if request.temperature is not None:
            config["temperature"] = request.temperature
        return config

    def _computer_tool(self, request: HostedRequest) -> list[dict[str, Any]]:
        if not request.native_kinds:
            return []
        environment = "ENVIRONMENT_BROWSER" if self._legacy else _ENVIRONMENTS[request.platform]
        offered = {NAME_BY_KIND.get(kind) for kind in request.native_kinds}
        excluded = (
            _LEGACY_EXCLUDED if self._legacy else (*_EXCLUDED, *sorted({*NAME_BY_KIND.values()} - offered - {None}))
        )
        return [{"computer_use": {"environment": environment, "excluded_predefined_functions": list(excluded)}}]

    def _contents(self, turns: tuple[Turn, ...]) -> list[dict[str, Any]]:
        """The conversation; each call is followed by its response."""
        contents: list[dict[str, Any]] = []
        pending: list[dict[str, Any]] = []
        for turn in turns:
            if turn.role == "user":
                contents.append({"role": "user", "parts": _user_parts(turn, pending)})
                pending = []
                continue
            if pending:
                contents.append({"role": "user", "parts": _user_parts(Turn("user", "Done."), pending)})
            parts: list[dict[str, Any]] = [{"text": turn.text}] if turn.text.strip() else []
            calls = [self._sent_call(call) for call in turn.calls]
            pending = [call["function_call"] for call in calls]
            contents.append({"role": "model", "parts": [*parts, *calls] or [{"text": "…"}]})
        return contents

    def _sent_call(self, part: dict[str, Any]) -> dict[str, Any]:
        call = part["functionCall"]
        if self._legacy:
            call = legacy_call(call) | ({"id": call["id"]} if "id" in call else {})
        signature = part.get("thoughtSignature")
        return {"function_call": call, "thought_signature": b64decode(signature) if signature else _UNSIGNED}


async def _note_response(response: Any) -> None:
    _RESPONSES.get([]).append(response)


def _user_parts(turn: Turn, calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The user's content; if calls wait for responses, it is the response of the last call."""
    pictures = [{"inline_data": {"mime_type": picture.media_type, "data": picture.data}} for picture in turn.pictures]
    if not calls:
        parts = [{"text": turn.text}] if turn.text.strip() else []
        return [*parts, *pictures] or [{"text": "…"}]
    *others, last = calls
    answer = {"error" if turn.failed else "output": turn.text or "Done."}
    return [
        *(_response(call, {"output": SEE_LAST_RESULT}, []) for call in others),
        _response(last, answer, pictures),
    ]


def _response(call: dict[str, Any], answer: dict[str, Any], pictures: list[dict[str, Any]]) -> dict[str, Any]:
    """A call's response. A person, or the pool's setting, acknowledged the checks of what was done."""
    acknowledged = {"safety_acknowledgement": "true"} if "safety_decision" in call["args"] else {}
    known = {"id": call["id"]} if "id" in call else {}
    return {"function_response": {**known, "name": call["name"], "response": answer | acknowledged, "parts": pictures}}


def _take(chunk: Any, reply: HostedReply) -> None:
    """Handle one part of a stream."""
    reply.begun = True
    reply.model = str(chunk.model_version or reply.model)
    _count(chunk.usage_metadata, reply)
    blocked = getattr(chunk.prompt_feedback, "block_reason", None)
    if blocked:
        reply.finish_reason = "content_filter"
        reply.refusal = f"Gemini blocked the prompt ({_word(blocked)})."
    for candidate in (chunk.candidates or ())[:1]:
        for part in (candidate.content.parts if candidate.content else None) or ():
            _take_part(part, reply)
        reason = _word(candidate.finish_reason) if candidate.finish_reason else ""
        if reason:
            reply.finish_reason = _FINISH_REASONS.get(reason, "content_filter")
            if reason == "MALFORMED_FUNCTION_CALL" and "functionCall" not in reply.text:
                reply.append('{"functionCall": {')


def _take_part(part: Any, reply: HostedReply) -> None:
    if part.function_call is not None:
        call, arguments = part.function_call, part.function_call.args or {}
        reply.append(json.dumps({"functionCall": {"name": call.name, "args": arguments}}, ensure_ascii=False))
        decision, checks = arguments.get("safety_decision"), tuple[SafetyCheck, ...]()
        if isinstance(decision, dict) and decision.get("decision") not in (None, "regular", "allowed"):
            explanation = str(decision.get("explanation") or "")[:2_000]
            code = str(decision.get("decision"))[:200]
            checks = (SafetyCheck(id=f"gemini-{len(reply.provider_calls)}", code=code, message=explanation),)
        signature = b64encode(part.thought_signature or b"").decode()
        known = ProviderCall(
            id=str(call.id or "")[:300],
            signature=signature if len(signature) <= MAX_SIGNATURE_CHARACTERS else "",
            safety_checks=checks,
        )
        reply.provider_calls += (known,)
    elif part.text and part.thought:
        reply.reasoning += part.text
    elif part.text:
        reply.text += part.text


def _count(usage: Any, reply: HostedReply) -> None:
    if usage is not None:
        cached = usage.cached_content_token_count or 0
        written = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
        reply.usage = Usage((usage.prompt_token_count or 0) - cached, written, cached)


def _word(value: Any) -> str:
    return str(getattr(value, "value", value))
