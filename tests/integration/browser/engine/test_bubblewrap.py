"""What a browser behind walls can see of this machine, and that one without them is had only by asking for it."""

import logging
import os
from pathlib import Path

import pytest

from tests.integration.browser.engine.conftest import opened, started
from vm_bridge.browser import BubblewrapUnavailable, Clock, Engine
from vm_bridge.isolation.seccomp import open_filter


def _renderers(pid: int) -> list[int]:
    """The processes that draw pages, below one of ours."""
    threads = Path(f"/proc/{pid}/task").glob("*/children")
    below = [int(child) for thread in threads for child in thread.read_text().split()]
    own = [pid] if b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes() else []
    return own + [found for child in below for found in _renderers(child)]


def _status(pid: int) -> dict[str, str]:
    """What the kernel says of a process."""
    return dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())


async def test_a_browser_is_behind_walls(tmp_path: Path) -> None:
    async with started(tmp_path / "engine", Clock.EXACT) as engine:
        await opened(engine, {"/": "<p>here</p>"})
        assert "walls" not in engine.unbounded
        renderers = _renderers(engine.pid)
        assert renderers
        for pid in renderers:
            assert os.stat(f"/proc/{pid}").st_uid != 0
            for kind in ("net", "pid", "mnt", "user"):
                assert os.readlink(f"/proc/{pid}/ns/{kind}") != os.readlink(f"/proc/self/ns/{kind}")


async def test_a_page_is_in_chromium_s_own_sandbox_within_the_walls(tmp_path: Path) -> None:
    """Its renderer has users and processes of its own there, and a second filter of system calls."""
    async with started(tmp_path / "engine", Clock.EXACT) as engine:
        await opened(engine, {"/": "<p>here</p>"})
        assert engine.sandboxed
        renderers = _renderers(engine.pid)
        assert renderers
        for pid in renderers:
            status = _status(pid)
            assert int(status["Seccomp_filters"]) >= 2
            assert len(status["NSpid"].split()) >= 3, "processes of the walls, and of the sandbox within them"


async def test_where_chromium_can_make_no_sandbox_the_walls_alone_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As in a container whose engine forbids user namespaces: the filter here forbids them."""
    monkeypatch.setattr("vm_bridge.browser.process.open_filter", lambda **_: open_filter(user_namespaces=False))
    async with started(tmp_path / "engine", Clock.EXACT) as engine:
        assert (engine.sandboxed, engine.clock) == (False, Clock.EXACT)
        assert "Chromium's own sandbox" in caplog.text


async def test_one_without_is_had_by_asking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def refused() -> None:
        raise BubblewrapUnavailable("this machine makes none")

    monkeypatch.setattr("vm_bridge.browser.engine.check_sandbox", refused)
    with pytest.raises(BubblewrapUnavailable):
        await Engine.start(tmp_path / "refused", exact=False)
    with caplog.at_level(logging.WARNING):
        engine = await Engine.start(tmp_path / "bare", exact=False, unsandboxed=True)
    try:
        session = await opened(engine, {"/": "<p id='p'>here</p>"})
        assert await session.evaluate("document.getElementById('p').textContent") == "here"
        assert "walls" in engine.unbounded
        assert "without a sandbox" in caplog.text
    finally:
        await engine.close()
