"""The scripted policy as an OpenAI-compatible server: chat completions, streamed, with log-probabilities.

It reads the instruction and the turns so far, as a model would, and ignores the pictures.
"""

import asyncio
import json
import math
import re
import time
from collections.abc import AsyncIterator, Iterable
from typing import Any, Literal

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field, JsonValue

from agent_backend.scripted_policy.judge import JUDGE_MODEL, judge_prompt, top_logprobs
from agent_backend.scripted_policy.script import SCREEN, UNKNOWN_TASK_STAGE, Line, Script, find_script, sample_lines
from protocol.actions.types import Action
from protocol.dialects.dialect import Dialect, ParsedReply, ScreenSize

MODEL = "scripted"


class Message(BaseModel):
    """One turn of an OpenAI chat request."""

    role: Literal["system", "user", "assistant"]
    content: str | list[dict[str, JsonValue]]

    def text(self) -> str:
        """Its text parts, joined."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(str(part.get("text", "")) for part in self.content if part.get("type") == "text")


class ChatRequest(BaseModel):
    """The fields of a chat completion request that mean something to a script; others are ignored."""

    model: str
    messages: list[Message] = Field(min_length=1)
    n: int = Field(default=1, ge=1, le=16)
    stream: bool = False
    logprobs: bool = False
    seed: int | None = None
    continue_final_message: bool = False


class Choice(BaseModel):
    """One sampled reply, cut into tokens, with its log-probability.

    `yes` is a judge's probability, given at its verdict.
    """

    tokens: list[str]
    logprob: float
    yes: float | None = None


def executed_actions(messages: list[Message], dialect: Dialect, screen: ScreenSize) -> tuple[Action | None, ...]:
    """The actions of the turns so far; None for a turn that does not parse as an action."""
    replies = (dialect.parse(message.text(), screen) for message in messages if message.role == "assistant")
    return tuple(reply.action if isinstance(reply, ParsedReply) else None for reply in replies)


def sample_choices(request: ChatRequest, scripts: tuple[Script, ...], dialect: Dialect) -> list[Choice]:
    """The script's replies to this conversation."""
    prompt = "\n".join(message.text() for message in request.messages if message.role != "assistant")
    if request.model == JUDGE_MODEL:
        return [judge_choice(prompt)] * request.n
    script = find_script(scripts, prompt)
    screen = script.screen if script else SCREEN
    past = request.messages[:-1] if request.continue_final_message else request.messages
    stage = script.stage_after(executed_actions(past, dialect, screen)) if script else UNKNOWN_TASK_STAGE
    if request.continue_final_message:
        replies = (dialect.write(line.thought, line.action, screen) for line in stage.lines)
        return [continue_reply(request.messages[-1].text(), replies)]
    total = sum(line.weight for line in stage.lines)
    return [
        Choice(tokens=reply_tokens(dialect, line, screen), logprob=math.log(line.weight / total))
        for line in sample_lines(stage, request.n, turn=request.seed or 0)
    ]


def continue_reply(beginning: str, replies: Iterable[str]) -> Choice:
    """The rest of the first reply that begins with a text; nothing if no reply does."""
    rest = next((reply.removeprefix(beginning) for reply in replies if reply.startswith(beginning)), "")
    return Choice(tokens=split_tokens(rest) or [""], logprob=0.0)


def judge_choice(prompt: str) -> Choice:
    """The scripted judge's reply to a record."""
    yes, words = judge_prompt(prompt)
    return Choice(tokens=split_tokens(words), logprob=math.log(max(yes, 1 - yes)), yes=yes)


def reply_tokens(dialect: Dialect, line: Line, screen: ScreenSize) -> list[str]:
    """The reply of a line."""
    return split_tokens(dialect.write(line.thought, line.action, screen))


def split_tokens(text: str) -> list[str]:
    """A reply, split before each word."""
    return re.findall(r"\s*\S+\s*?", text)


def _logprobs(choice: Choice, token: str) -> dict[str, Any]:
    share = choice.logprob / len(choice.tokens)
    others = [] if choice.yes is None else top_logprobs(token, choice.yes)
    return {"content": [{"token": token, "logprob": share, "bytes": list(token.encode()), "top_logprobs": others}]}


def _completion_body(request: ChatRequest, choices: list[Choice]) -> dict[str, Any]:
    return {
        **_response_header("chat.completion", request.model),
        "choices": [
            {
                "index": index,
                "message": {"role": "assistant", "content": "".join(choice.tokens)},
                "logprobs": {"content": [entry for t in choice.tokens for entry in _logprobs(choice, t)["content"]]}
                if request.logprobs
                else None,
                "finish_reason": "stop",
            }
            for index, choice in enumerate(choices)
        ],
        "usage": {"prompt_tokens": 0, "completion_tokens": sum(len(c.tokens) for c in choices), "total_tokens": 0},
    }


def _response_header(kind: str, model: str) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": kind, "created": int(time.time()), "model": model}


async def _chunks(request: ChatRequest, choices: list[Choice], pace: float) -> AsyncIterator[str]:
    for position in range(max(len(choice.tokens) for choice in choices)):
        await asyncio.sleep(pace)
        for index, choice in enumerate(choices):
            if position >= len(choice.tokens):
                continue
            token = choice.tokens[position]
            last = position == len(choice.tokens) - 1
            body = {
                "index": index,
                "delta": {"content": token},
                "logprobs": _logprobs(choice, token) if request.logprobs else None,
                "finish_reason": "stop" if last else None,
            }
            chunk = {**_response_header("chat.completion.chunk", request.model), "choices": [body]}
            yield f"data: {json.dumps(chunk)}\n\n"
    yield "data: [DONE]\n\n"


def create_app(scripts: tuple[Script, ...], dialect: Dialect, *, pace: float) -> FastAPI:
    """The server over these scripts; `pace` is the seconds between two streamed tokens, as a model would take."""
    app = FastAPI(title="Pilothouse scripted policy", description="A script, not a model.")

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/v1/models")
    def models() -> dict[str, Any]:
        listed = {"object": "model", "created": 0, "owned_by": "pilothouse"}
        return {"object": "list", "data": [{"id": name, **listed} for name in (MODEL, JUDGE_MODEL)]}

    @app.post("/v1/chat/completions", response_model=None)
    def complete(body: ChatRequest, request: Request) -> JSONResponse | StreamingResponse:
        if body.model not in (MODEL, JUDGE_MODEL):
            message = f"The model `{body.model}` does not exist; this server has only `{MODEL}` and `{JUDGE_MODEL}`."
            return JSONResponse({"error": {"message": message, "code": "model_not_found"}}, status_code=404)
        choices = sample_choices(body, scripts, dialect)
        if body.stream:
            return StreamingResponse(_chunks(body, choices, pace), media_type="text/event-stream")
        return JSONResponse(_completion_body(body, choices))

    return app
