"""Serves desktops and their live streams without leases or tickets.

Run it as `python -m benchmarks.parts.streaming.webrtc_server DATA COUNT`.

Prints its port. `GET /` is a page that can watch, `POST /offer/N` answers a viewer of desktop N, `POST /draw/N` starts
the clock there, `POST /screen/N` gives it another size.
"""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

from protocol.actions.types import RunCommand, WriteFile
from protocol.trajectory.tasks import Task
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.sandbox import Sandbox
from vm_bridge.streams.broadcast import BroadcastRegistry
from vm_bridge.streams.webrtc import WebRtcServer, set_host_addresses

CLOCK = (Path(__file__).with_name("clock.py")).read_text()
FPS, BITRATE = 30, 6_000_000
"""The bridge's defaults."""


def application(data: Path, count: int) -> Starlette:
    """Serves `count` desktops of the default image."""
    sandboxes: list[Sandbox] = []
    webrtc = WebRtcServer(BroadcastRegistry(fps=FPS, bitrate=BITRATE))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        host = LocalHost(data)
        try:
            sandboxes.extend([await host.create("desktop") for _ in range(count)])
            yield
        finally:
            await webrtc.close()
            await host.close()

    def sandbox_of(request: Request) -> Sandbox:
        return sandboxes[int(request.path_params["number"])]

    async def offer(request: Request) -> JSONResponse:
        sdp = (await request.json())["sdp"]
        return JSONResponse({"sdp": await webrtc.answer(sandbox_of(request), sdp), "type": "answer"})

    async def draw(request: Request) -> JSONResponse:
        """Body: the clock's arguments."""
        words, machine = (await request.json())["words"], sandbox_of(request).bind(1)
        await machine.perform(uuid4().hex, WriteFile(path="clock.py", text=CLOCK))
        command = f"setsid -f python3 clock.py {words} >/dev/null 2>&1"
        await machine.perform(uuid4().hex, RunCommand(command=command), settle=False)
        return JSONResponse({})

    async def screen(request: Request) -> JSONResponse:
        """Body: the size, as `1920x1080`."""
        size = (await request.json())["size"]
        task = Task(id="streaming", instruction="Be watched", parameters={"screen": size})
        seen = await sandbox_of(request).bind(1).prepare(task)
        return JSONResponse({"width": seen.width, "height": seen.height})

    async def page(_: Request) -> HTMLResponse:
        return HTMLResponse("<!doctype html><title>streaming</title>")

    return Starlette(
        lifespan=lifespan,
        routes=[
            Route("/", page),
            Route("/offer/{number:int}", offer, methods=["POST"]),
            Route("/draw/{number:int}", draw, methods=["POST"]),
            Route("/screen/{number:int}", screen, methods=["POST"]),
        ],
    )


def serve(app: Starlette) -> None:
    """Serve on a free port of this machine and print it, until SIGTERM."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="on"))
    listener = server.config.bind_socket()
    print("port", listener.getsockname()[1], flush=True)
    server.run(sockets=[listener])


if __name__ == "__main__":
    set_host_addresses(("127.0.0.1",))
    serve(application(Path(sys.argv[1]), int(sys.argv[2])))
