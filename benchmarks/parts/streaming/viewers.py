"""Viewers that take a stream and draw nothing: what the sender's side costs, without a browser beside it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from queue import Queue
from typing import Any

import httpx
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription, rtcrtpreceiver

from benchmarks.parts.concurrency import run_together

CONNECT_SECONDS = 20.0


class Frames:
    """How many pictures came so far."""

    count = 0


def _count_frames(loop: object, input_queue: "Queue[Any]", output_queue: object, ended: object) -> None:
    """In place of aiortc's decoding thread."""
    while input_queue.get() is not None:
        Frames.count += 1


@asynccontextmanager
async def viewers(url: str, numbers: list[int]) -> AsyncIterator[type[Frames]]:
    """One viewer of each of these desktops, connected."""
    rtcrtpreceiver.decoder_worker = _count_frames  # type: ignore[assignment]
    peers = [RTCPeerConnection(RTCConfiguration(iceServers=[])) for _ in numbers]
    try:
        await run_together(*(_connect(peer, f"{url}/offer/{n}") for peer, n in zip(peers, numbers, strict=True)))
        yield Frames
    finally:
        await asyncio.gather(*(peer.close() for peer in peers))


async def _connect(peer: RTCPeerConnection, url: str) -> None:
    connected = asyncio.Event()

    @peer.on("connectionstatechange")
    def changed() -> None:
        if peer.connectionState == "connected":
            connected.set()

    peer.addTransceiver("video", direction="recvonly")
    await peer.setLocalDescription(await peer.createOffer())
    async with httpx.AsyncClient(trust_env=False, timeout=CONNECT_SECONDS) as http:
        answer = (await http.post(url, json={"sdp": peer.localDescription.sdp, "type": "offer"})).json()
    await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))
    await asyncio.wait_for(connected.wait(), CONNECT_SECONDS)
