"""The live picture's peers, each on an X server of its own at 1280x720: aiortc as it comes, x11vnc with noVNC."""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.desktops.osworld_peer import run_display
from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.processes import cpu_seconds
from benchmarks.parts.streaming.latency import (
    CPU_FPS,
    CPU_SECONDS,
    GLASS_FPS,
    GLASS_SECONDS,
    WARM_SECONDS,
    measure_latency,
    run_program,
    run_server_module,
    wait_until_ready,
)

NOVNC = ROOT / "frontend/node_modules/@novnc/novnc"
CLOCK = Path(__file__).with_name("clock.py")


def measure_aiortc() -> dict[str, Any]:
    """aiortc with mss, at 720p: its default codec with Chromium is VP8."""
    with (
        run_display("1280x720") as display,
        run_server_module("benchmarks.parts.streaming.aiortc_server", display=display) as (pid, url),
    ):
        figures = _measure_peer("aiortc", url, "watch", display, [pid])
    return figures


def measure_vnc() -> dict[str, Any]:
    """x11vnc as agents' sandboxes run it, websockify and noVNC, at 720p."""
    missing = [name for name in ("x11vnc",) if shutil.which(name) is None]
    if missing or not NOVNC.is_dir():
        print_progress(f"not measured: {', '.join(missing) or NOVNC} is missing")
        return {}
    with ExitStack() as stack:
        display = stack.enter_context(run_display("1280x720"))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        (folder / "novnc").symlink_to(NOVNC)
        (folder / "index.html").write_text("<!doctype html><title>noVNC</title>")
        rfb, web = free_ports(2)
        rfb_server = stack.enter_context(
            run_program(
                "x11vnc",
                "-display",
                display,
                "-nopw",
                "-forever",
                "-shared",
                "-localhost",
                "-rfbport",
                str(rfb),
                "-wait",
                "50",
            )
        )
        bridge = stack.enter_context(
            run_program(
                sys.executable, "-m", "websockify", "--web", str(folder), f"127.0.0.1:{web}", f"127.0.0.1:{rfb}"
            )
        )
        url = f"http://127.0.0.1:{web}/"
        wait_until_ready(url)
        return _measure_peer("x11vnc_novnc", url, "watchVnc", display, [rfb_server.pid, bridge.pid])


def _measure_peer(name: str, url: str, watch: str, display: str, pids: list[int]) -> dict[str, Any]:
    """A peer's glass, and its CPU while a 640x400 part of its screen changes."""
    cpu: list[float] = []

    def draw() -> None:
        with _run_clock(display, CPU_FPS, CPU_SECONDS + WARM_SECONDS, pattern=True):
            time.sleep(WARM_SECONDS)
            before, began = cpu_seconds(pids), time.monotonic()
            time.sleep(CPU_SECONDS)
            cpu.append(round((cpu_seconds(pids) - before) / (time.monotonic() - began), 3))
        stack.enter_context(_run_clock(display, GLASS_FPS, GLASS_SECONDS, pattern=False))

    with ExitStack() as stack:
        late = measure_latency(url, watch, draw)
    # A peer that shows nothing within the time has no figure; that is no reason to lose ours.
    p50, p95 = (percentile(late, share) if late else None for share in (0.5, 0.95))
    return {
        f"{name}_glass_p50_ms": p50,
        f"{name}_glass_p95_ms": p95,
        f"{name}_cpu_share_720p30": cpu[0],
    }


@contextmanager
def _run_clock(display: str, fps: int, seconds: float, *, pattern: bool) -> Iterator[None]:
    words = (str(fps), str(seconds + 1), str(int(pattern)))
    with run_program(sys.executable, str(CLOCK), *words, display=display):
        yield
