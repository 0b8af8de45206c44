"""Programs to measure, and the page that reads how late their picture is."""

import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

from benchmarks.parts.figures import print_progress
from benchmarks.parts.streaming.annotator_page import FLAGS
from benchmarks.parts.streaming.annotator_page import SCRIPT as GLASS_SCRIPT
from benchmarks.parts.waiting import read_line, wait_for

WATCH_SCRIPT = Path(__file__).with_name("watch.js").read_text()
CPU_SECONDS, GLASS_SECONDS, WARM_SECONDS = 6.0, 8.0, 1.5
CPU_FPS, GLASS_FPS = 30, 60
START_SECONDS = 90.0


@contextmanager
def run_program(*argv: str, display: str | None = None) -> Iterator["subprocess.Popen[str]"]:
    """A program while the block runs; its first words can be read."""
    environment = {**os.environ, **({"DISPLAY": display} if display else {})}
    process = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def run_server_module(module: str, *arguments: str, display: str | None = None) -> Iterator[tuple[int, str]]:
    """A module that prints its port: its process and its address."""
    with run_program(sys.executable, "-m", module, *arguments, display=display) as process:
        url = f"http://127.0.0.1:{read_line(process, 'port ', START_SECONDS).split()[1]}"
        wait_until_ready(url)
        yield process.pid, url


def wait_until_ready(url: str) -> None:
    """Wait for a server. Raises TimeoutError."""
    wait_for(lambda: _answers(url), START_SECONDS, f"{url} answers")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except (urllib.error.URLError, OSError):
        return False


def measure_latency(url: str, watch: str, draw: Callable[[], None]) -> list[float]:
    """How late each clock shown was (milliseconds), from `draw` on."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=list(FLAGS))
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(WATCH_SCRIPT)
        page.add_init_script(GLASS_SCRIPT)
        page.goto(url)
        page.evaluate(f"window.{watch}()")
        draw()
        seen: list[float] = page.evaluate("ms => __bench.glass(ms)", GLASS_SECONDS * 1000)["seen"]
        browser.close()
    print_progress(f"{watch}: {len(seen)} clocks were read")
    return seen
