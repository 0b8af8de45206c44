"""A recorded session is reviewed on its timeline by keys alone."""

import asyncio
import hashlib
import io
import json
import zipfile
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from PIL import Image
from playwright.async_api import expect

from annotation_app.client import Pilothouse
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_pages import assert_accessible_in_both
from tests.recorded_sessions import SAID, session_row

pytestmark = pytest.mark.slow


def import_session(platform: TemporaryPlatform, file: Path, session: UUID) -> None:
    """Have a recorded session come in, as a researcher."""
    made = io.BytesIO()
    Image.new("RGB", (64, 64), "navy").save(made, "JPEG")
    picture = hashlib.sha256(made.getvalue()).hexdigest()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("session.json", json.dumps(session_row(session, picture)))
        archive.writestr(f"images/{picture}.jpg", made.getvalue())
    token = platform.manage("make_token", "researcher", "recordings").split()[-1]
    with Pilothouse(platform.url, token) as client:
        begun = client.import_start(file, pool="Recorded", form="recording")
        assert client.import_wait(begun.id).imported == 1


async def test_thoughts_are_changed_by_keys_alone(sign_in: SignIn, platform: TemporaryPlatform, tmp_path: Path) -> None:
    session = uuid4()
    await asyncio.to_thread(import_session, platform, tmp_path / "session.zip", session)
    page = await sign_in("reviewer", f"/episodes/{session}")
    timeline = page.get_by_role("region", name="Recorded session")
    thoughts = timeline.get_by_role("group", name="Thoughts").get_by_role("button")
    await expect(thoughts).to_have_count(len(SAID), timeout=BOUND_MS)
    await expect(timeline.get_by_role("img", name="Loudness of the voice")).to_be_visible()
    await expect(timeline.get_by_role("group", name="Actions").get_by_role("button")).to_have_count(2)
    words = timeline.get_by_text("Heard:").locator("..").get_by_role("button")
    await expect(words).to_have_text(SAID[0][1].split())
    await assert_accessible_in_both(page, "timeline of a recorded session")

    press = page.keyboard.press
    await press("t")
    await expect(page.get_by_role("textbox", name="Text", exact=True)).to_be_focused(timeout=BOUND_MS)
    await press("Control+a")
    await page.keyboard.insert_text("I open the mail.")
    await press("Control+Enter")
    await expect(thoughts.first).to_have_accessible_name("Thought 1: I open the mail.", timeout=BOUND_MS)

    await press("Shift+ArrowRight")
    await press("Shift+ArrowRight")
    await press("Shift+S")
    await expect(thoughts).to_have_count(len(SAID) + 1, timeout=BOUND_MS)
    await press(",")
    await press("m")
    await expect(thoughts).to_have_count(len(SAID), timeout=BOUND_MS)

    await press(".")
    await press("g")
    await expect(page.get_by_role("textbox", name="Steps", exact=True)).to_be_focused(timeout=BOUND_MS)
    await press("Control+a")
    await page.keyboard.insert_text("2")
    await press("Enter")
    await expect(timeline.get_by_text("about step 2")).to_be_visible(timeout=BOUND_MS)
    await press("Shift+Z")
    await expect(timeline.get_by_text("about step 1")).to_be_visible(timeout=BOUND_MS)

    await press("x")
    await expect(page.get_by_role("button", name="Redact this word")).to_be_focused(timeout=BOUND_MS)
    await assert_accessible_in_both(page, "redaction")
    await press("Enter")
    await expect(words.first).to_have_text("redacted", timeout=BOUND_MS)
    await expect(timeline.get_by_text("4 changes")).to_be_visible()
