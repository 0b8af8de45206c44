"""A web program as one may run in a sandbox: it echoes, streams, redirects, keeps a cookie, talks over a WebSocket."""

import asyncio
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

PAGE = """<!doctype html><title>A program</title><h1>Hello from inside</h1><p id=said>…</p><script>
const socket = new WebSocket(new URL('socket', location.href).href.replace('http', 'ws'));
socket.onopen = () => socket.send('ping');
socket.onmessage = (event) => { document.querySelector('#said').textContent = event.data; };
</script>"""


class Program:
    """`step` lets one part of `/stream` go; `left` is set when its reader has gone; `closed` is how a socket ended."""

    def __init__(self) -> None:
        self.port = 0
        self.step = asyncio.Semaphore(0)
        self.left = asyncio.Event()
        self.closed: asyncio.Queue[int] = asyncio.Queue()
        self.app = Starlette(
            routes=[
                Route("/", self.page),
                Route("/echo/{rest:path}", self.echo, methods=["GET", "POST", "PUT", "DELETE", "HEAD"]),
                Route("/stream", self.stream),
                Route("/redirect", self.redirect),
                Route("/cookie", self.cookie),
                WebSocketRoute("/socket", self.socket),
                WebSocketRoute("/refused", self.refused),
            ]
        )

    async def page(self, _: Request) -> Response:
        return HTMLResponse(PAGE)

    async def echo(self, request: Request) -> Response:
        body = await request.body()
        told = {"method": request.method, "path": request.url.path, "query": request.url.query, "size": len(body)}
        return JSONResponse({**told, "raw": request.scope["raw_path"].decode(), "headers": dict(request.headers)})

    async def stream(self, _: Request) -> Response:
        async def parts() -> AsyncIterator[bytes]:
            try:
                for number in range(1000):
                    await self.step.acquire()
                    yield b"part %d\n" % number
            finally:
                self.left.set()

        return StreamingResponse(parts(), media_type="text/event-stream")

    async def redirect(self, _: Request) -> Response:
        return RedirectResponse("/echo/there")

    async def cookie(self, _: Request) -> Response:
        answer = JSONResponse({})
        answer.set_cookie("own", "1", path="/")
        answer.set_cookie("pilothouse-preview", "forged", path="/")
        return answer

    async def socket(self, socket: WebSocket) -> None:
        offered = socket.scope["subprotocols"]
        await socket.accept(subprotocol=offered[-1] if offered else None)
        try:
            while True:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    raise WebSocketDisconnect(message["code"])
                if message.get("bytes") is not None:
                    await socket.send_bytes(message["bytes"][::-1])
                elif message["text"] == "bye":
                    await socket.close(4001, "as asked")
                elif message["text"] == "headers":
                    await socket.send_json(dict(socket.headers))
                else:
                    await socket.send_text(f"heard {message['text']}")
        except WebSocketDisconnect as gone:
            self.closed.put_nowait(gone.code)

    async def refused(self, socket: WebSocket) -> None:
        await socket.close()
