"""The server's routes: OpenAI's chat completions, and vLLM's for changing weights while it runs."""

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse
from starlette.types import Receive

from trainer.errors import CheckpointError
from trainer.serve.engine import Busy, Engine, PauseMode
from trainer.serve.prompt_encoder import Prompt, PromptEncoder
from trainer.serve.replies import Delta
from trainer.serve.schemas import (
    ChatRequest,
    CollectiveRpcRequest,
    InvalidRequest,
    TokenizeRequest,
    WeightVersionRequest,
)


class Unauthorised(Exception):
    """The key is missing or another one."""


def create_app(
    engine: Engine, reader: PromptEncoder, *, name: str, root: Path, context: int, api_key: str = "", dev: bool = False
) -> FastAPI:
    """The application. With `dev`, weights can be changed: any client can then load any folder."""

    def admitted(request: Request) -> None:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if api_key and not secrets.compare_digest(token.encode(), api_key.encode()):
            raise Unauthorised

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        yield
        engine.close()

    app = FastAPI(title="trainer.serve", lifespan=lifespan, docs_url=None, redoc_url=None)
    keyed = [Depends(admitted)]
    card = {"id": name, "object": "model", "owned_by": "trainer.serve", "root": str(root), "max_model_len": context}
    _inference_routes(app, engine, card, keyed)

    @app.post("/v1/chat/completions", dependencies=keyed)
    async def chat(body: ChatRequest, request: Request) -> Response:
        if body.model != name:
            raise ModelNotFound(f"The model `{body.model}` does not exist.")
        generating, continuing = body.add_generation_prompt, body.continue_final_message
        prompt = await asyncio.to_thread(reader.read, body.messages, generating=generating, continuing=continuing)
        deltas = engine.generate(prompt, body, reader.text)
        answer = CompletionResponse(body, prompt)
        if body.stream:
            first = await anext(deltas)  # what is wrong with the request is said before a stream begins
            events = answer.events(_prepend(first, deltas))
            return StreamingResponse(events, media_type="text/event-stream")
        whole = await _unless_disconnected(request.receive, answer.whole(deltas))
        return JSONResponse(whole) if whole is not None else Response(status_code=499)

    @app.post("/tokenize", dependencies=keyed)
    async def tokenize(body: TokenizeRequest) -> dict[str, Any]:
        if body.model not in ("", name):
            raise ModelNotFound(f"The model `{body.model}` does not exist.")
        tokens = await asyncio.to_thread(reader.tokens, body.prompt)
        return {"count": len(tokens), "max_model_len": context, "tokens": tokens}

    if dev:
        _dev_routes(app, engine, keyed)
    _error_handlers(app)
    return app


def _inference_routes(app: FastAPI, engine: Engine, card: dict[str, Any], keyed: list[Any]) -> None:
    @app.get("/health")
    async def health() -> Response:
        return Response()

    @app.get("/v1/models", dependencies=keyed)
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [card]}

    @app.get("/metrics", dependencies=keyed)
    async def metrics() -> PlainTextResponse:
        figures = engine.figures
        lines = {
            "prompt_tokens_total": figures.prompt_tokens,
            "prefix_cache_hits_total": figures.reused_tokens,
            "generation_tokens_total": figures.generated_tokens,
        }
        label = f"model_name={json.dumps(card['id'])}"
        return PlainTextResponse("".join(f"serve:{key}{{{label}}} {value}\n" for key, value in lines.items()))


def _dev_routes(app: FastAPI, engine: Engine, keyed: list[Any]) -> None:
    @app.post("/pause", dependencies=keyed)
    async def pause(mode: PauseMode = "abort", clear_cache: bool = True) -> dict[str, str]:
        await engine.pause(mode)
        if clear_cache:
            await engine.forget()
        return {"status": "paused"}

    @app.post("/resume", dependencies=keyed)
    async def resume() -> dict[str, str]:
        await engine.resume()
        return {"status": "resumed"}

    @app.get("/is_paused", dependencies=keyed)
    async def is_paused() -> dict[str, bool]:
        return {"is_paused": engine.paused}

    @app.post("/collective_rpc", dependencies=keyed)
    async def collective_rpc(call: CollectiveRpcRequest) -> dict[str, list[None]]:
        await engine.reload(Path(call.arguments.weights_path))
        return {"results": [None]}

    @app.post("/update_weight_version", dependencies=keyed)
    async def update_weight_version(body: WeightVersionRequest) -> dict[str, str]:
        engine.version = body.new_version
        return {"new_version": body.new_version}

    @app.get("/weight_info", dependencies=keyed)
    async def weight_info() -> dict[str, str]:
        return {"weight_version": engine.version}

    async def forget() -> Response:
        await engine.forget()
        return Response()

    for path in ("/reset_prefix_cache", "/reset_mm_cache", "/reset_encoder_cache"):
        app.post(path, dependencies=keyed)(forget)


