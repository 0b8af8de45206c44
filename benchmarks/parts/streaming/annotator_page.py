"""The desk in a real browser over the whole stack: act to step, first frame, glass to glass, what the stream costs."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.processes import stream_seconds

SCRIPT = (Path(__file__).with_name("annotator_page.js")).read_text()
CLOCK = (Path(__file__).with_name("clock.py")).read_text()
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--disable-features=WebRtcHideLocalIpsWithMdns"),
)
ACTS, OPENINGS = 40, 5
GLASS_SECONDS, STREAM_SECONDS = 10.0, 10.0
CPU_FPS, GLASS_FPS = 30, 60
WAIT_MS = 60_000
USER, PASSWORD = "annotator", "annotator-demo"


def measure(platform: TemporaryPlatform) -> dict[str, Any]:
    """Everything a person at the desk would notice."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        try:
            with _open_task(browser, platform.url) as page:
                episode = page.url
                figures = {**_time_actions(page), **_time_first_frame(page), **_measure_stream(page, platform)}
            with _open_task(browser, platform.url, address=episode, prepare=_without_webrtc) as page:
                page.wait_for_selector("canvas", timeout=WAIT_MS)
                figures["vnc_glass_p50_ms"] = percentile(_time_glass_to_glass(page, "vnc"), 0.5)
        finally:
            browser.close()
    return figures


def _without_webrtc(page: Page) -> None:
    page.add_init_script("delete window.RTCPeerConnection")


@contextmanager
def _open_task(
    browser: Browser, url: str, *, address: str | None = None, prepare: Callable[[Page], None] | None = None
) -> Iterator[Page]:
    """Signed in, with the practice task (or an episode's own address) open and its desktop running."""
    # The page's policy forbids the evaluation that waiting for a condition needs.
    page = browser.new_page(viewport={"width": 1280, "height": 800}, bypass_csp=True)
    try:
        page.add_init_script(SCRIPT)
        if prepare is not None:
            prepare(page)
        page.goto(url)
        page.locator("input:not([type=password])").first.fill(USER)
        page.locator("input[type=password]").fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/queue", timeout=WAIT_MS)
        if address is None:
            page.get_by_role("button", name=re.compile("^Practice")).click()
            page.wait_for_url("**/desk/**", timeout=WAIT_MS)
        else:
            page.goto(address)
        page.wait_for_function("__bench.state === 'running' && __bench.ready > 0", timeout=WAIT_MS)
        yield page
    finally:
        page.close()


def _perform_action(page: Page, action: dict[str, Any]) -> dict[str, Any]:
    done: dict[str, Any] = page.evaluate("action => __bench.act(action)", action)
    assert done["step"]["error"] is None, done["step"]["error"]
    return done


def _time_actions(page: Page) -> dict[str, float]:
    """Clicks and keys in the text editor of the practice task, after which the screen rests."""
    page.wait_for_selector("video", timeout=WAIT_MS)
    kinds = (
        {"kind": "type_text", "text": "a"},
        {"kind": "press_keys", "keys": ["left"]},
        {"kind": "click", "x": 700, "y": 400},
        {"kind": "press_keys", "keys": ["end"]},
    )
    for kind in kinds:
        _perform_action(page, kind)
    done = [_perform_action(page, kinds[number % len(kinds)]) for number in range(ACTS)]
    took = [one["ms"] for one in done]
    settle = [one["step"]["after"]["settle_ms"] for one in done]
    print_progress(f"act to step p50 {percentile(took, 0.5)} ms, p95 {percentile(took, 0.95)} ms")
    return {
        "act_to_step_p50_ms": percentile(took, 0.5),
        "act_to_step_p95_ms": percentile(took, 0.95),
        "act_settle_p50_ms": percentile(settle, 0.5),
        "act_settle_timeout_share": sum(one["step"]["after"]["rest"] == "timeout" for one in done) / ACTS,
    }


def _time_first_frame(page: Page) -> dict[str, float]:
    """From opening the desk's address, the desktop being ready, to the first live frame shown."""
    took = []
    for _ in range(OPENINGS):
        page.reload()
        page.wait_for_function("__bench.firstFrame !== null", timeout=WAIT_MS)
        took.append(page.evaluate("__bench.firstFrame"))
    print_progress(f"first frame {percentile(took, 0.5)} ms")
    return {"first_frame_ms": percentile(took, 0.5)}


def _measure_stream(page: Page, platform: TemporaryPlatform) -> dict[str, Any]:
    page.wait_for_function("__bench.state === 'running' && __bench.ready > 0", timeout=WAIT_MS)
    static, static_whole = _cpu_shares(platform)
    _start_clock(page, CPU_FPS, STREAM_SECONDS, pattern=True)
    changing, changing_whole = _cpu_shares(platform)
    glass = _time_glass_to_glass(page, "webrtc")
    print_progress(
        f"glass p50 {percentile(glass, 0.5)} ms over {len(glass)} frames; cpu {changing} changing, {static} static"
    )
    return {
        "webrtc_glass_p50_ms": percentile(glass, 0.5),
        "webrtc_glass_p95_ms": percentile(glass, 0.95),
        "webrtc_fps": round(len(glass) / GLASS_SECONDS, 1),
        "stream_cpu_share": {"changing": changing, "static": static},
        "bridge_cpu_share": {"changing": changing_whole, "static": static_whole},
    }


def _start_clock(page: Page, fps: int, seconds: float, *, pattern: bool) -> None:
    """Let the desktop show the time of its drawing, for a little longer than `seconds`."""
    words = f"{fps} {seconds + 1} {int(pattern)}"
    _perform_action(page, {"kind": "write_file", "path": "clock.py", "text": CLOCK})
    _perform_action(page, {"kind": "run_command", "command": f"setsid -f python3 clock.py {words} >/dev/null 2>&1"})


def _cpu_shares(platform: TemporaryPlatform) -> tuple[float, float]:
    """The shares of one core that capture plus encode use, and the whole bridge with its guests."""
    bridge = platform.pid("bridge")
    before, began = stream_seconds(bridge), time.monotonic()
    time.sleep(STREAM_SECONDS)
    took = time.monotonic() - began
    stream, whole = (round((now - then) / took, 3) for now, then in zip(stream_seconds(bridge), before, strict=True))
    return stream, whole


def _time_glass_to_glass(page: Page, kind: str) -> list[float]:
    """Ages of the clocks shown: the clock alone, drawn at 60 Hz."""
    _start_clock(page, GLASS_FPS, GLASS_SECONDS, pattern=False)
    read = page.evaluate("milliseconds => __bench.glass(milliseconds)", GLASS_SECONDS * 1000)
    assert read["kind"] == kind, f"the desk shows {read['kind']}, not {kind}"
    assert len(read["seen"]) > GLASS_SECONDS, f"only {len(read['seen'])} clocks were read over {kind}"
    return list(read["seen"])
