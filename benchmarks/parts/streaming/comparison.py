"""What the live picture costs and how late it is, beside x11vnc with noVNC and aiortc as it comes.

CPU is of one core. Capture plus encode are the guest and the bridge's worker threads; a viewer's share is what the
bridge's main thread, which sends, has more to do with it; four streams are the whole of both. X servers and what draws
in them are counted nowhere. Glass: a clock drawn at 60 Hz, read in Chromium at 1280x720.
"""

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx

from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.processes import stream_seconds
from benchmarks.parts.streaming.latency import (
    CPU_FPS,
    CPU_SECONDS,
    GLASS_FPS,
    GLASS_SECONDS,
    WARM_SECONDS,
    measure_latency,
    run_server_module,
)
from benchmarks.parts.streaming.peers import measure_aiortc, measure_vnc
from benchmarks.parts.streaming.viewers import viewers

DESKTOPS, EXTRA_VIEWERS = 4, 3


def measure(data: Path) -> dict[str, Any]:
    """Ours and the peers', one after the other; under two minutes."""
    return {**_measure_ours(data), "peer": {**measure_aiortc(), **measure_vnc()}}


def _measure_ours(data: Path) -> dict[str, Any]:
    with run_server_module("benchmarks.parts.streaming.webrtc_server", str(data), str(DESKTOPS)) as (pid, url):
        print_progress("four desktops")
        with httpx.Client(base_url=url, trust_env=False, timeout=60) as http:
            seconds = CPU_SECONDS + WARM_SECONDS
            four, four_fps = asyncio.run(_measure_cpu(http, pid, range(DESKTOPS), seconds))
            print_progress(f"four 720p streams {four[1]} cores at {four_fps} fps")
            late = measure_latency(
                url, "watch", lambda: _start_drawing(http, 0, GLASS_FPS, GLASS_SECONDS, pattern=False)
            )
            http.post("/screen/0", json={"size": "1920x1080"}).raise_for_status()
            one, fps = asyncio.run(_measure_cpu(http, pid, [0], seconds))
            more, _ = asyncio.run(_measure_cpu(http, pid, [0] * (1 + EXTRA_VIEWERS), seconds))
    assert len(late) > GLASS_SECONDS, f"only {len(late)} clocks were read"
    print_progress(f"1080p {one[0]} of a core at {fps} fps, {one[1]} with sending")
    return {
        "stream_cpu_share_1080p30": one[0],
        "stream_fps_1080p30": fps,
        "extra_viewer_cpu_share": round((_sending_share(more) - _sending_share(one)) / EXTRA_VIEWERS, 3),
        "webrtc_glass_p50_ms": percentile(late, 0.5),
        "webrtc_glass_p95_ms": percentile(late, 0.95),
        "four_streams_720p30_cores": four[1],
        "four_streams_720p30_fps": four_fps,
    }


async def _measure_cpu(
    http: httpx.Client, pid: int, numbers: "range | list[int]", seconds: float
) -> tuple[tuple[float, float], float]:
    """Shares of a core (capture plus encode; all) while the desktops change and are watched; pictures a second."""
    async with viewers(str(http.base_url).rstrip("/"), list(numbers)) as frames:
        for number in sorted(set(numbers)):
            await asyncio.to_thread(_start_drawing, http, number, CPU_FPS, seconds, pattern=True)
        await asyncio.sleep(WARM_SECONDS)
        before, seen, began = stream_seconds(pid), frames.count, time.monotonic()
        await asyncio.sleep(CPU_SECONDS)
        took = time.monotonic() - began
        part, whole = (round((now - then) / took, 3) for now, then in zip(stream_seconds(pid), before, strict=True))
        return (part, whole), round((frames.count - seen) / took / len(numbers), 1)


def _sending_share(shares: tuple[float, float]) -> float:
    """What is no capture and no encode. Those are the same for all viewers, and vary more than one of them costs."""
    return shares[1] - shares[0]


def _start_drawing(http: httpx.Client, number: int, fps: int, seconds: float, *, pattern: bool) -> None:
    words = f"{fps} {seconds + 1} {int(pattern)}"
    http.post(f"/draw/{number}", json={"words": words}).raise_for_status()