class ModelNotFound(Exception):
    """There is no such model."""


def _error_handlers(app: FastAPI) -> None:
    """Every problem in OpenAI's form."""

    def problem(status: int, message: str, kind: str, param: str | None = None) -> JSONResponse:
        body = {"message": message, "type": kind, "param": param, "code": status}
        return JSONResponse({"error": body}, status_code=status)

    @app.exception_handler(InvalidRequest)
    async def refused(_: Request, error: InvalidRequest) -> JSONResponse:
        return problem(400, str(error), "BadRequestError", error.param or None)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body")
        return problem(400, f"{where}: {first['msg']}", "BadRequestError", where)

    @app.exception_handler(Unauthorised)
    async def unauthorised(_: Request, error: Unauthorised) -> JSONResponse:
        return problem(401, "The API key is missing or wrong.", "AuthenticationError")

    @app.exception_handler(ModelNotFound)
    async def not_there(_: Request, error: ModelNotFound) -> JSONResponse:
        return problem(404, str(error), "NotFoundError", "model")

    @app.exception_handler(Busy)
    async def busy(_: Request, error: Busy) -> JSONResponse:
        return problem(503, str(error), "ServiceUnavailableError")

    @app.exception_handler(CheckpointError)
    async def unusable(_: Request, error: CheckpointError) -> JSONResponse:
        return problem(400, str(error), error.code)


class CompletionResponse:
    """One answer in OpenAI's shapes, streamed or whole."""

    def __init__(self, request: ChatRequest, prompt: Prompt) -> None:
        self._request, self._prompt = request, prompt
        self._id, self._created = f"chatcmpl-{secrets.token_hex(12)}", int(time.time())

    async def events(self, deltas: AsyncIterator[Delta]) -> AsyncIterator[str]:
        """Server-sent events; the first has the prompt's tokens, the last is `[DONE]`."""
        began = {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": None}
        yield _event(self._head("chat.completion.chunk") | self._prompt_ids() | {"choices": [began]})
        try:
            async for delta in deltas:
                choice = self._choice(delta.index, [delta]) | {"delta": {"content": delta.text}}
                yield _event(self._head("chat.completion.chunk") | {"choices": [choice]})
        except Exception as error:  # noqa: BLE001 - the stream has begun: only an event can tell
            body = {"message": f"{type(error).__name__}: {error}", "type": "InternalServerError", "code": 500}
            yield _event({"error": body})
        yield "data: [DONE]\n\n"

    async def whole(self, deltas: AsyncIterator[Delta]) -> dict[str, Any]:
        """All replies, once they are finished."""
        heard: dict[int, list[Delta]] = {index: [] for index in range(self._request.n)}
        async for delta in deltas:
            heard[delta.index].append(delta)
        choices = [
            self._choice(index, parts)
            | {"message": {"role": "assistant", "content": "".join(part.text for part in parts)}}
            for index, parts in heard.items()
        ]
        completion = sum(len(part.ids) for parts in heard.values() for part in parts)
        read = len(self._prompt.ids)
        usage = {"prompt_tokens": read, "completion_tokens": completion, "total_tokens": read + completion}
        return self._head("chat.completion") | self._prompt_ids() | {"choices": choices, "usage": usage}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self._id, "object": kind, "created": self._created, "model": self._request.model}

    def _prompt_ids(self) -> dict[str, Any]:
        return {"prompt_token_ids": self._prompt.ids} if self._request.return_token_ids else {}

    def _choice(self, index: int, parts: Iterable[Delta]) -> dict[str, Any]:
        """The choice object of one reply, from some of its deltas."""
        parts = list(parts)
        choice: dict[str, Any] = {"index": index, "finish_reason": parts[-1].finish}
        if self._request.return_token_ids:
            choice["token_ids"] = [token for part in parts for token in part.ids]
        if self._request.logprobs:
            logprobs = [logprob for part in parts for logprob in part.logprobs]
            choice["logprobs"] = {
                "content": [{"token": "", "logprob": logprob, "top_logprobs": []} for logprob in logprobs]
            }
        if parts[-1].versions:
            choice["weight_versions"] = [span.model_dump() for span in parts[-1].versions]
        return choice


async def _prepend(first: Delta, deltas: AsyncIterator[Delta]) -> AsyncIterator[Delta]:
    yield first
    async for delta in deltas:
        yield delta


async def _unless_disconnected(receive: Receive, work: Any) -> Any:
    """The result of `work`, or None where the client goes away before."""
    doing, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_wait_for_disconnect(receive))
    try:
        await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
        return await doing if doing.done() else None
    finally:
        for task in (doing, leaving):
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(doing, leaving, return_exceptions=True)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _event(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value)}\n\n"
