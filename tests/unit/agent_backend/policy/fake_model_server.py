"""A chat completion server as a function: streams what it is told to, remembers what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx

Chunk = dict[str, Any]


def chunk(index: int, text: str, *, ids: list[int] | None = None, logprobs: list[float] | None = None) -> Chunk:
    """One choice's share of a chunk, as vLLM writes it."""
    choice: dict[str, Any] = {"index": index, "delta": {"content": text}, "finish_reason": None}
    if ids is not None:
        choice["token_ids"] = ids
    if logprobs is not None:
        choice["logprobs"] = {"content": [{"token": "t", "logprob": value} for value in logprobs]}
    return {"object": "chat.completion.chunk", "choices": [choice], "usage": None}


class Events(httpx.AsyncByteStream):
    """A response body: server-sent events, then `[DONE]`, then a wait for `hold` when there is one."""

    def __init__(self, sent: list[Chunk], hold: asyncio.Event | None = None) -> None:
        self._sent = sent
        self._hold = hold
        self.closed = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for event in self._sent:
            yield f"data: {json.dumps(event)}\n\n".encode()
        if self._hold is not None:
            await self._hold.wait()
        yield b"data: [DONE]\n\n"

    async def aclose(self) -> None:
        self.closed.set()


class ModelServer:
    """Answers each request with the next of `answers`, the last one for ever; `asked` holds the bodies."""

    def __init__(self, *answers: Events | httpx.Response | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[dict[str, Any]] = []
        self.headers: list[httpx.Headers] = []
        self.weights: Callable[[], str] | None = None
        """What its weights are called, where it says so."""
        self.refuses: Callable[[dict[str, Any]], str | None] = lambda body: None
        """What is wrong with a body, if anything."""

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self._answer)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        if request.method == "GET":
            if self.weights is None:
                return httpx.Response(404)
            return httpx.Response(200, json={"weight_version": self.weights()})
        if request.url.path.endswith("/tokenize"):
            return httpx.Response(404)
        body = json.loads(request.content)
        self.asked.append(body)
        self.headers.append(request.headers)
        complaint = self.refuses(body)
        if complaint is not None:
            return httpx.Response(400, json={"error": {"message": complaint}})
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx.Response):
            return answer
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=answer)
