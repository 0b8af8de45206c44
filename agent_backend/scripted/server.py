"""The scripted policy as an OpenAI-compatible server: chat completions, streamed, with log-probabilities.

It reads what a model would read — the instruction and the turns so far — and never looks at the pictures.
"""

import asyncio
import json
import math
import re
import time
from collections.abc import AsyncIterator
from typing import Any, Literal

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field, JsonValue

from agent_backend.scripted.judge import JUDGE, doubt, opinion
from agent_backend.scripted.script import SCREEN, UNKNOWN, Line, Script, lines_sample, script_find
from vocabulary.actions import Action
from vocabulary.dialect import Dialect, Parsed, Screen

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


class Choice(BaseModel):
    """One sampled reply, cut into tokens, with its log-probability; `yes` is a judge's belief, told at its verdict."""

    tokens: list[str]
    logprob: float
    yes: float | None = None


def executed_actions(messages: list[Message], dialect: Dialect, screen: Screen) -> tuple[Action | None, ...]:
    """The actions of the turns so far; None where a turn is no readable action."""
    replies = (dialect.parse(message.text(), screen) for message in messages if message.role == "assistant")
    return tuple(reply.action if isinstance(reply, Parsed) else None for reply in replies)


def choices_of(request: ChatRequest, scripts: tuple[Script, ...], dialect: Dialect) -> list[Choice]:
    """What the script says to this conversation."""
    prompt = "\n".join(message.text() for message in request.messages if message.role != "assistant")
    if request.model == JUDGE:
        return [judged(prompt)] * request.n
    script = script_find(scripts, prompt)
    screen = script.screen if script else SCREEN
    stage = script.stage_after(executed_actions(request.messages, dialect, screen)) if script else UNKNOWN
    total = sum(line.weight for line in stage.lines)
    return [
        Choice(tokens=tokens_of(dialect, line, screen), logprob=math.log(line.weight / total))
        for line in lines_sample(stage, request.n, turn=request.seed or 0)
    ]


def judged(prompt: str) -> Choice:
    """What the scripted judge says to a record."""
    yes, said = opinion(prompt)
    return Choice(tokens=words_of(said), logprob=math.log(max(yes, 1 - yes)), yes=yes)


def tokens_of(dialect: Dialect, line: Line, screen: Screen) -> list[str]:
    """The reply of a line."""
    return words_of(dialect.write(line.thought, line.action, screen))


def words_of(text: str) -> list[str]:
    """A reply, cut where a reader would pause."""
    return re.findall(r"\s*\S+\s*?", text)


def _logprobs(choice: Choice, token: str) -> dict[str, Any]:
    share = choice.logprob / len(choice.tokens)
    others = [] if choice.yes is None else doubt(token, choice.yes)
    return {"content": [{"token": token, "logprob": share, "bytes": list(token.encode()), "top_logprobs": others}]}


def _whole(request: ChatRequest, choices: list[Choice]) -> dict[str, Any]:
    return {
        **_head("chat.completion", request.model),
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


def _head(kind: str, model: str) -> dict[str, Any]:
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
            yield f"data: {json.dumps({**_head('chat.completion.chunk', request.model), 'choices': [body]})}\n\n"
    yield "data: [DONE]\n\n"


def app_of(scripts: tuple[Script, ...], dialect: Dialect, *, pace: float) -> FastAPI:
    """The server over these scripts; `pace` is the seconds between two streamed tokens, as a model would take."""
    app = FastAPI(title="Pilothouse scripted policy", description="A script, not a model.")

    @app.get("/health")
    def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/v1/models")
    def models() -> dict[str, Any]:
        listed = {"object": "model", "created": 0, "owned_by": "pilothouse"}
        return {"object": "list", "data": [{"id": name, **listed} for name in (MODEL, JUDGE)]}

    @app.post("/v1/chat/completions", response_model=None)
    def complete(body: ChatRequest, request: Request) -> JSONResponse | StreamingResponse:
        if body.model not in (MODEL, JUDGE):
            message = f"The model `{body.model}` does not exist; this server has only `{MODEL}` and `{JUDGE}`."
            return JSONResponse({"error": {"message": message, "code": "model_not_found"}}, status_code=404)
        choices = choices_of(body, scripts, dialect)
        if body.stream:
            return StreamingResponse(_chunks(body, choices, pace), media_type="text/event-stream")
        return JSONResponse(_whole(body, choices))

    return app
