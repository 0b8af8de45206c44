"""How long the pages of each role take over much data, in a real browser."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from benchmarks.parts.figures import percentile, print_progress

LOADS = 8
"""Times that each page is opened, after the first time, which fills the browser's cache."""
WAIT_MS = 60_000
SETTLED_MS = 250
"""A page whose calls are answered for so long asks no more."""
SLOW_CALLS = 10
"""Calls of the interface that are named, the slowest ones."""
PAGES: Mapping[str, tuple[str, ...]] = {
    "annotator": ("/queue", "/episodes"),
    "reviewer": ("/review", "/home", "/wall", "/episodes", "/trajectories"),
    "researcher": ("/home", "/exports", "/episodes", "/design", "/policies", "/flywheel", "/evaluations"),
    "admin": ("/home", "/pools", "/people", "/review", "/episodes", "/machines", "/judges", "/design", "/retention"),
}
"""By role, the first page it sees, and the lists it works in."""
ANALYSES = ("/reports", "/agreement")
"""Pages that add up the work of many days; of a reviewer."""
TIMER = """
(() => {
  let open = 0, since = null;
  const fetch = window.fetch.bind(window);
  window.fetch = (...call) => {
    open++;
    return fetch(...call).finally(() => open--);
  };
  const look = () => {
    const main = document.querySelector("main");
    const shown = main?.textContent && open === 0 && !document.querySelector("main .mantine-Loader-root");
    if (!shown) since = null;
    else since ??= performance.now();
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
  window.__pageShown = (settled) => since !== null && performance.now() - since > settled ? since : null;
  window.__pageCalls = () => performance.getEntriesByType("resource")
    .filter(({ name }) => new URL(name).pathname.startsWith("/api/"))
    .map(({ name, startTime, responseEnd }) => [new URL(name).pathname, responseEnd - startTime]);
})();
"""
"""Notes when the page shows what it asked for: no call is open and nothing is loading."""


def measure_first_pages(
    browser: Browser, platform: TemporaryPlatform, sessions: Mapping[str, str], loads: int = LOADS
) -> dict[str, Any]:
    """Open every page of each role `loads` times.

    `first_page_p95_ms` is of the slowest page, from the navigation until all that it asks for is shown.
    """
    calls: dict[str, list[float]] = defaultdict(list)

    def p95_by_page(role: str, pages: Iterable[str]) -> dict[str, float]:
        found = {}
        with role_page(browser, platform, sessions[role], TIMER) as page:
            for path in pages:
                times = [open_page(page, path, calls) for _ in range(loads + 1)][1:]
                found[path] = percentile(times, 0.95)
                print_progress(f"{role} {path}: p50 {statistics.median(times):.0f} ms, p95 {found[path]} ms")
        return found

    shown = {role: p95_by_page(role, pages) for role, pages in PAGES.items()}
    by_role = {role: max(pages.values()) for role, pages in shown.items()}
    return {
        "first_page_p95_ms": max(by_role.values()),
        "first_page_p95_ms_by_role": by_role,
        "first_page_p95_ms_by_page": shown,
        "analysis_p95_ms_by_page": p95_by_page("reviewer", ANALYSES),
        "slowest_calls_p95_ms": slowest_calls(calls),
    }


def slowest_calls(calls: Mapping[str, Iterable[float]], most: int = SLOW_CALLS) -> dict[str, float]:
    """The calls with the longest 95th percentile (milliseconds), the slowest first."""
    times = {path: percentile(list(values), 0.95) for path, values in calls.items()}
    return dict(sorted(times.items(), key=lambda item: -item[1])[:most])


@contextmanager
def role_page(
    browser: Browser, platform: TemporaryPlatform, session: str, script: str = "", height: int = 800
) -> Iterator[Page]:
    """Open a page in a browser that is signed in as a user."""
    # The page's policy forbids the evaluation that waiting for a condition needs.
    context = browser.new_context(
        base_url=platform.url, locale="en-GB", viewport={"width": 1280, "height": height}, bypass_csp=True
    )
    host = urlsplit(platform.url).hostname or ""
    try:
        context.add_cookies([{"name": "sessionid", "value": session, "domain": host, "path": "/"}])
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        if script:
            page.add_init_script(script)
        yield page
    finally:
        context.close()


def open_page(page: Page, path: str, calls: dict[str, list[float]] | None = None) -> float:
    """Milliseconds until the page is shown, which runs `TIMER`; the times of its calls are added to `calls`."""
    page.goto(path)
    shown = page.wait_for_function(f"__pageShown({SETTLED_MS})", timeout=WAIT_MS).json_value()
    if calls is not None:
        for address, took in page.evaluate("__pageCalls()"):
            calls[address].append(took)
    return float(shown)
