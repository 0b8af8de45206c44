"""What a desktop costs and how fast it is: starts, resets, memory, acts, screenshots over HTTP; and the peers'."""

import asyncio
import http.client
import shlex
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.parts.desktops import osworld_peer
from benchmarks.parts.desktops.live_bridge import LiveBridge, live_bridge
from benchmarks.parts.figures import percentile, print_progress
from protocol.actions.types import Action, Click, MoveTo, OpenApp, PressKeys, RightClick, RunCommand, TypeText
from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.machine import Lease, Machine

STARTS, RESETS, SHOTS, PEER_SHOTS, ROUNDS = 12, 10, 120, 15, 8
SHOT_SECONDS = 3.0
MAX_REQUESTS = 50
"""Pictures asked for until one differs from the one before, on average and at most."""
IDLE_SECONDS = 3.0
"""Memory is read once start-up garbage has gone."""
SIZE = "1920x1080"
MIB = 2**20
NOISE = "while :; do echo $RANDOM $RANDOM $RANDOM $RANDOM $RANDOM; sleep 0.004; done"
"""Lets the picture differ whenever it is asked for."""
STEPS: tuple[Action, ...] = (
    *(TypeText(text="echo one\n"), TypeText(text="ls -l\n"), PressKeys(keys=("up",))),
    *(RightClick(x=1100, y=640), PressKeys(keys=("esc",)), MoveTo(x=1180, y=600), Click(x=640, y=360)),
)


def measure(data: Path) -> dict[str, Any]:
    """Ours and the peers'; about half a minute. `data` holds what images are made of."""
    figures = asyncio.run(_measure_host(data))
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        scratch = Path(folder)
        with live_bridge(scratch, data) as bridge:
            figures |= asyncio.run(_measure_http(bridge))
        figures["peer"] = _measure_peers(data, scratch / "scrot.png")
    return figures


async def _measure_host(data: Path) -> dict[str, Any]:
    """Starts one after another, each thrown away, and resets of one; no X server stands ready before."""
    host = LocalHost(data)
    try:
        await (await host.create("desktop")).destroy()  # the image is unpacked once a host, not once a desktop
        cold = []
        for number in range(STARTS):
            began = time.perf_counter()
            sandbox = await host.create("desktop")
            await sandbox.bind(1).perform(f"first-act-{number:03}", MoveTo(x=200, y=200))
            cold.append((time.perf_counter() - began) * 1000)
            await sandbox.destroy()
        sandbox = await host.create("desktop")
        reset = []
        for number in range(RESETS):
            await sandbox.bind(number + 1).observe(settle=True)
            began = time.perf_counter()
            await sandbox.reset()
            reset.append((time.perf_counter() - began) * 1000)
        await sandbox.bind(RESETS + 1).observe(settle=True)
        await asyncio.sleep(IDLE_SECONDS)
        usage = await sandbox.usage()
    finally:
        await host.close()
    print_progress(
        f"desktop cold {percentile(cold, 0.5)} ms, reset {percentile(reset, 0.5)} ms, {usage.pss / MIB:.0f} MiB"
    )
    return {
        "desktop_cold_p50_ms": percentile(cold, 0.5),
        "desktop_cold_p95_ms": percentile(cold, 0.95),
        "desktop_reset_p50_ms": percentile(reset, 0.5),
        "desktop_pss_mb": round(usage.pss / MIB, 1),
    }


async def _measure_http(bridge: LiveBridge) -> dict[str, Any]:
    """Calls of a program that holds a lease."""
    async with BridgeClient(bridge.url, bridge.secret) as client:
        lease = await client.allocate(image="desktop", holder="benchmark", ttl=600, wait=60)
        machine = client.machine(lease)
        steps = await _time_steps(machine)
        await machine.prepare(Task(id="bench", instruction="Measure.", parameters={"screen": SIZE}))
        await machine.perform("bench-terminal", OpenApp(name="terminal"))
        command = f"DISPLAY=:0 setsid -f xterm -T noise -e bash -c {shlex.quote(NOISE)} >/dev/null 2>&1"
        await machine.perform("bench-noise", RunCommand(command=command), settle=False)
        changing = await asyncio.to_thread(_time_screenshots, bridge, lease)
        rate = await asyncio.to_thread(_screenshot_rate, bridge, lease, SHOT_SECONDS)
        await machine.perform("bench-quiet", RunCommand(command="pkill -f noise"))
        still = (await machine.observe(settle=True)).screenshot
        assert still is not None
        unchanged = await asyncio.to_thread(_time_screenshots, bridge, lease, still.sha256)
        await client.release(lease)
    print_progress(f"step {percentile(steps, 0.5)} ms; {SIZE} screenshot {percentile(changing, 0.5)} ms, {rate:.0f}/s")
    return {
        "step_settled_p50_ms": percentile(steps, 0.5),
        "screenshot_1080p_p50_ms": percentile(changing, 0.5),
        "screenshots_per_s": round(rate, 1),
        "unchanged_screenshot_p50_ms": percentile(unchanged, 0.5),
    }


