"""An admin edits, copies and retires revisions; a model that its server does not have is told of itself and of no
other."""

import re

import pytest
from playwright.async_api import expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage, open_queue
from tests.e2e.test_pages import assert_accessible

pytestmark = pytest.mark.slow

POOL = "Absent model"


async def test_the_error_of_a_model_ends_with_its_revision(sign_in: SignIn, platform: TemporaryPlatform) -> None:
    platform.manage("shell", "-c", f"from tests.e2e.drills import absent_load; absent_load({POOL!r})")
    annotator = await sign_in("annotator")
    await open_queue(annotator)
    await annotator.get_by_role("button", name=f"Take one from {POOL}", exact=True).click()
    desk = EpisodePage(annotator)
    failed = annotator.get_by_role("alert").filter(has_text="nobody-serves-this")
    await expect(failed).to_be_visible(timeout=BOUND_MS)

    admin = await sign_in("admin", "/health")
    parts = admin.get_by_role("listitem")
    absent = parts.filter(has_text="Model server absent 1")
    await expect(absent.get_by_text("Its server does not have this model:")).to_be_visible(timeout=BOUND_MS)
    await expect(absent.get_by_text(re.compile("^nobody-serves-this; it has "))).to_be_visible()
    await expect(parts.filter(has_text="Model server scripted 1").get_by_text("Works", exact=True)).to_be_visible()
    await admin.goto("/policies")
    await admin.get_by_role("button", name=f"Change who proposes in {POOL}").click(timeout=BOUND_MS)
    dialog = admin.get_by_role("dialog", name=f"Who proposes in {POOL}")
    await dialog.get_by_role("combobox", name="Revision").select_option("scripted 1")
    await dialog.get_by_role("button", name="Change it").click()
    await expect(dialog).to_have_count(0, timeout=BOUND_MS)
    await expect(desk.cards.first).to_be_visible(timeout=BOUND_MS)
    await expect(failed).to_have_count(0, timeout=BOUND_MS)
    await desk.leave()


async def test_a_revision_is_edited_copied_retired_and_brought_back(
    sign_in: SignIn, platform: TemporaryPlatform
) -> None:
    platform.manage("shell", "-c", f"from tests.e2e.drills import absent_load; absent_load({POOL!r})")
    page = await sign_in("admin", "/policies")
    row = page.get_by_role("row").filter(has_text="absent")
    change = page.get_by_role("button", name="Change absent 1")
    await change.click(timeout=BOUND_MS)
    await page.get_by_role("menuitem", name="Edit server and key…").click()
    dialog = page.get_by_role("dialog", name="Where absent 1 is served")
    await dialog.get_by_role("textbox", name="Endpoint").fill("http://127.0.0.1:9/elsewhere")
    await assert_accessible(page, "edit a revision")
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0, timeout=BOUND_MS)
    await expect(row.get_by_text("http://127.0.0.1:9/elsewhere").first).to_be_visible(timeout=BOUND_MS)

    await page.get_by_role("button", name=f"Change who proposes in {POOL}").click()
    who = page.get_by_role("dialog", name=f"Who proposes in {POOL}")
    await who.get_by_text("Nobody", exact=True).click()
    await who.get_by_role("button", name="Change it").click()
    await expect(who).to_have_count(0, timeout=BOUND_MS)

    await change.click()
    await page.get_by_role("menuitem", name="New revision from this…").click()
    register = page.get_by_role("dialog", name="Register a revision")
    await register.get_by_role("textbox", name="Revision").fill("2")
    sampling, memory = (register.get_by_role("group", name=name, exact=True) for name in ("Sampling", "Memory"))
    await sampling.get_by_label("Temperature", exact=True).fill("0.3")
    await memory.get_by_label("Screenshots", exact=True).fill("2")
    await sampling.get_by_role("button", name="Edit as JSON").click()
    await expect(sampling.get_by_role("textbox", name="Sampling as JSON")).to_have_value('{"temperature":0.3}')
    prompt = register.get_by_role("group", name="Prompt", exact=True)
    await prompt.get_by_role("switch").check(timeout=BOUND_MS)
    await prompt.get_by_role("textbox", name="Prompt", exact=True).fill("Do this: {instruction}")
    await assert_accessible(page, "register a revision")
    await register.get_by_role("button", name="Register", exact=True).click()
    await expect(register).to_have_count(0, timeout=BOUND_MS)
    await page.get_by_role("button", name="Details of absent 2").click(timeout=BOUND_MS)
    for text in ('{"temperature":0.3}', '{"images":2}', "Do this: {instruction}"):
        await expect(page.get_by_text(text, exact=True)).to_have_count(1, timeout=BOUND_MS)

    row = row.filter(has_text="absent 1")
    retired = row.get_by_text("Retired")
    await change.click()
    await page.get_by_role("menuitem", name="Retire").click()
    await expect(retired).to_be_visible(timeout=BOUND_MS)
    await page.get_by_role("button", name=re.compile("^Undo")).click(timeout=BOUND_MS)
    await expect(retired).to_have_count(0, timeout=BOUND_MS)
