"""A browser that is to draw with a graphics card, and finds none that does, draws without and says so."""

import logging
from pathlib import Path

import pytest

from tests.integration.browser.engine.conftest import opened
from vm_bridge.browser import Engine
from vm_bridge.browser.engine import RENDERER_SCRIPT, is_software_renderer


@pytest.mark.timeout(240)
async def test_a_card_is_used_or_missed_aloud(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        engine = await Engine.start(tmp_path / "engine", exact=False, gpu=True)
    try:
        session = await opened(engine, {"/": "<p>hello</p>"})
        renderer = str(await session.evaluate(RENDERER_SCRIPT))
    finally:
        await engine.close()
    assert renderer, "WebGL is there either way"
    assert is_software_renderer(renderer) == ("no graphics card" in caplog.text)