async def _time_steps(machine: Machine) -> list[float]:
    """Acts of several kinds, each with its frame before and its settled frame after it."""
    await machine.prepare(Task(id="bench", instruction="Measure."))
    await machine.perform("bench-open", OpenApp(name="terminal"))
    took = []
    for number, action in enumerate(STEPS * ROUNDS):
        began = time.perf_counter()
        await machine.perform(f"bench-step-{number:03}", action)
        took.append((time.perf_counter() - began) * 1000)
    return took


def _time_screenshots(bridge: LiveBridge, lease: Lease, since: str | None = None) -> list[float]:
    """How long one picture after another takes (ms); with `since` none may have changed.

    Without it only pictures count that differ from the one before: a fast host asks more often than a terminal draws,
    and a screen that stood still costs no encoding.
    """
    shoot = _screenshot_request(bridge, lease, since)
    took, before = list[float](), since
    for _ in range(SHOTS * MAX_REQUESTS):
        began = time.perf_counter()
        status, seen = shoot()
        milliseconds = (time.perf_counter() - began) * 1000
        assert status == (200 if since is None else 304), status
        if since is not None or seen != before:
            took.append(milliseconds)
        before = seen
        if len(took) == SHOTS:
            return took
    raise AssertionError(f"only {len(took)} of {SHOTS * MAX_REQUESTS} pictures differed from the one before")


def _screenshot_rate(bridge: LiveBridge, lease: Lease, seconds: float) -> float:
    """Pictures a second over one connection."""
    shoot, count, began = _screenshot_request(bridge, lease, None), 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        assert shoot()[0] == 200
        count += 1
    return count / (time.perf_counter() - began)


def _screenshot_request(bridge: LiveBridge, lease: Lease, since: str | None) -> Callable[[], tuple[int, str | None]]:
    """Asks for one picture; returns the status and the picture's sha256."""
    connection = http.client.HTTPConnection("127.0.0.1", bridge.port, timeout=30)
    path = f"/v1/machines/{lease.machine_id}/screenshot" + (f"?since={since}" if since else "")
    headers = {"Authorization": f"Bearer {bridge.secret}", "X-Fencing-Token": str(lease.fencing_token)}

    def shoot() -> tuple[int, str | None]:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers["ETag"]

    return shoot


def _measure_peers(data: Path, file: Path) -> dict[str, float]:
    """scrot as a program that writes a file; PyAutoGUI's PNG from a server that stays, over HTTP."""
    python = osworld_peer.ensure_pyautogui(data / "venvs" / "peer")
    with osworld_peer.run_display(SIZE) as display, osworld_peer.run_peer_server(python, display) as port:
        scrot = [_time_call(lambda: _scrot(display, file)) for _ in range(PEER_SHOTS)]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        pyautogui = [_time_call(lambda: _get(connection)) for _ in range(PEER_SHOTS)]
    print_progress(f"peers: scrot {percentile(scrot, 0.5)} ms, PyAutoGUI {percentile(pyautogui, 0.5)} ms")
    return {
        "scrot_1080p_p50_ms": percentile(scrot, 0.5),
        "pyautogui_png_1080p_p50_ms": percentile(pyautogui, 0.5),
    }


def _time_call(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def _scrot(display: str, file: Path) -> None:
    subprocess.run(["scrot", "--overwrite", "--display", display, str(file)], check=True, timeout=30)


def _get(connection: http.client.HTTPConnection) -> None:
    connection.request("GET", "/screenshot")
    assert connection.getresponse().read().startswith(b"\x89PNG")
