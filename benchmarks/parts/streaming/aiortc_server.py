"""The peer that is aiortc as it comes: its MediaPlayer captures by x11grab, each viewer has its default encoder.

Its player queues pictures without a bound: where it cannot keep up, it falls behind. Prints its port.
"""

import os

from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.contrib.media import MediaPlayer
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse
from starlette.routing import Route

from benchmarks.parts.streaming.webrtc_server import FPS, serve
from vm_bridge.streams.webrtc import set_host_addresses

SIZE = "1280x720"


def application() -> Starlette:
    """Serves the screen that DISPLAY names."""
    kept: list[object] = []

    async def offer(request: Request) -> JSONResponse:
        options = {"framerate": str(FPS), "video_size": SIZE}
        player = MediaPlayer(os.environ["DISPLAY"], format="x11grab", options=options)
        peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        kept.extend((player, peer))
        assert player.video is not None
        await peer.setRemoteDescription(RTCSessionDescription((await request.json())["sdp"], "offer"))
        peer.addTrack(player.video)
        await peer.setLocalDescription(await peer.createAnswer())
        return JSONResponse({"sdp": peer.localDescription.sdp, "type": "answer"})

    async def page(_: Request) -> HTMLResponse:
        return HTMLResponse("<!doctype html><title>stock aiortc</title>")

    return Starlette(routes=[Route("/", page), Route("/offer/0", offer, methods=["POST"])])


if __name__ == "__main__":
    set_host_addresses(("127.0.0.1",))
    serve(application())
