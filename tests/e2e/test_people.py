"""How people come in and stay in: invitations, a second factor, browsers signed out, a password that was forgotten, and
when a sign-in ends."""

import re
import time
from datetime import timedelta
from uuid import uuid4

import psycopg
import pytest
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.async_api import Browser, Locator, Page, Response, expect

from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from tests.e2e.conftest import SignIn, confirm
from tests.e2e.episode_page import BOUND_MS
from tests.e2e.test_pages import assert_accessible
from tests.mailbox import Mailbox
from tests.waiting import eventually

pytestmark = pytest.mark.slow
PASSWORD = "correct horse battery staple 7"
FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0"
PERIOD = 30
"""How long an authenticator shows one code (seconds)."""
IDLE, LIMIT = timedelta(hours=24), timedelta(days=14)
"""After so long a sign-in ends that nobody used, and every one (`PILOTHOUSE_SESSION_IDLE_HOURS`, `…_LIMIT_HOURS`)."""
HOUR = timedelta(hours=1)
MOVED = """
    WITH moved AS (
        UPDATE accounts_signin SET seen_at = seen_at - %(by)s, created_at = created_at - %(by)s
        WHERE user_id = (SELECT id FROM accounts_user WHERE username = %(username)s) RETURNING session_key
    )
    UPDATE django_session SET expire_date = expire_date - %(by)s
    WHERE session_key IN (SELECT session_key FROM moved) AND %(expires)s
"""


async def fresh(browser: Browser, platform: TemporaryPlatform, agent: str | None = None) -> Page:
    """Another browser of somebody whom nobody knows yet; `agent`: what it calls itself."""
    context = await browser.new_context(
        viewport={"width": 1280, "height": 800}, locale="en-GB", base_url=platform.url, user_agent=agent
    )
    return await context.new_page()


async def enter_password(page: Page, username: str, password: str = PASSWORD) -> None:
    await page.goto("/security")
    await page.locator("input[autocomplete=username]").fill(username)
    await page.locator("input[type=password]").fill(password)
    await page.keyboard.press("Enter")


async def answered(page: Page, field: Locator, code: str) -> Response:
    """What the platform says to a code."""
    await field.fill(code)
    async with page.expect_response(lambda response: response.request.method == "POST", timeout=BOUND_MS) as answer:
        await page.keyboard.press("Enter")
    return await answer.value


async def enter_app_code(page: Page, field: Locator, secret: str) -> None:
    """Give the code the authenticator shows; the next one, where it went over to that meanwhile."""
    for _ in range(2):
        code = str(format_hotp_value(hotp_value(secret, int(time.time()) // PERIOD)))
        if (await answered(page, field, code)).ok:
            return
    raise AssertionError("neither of two codes was taken")


async def assert_out(page: Page) -> None:
    """The browser asks to sign in, and what it holds opens nothing any more."""
    assert (await page.request.get("/api/me/security")).status == 401
    await page.goto("/security")
    await expect(page.locator("input[type=password]")).to_be_visible(timeout=BOUND_MS)


async def signed_in_as(browser: Browser, platform: TemporaryPlatform, cookie: str) -> Page:
    """A browser that has the cookie of a session."""
    page = await fresh(browser, platform)
    name, _, value = cookie.partition("=")
    await page.context.add_cookies([{"name": name, "value": value, "url": platform.url}])
    return page


def time_passed(platform: TemporaryPlatform, username: str, by: timedelta, *, used: bool = False) -> None:
    """Move all that is stored of when somebody signed in and was seen back in time; `used`: as if the session had been
    used meanwhile, which lets it go on."""
    with psycopg.connect(platform.environment["PILOTHOUSE_DATABASE_URL"]) as connection:
        connection.execute(MOVED, {"by": by, "username": username, "expires": not used})


async def change_person(admin: Page, username: str) -> Locator:
    """The dialog of a person, on the page of people."""
    await admin.get_by_role("textbox", name="Name or address").fill(username)
    row = admin.get_by_role("row").filter(has_text=username)
    await row.get_by_role("button", name="Change").click(timeout=BOUND_MS)
    return admin.get_by_role("dialog", name="Change")


async def do_and_confirm(page: Page, person: Locator, what: str) -> None:
    """Press a button of a person's dialog, and the same in the question that follows."""
    await person.get_by_role("button", name=what, exact=True).click(timeout=BOUND_MS)
    question = page.get_by_role("dialog", name=what, exact=True)
    await question.get_by_role("button", name=what, exact=True).click(timeout=BOUND_MS)
    await expect(question).to_have_count(0, timeout=BOUND_MS)


async def test_invited_a_second_factor_and_browsers_sent_away(
    sign_in: SignIn, browser: Browser, platform: TemporaryPlatform
) -> None:
    username = f"ines-{uuid4().hex[:8]}"
    admin = await sign_in("admin", "/people")
    await admin.get_by_role("button", name="Invite", exact=True).click()
    link = admin.get_by_role("textbox", name="Link of the invitation")
    await expect(link).to_be_visible(timeout=BOUND_MS)
    path = "/join#" + (await link.input_value()).rpartition("/join#")[2]
    await assert_accessible(admin, "people")

    ines = await fresh(browser, platform)
    await ines.goto(path)
    await ines.get_by_role("textbox", name="What to call you").fill("Ines")
    await ines.get_by_role("textbox", name="User name").fill(username)
    await ines.locator("input[type=password]").fill(PASSWORD)
    await assert_accessible(ines, "join")
    await ines.keyboard.press("Enter")
    await ines.wait_for_url("**/queue", timeout=BOUND_MS)
    again = await fresh(browser, platform)
    await again.goto(path)
    await expect(again.get_by_role("alert").first).to_be_visible(timeout=BOUND_MS)
    await expect(again.locator("input[type=password]")).to_have_count(0)

    await ines.goto("/security")
    await ines.get_by_role("button", name="Turn on").press("Enter")
    shown = ines.get_by_text("Key: ")
    await expect(shown).to_be_visible(timeout=BOUND_MS)
    secret = (await shown.inner_text()).removeprefix("Key: ").strip()
    first = ines.get_by_label("Code the app shows")
    await expect(first).to_be_focused(timeout=BOUND_MS)
    await enter_app_code(ines, first, secret)
    codes = ines.get_by_role("list", name="Recovery codes").get_by_role("listitem")
    await expect(codes).to_have_count(10, timeout=BOUND_MS)
    recovery = await codes.first.inner_text()
    await assert_accessible(ines, "security")

    laptop = await fresh(browser, platform, FIREFOX)
    await enter_password(laptop, username)
    asked = laptop.get_by_label("Code of your authenticator, or a recovery code")
    await expect(asked).to_be_focused(timeout=BOUND_MS)
    assert not (await answered(laptop, asked, "000000")).ok
    await expect(laptop.get_by_role("alert")).not_to_be_empty(timeout=BOUND_MS)
    await enter_app_code(laptop, asked, secret)
    browsers = laptop.get_by_role("table", name="Where you are signed in").get_by_role("row")
    await expect(browsers).to_have_count(1 + 2, timeout=BOUND_MS)

    phone = await fresh(browser, platform)
    await enter_password(phone, username)
    asked = phone.get_by_label("Code of your authenticator, or a recovery code")
    await expect(asked).to_be_focused(timeout=BOUND_MS)
    assert (await answered(phone, asked, recovery)).ok
    browsers = phone.get_by_role("table", name="Where you are signed in").get_by_role("row")
    await expect(browsers).to_have_count(1 + 3, timeout=BOUND_MS)
    await assert_accessible(phone, "three browsers")

    await browsers.get_by_role("button", name="Sign out Firefox 140, Windows").press("Enter")
    await expect(browsers).to_have_count(1 + 2, timeout=BOUND_MS)
    await assert_out(laptop)
    assert (await ines.request.get("/api/me/security")).ok
    await phone.get_by_role("button", name="Sign out everywhere else").press("Enter")
    await expect(browsers).to_have_count(1 + 1, timeout=BOUND_MS)
    await assert_out(ines)
    assert (await phone.request.get("/api/me/security")).ok

    await enter_password(laptop, username)
    asked = laptop.get_by_label("Code of your authenticator, or a recovery code")
    await expect(asked).to_be_focused(timeout=BOUND_MS)
    assert not (await answered(laptop, asked, recovery)).ok, "a recovery code is good once"
    await expect(laptop.get_by_role("alert")).not_to_be_empty(timeout=BOUND_MS)

    await admin.reload()
    person = await change_person(admin, username)
    await do_and_confirm(admin, person, "Let in without authenticator")
    await do_and_confirm(admin, person, "Sign out everywhere")
    await assert_out(phone)
    await enter_password(laptop, username)
    await expect(laptop.get_by_role("button", name="Turn on")).to_be_visible(timeout=BOUND_MS)


async def test_a_forgotten_password_is_replaced_by_an_admins_link(
    browser: Browser, platform: TemporaryPlatform
) -> None:
    username, newer = f"olga-{uuid4().hex[:8]}", f"{PASSWORD} and more"
    load = f"person_make({username!r}, {PASSWORD!r}); print(stale_session_make('admin'))"
    made = platform.manage("shell", "-v", "0", "-c", f"from tests.e2e.drills import *; {load}")
    admin = await signed_in_as(browser, platform, made.split()[-1])
    await admin.goto("/people")
    person = await change_person(admin, username)
    await person.get_by_role("button", name="Make a password link").click(timeout=BOUND_MS)
    await expect(admin.get_by_role("dialog", name="Confirm that it is you")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(admin, "confirm that it is you")
    await confirm(admin, "admin-demo")
    link = admin.get_by_role("textbox", name=f"Link with which {username}")
    await expect(link).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(admin, "password link")

    olga = await fresh(browser, platform)
    await olga.goto("/reset-password#" + (await link.input_value()).rpartition("#")[2])
    await olga.get_by_label("New password", exact=True).fill(newer, timeout=BOUND_MS)
    await assert_accessible(olga, "new password")
    await olga.keyboard.press("Enter")
    await expect(olga.get_by_text("Your password is set")).to_be_visible(timeout=BOUND_MS)
    await enter_password(olga, username, newer)

    await olga.get_by_label("Current password").fill(newer, timeout=BOUND_MS)
    await olga.get_by_label("New password", exact=True).fill(PASSWORD)
    await olga.keyboard.press("Enter")
    await expect(olga.get_by_text("Your password is changed")).to_be_visible(timeout=BOUND_MS)
    await assert_accessible(olga, "security")
    assert (await olga.request.get("/api/me/security")).ok


async def test_a_link_by_mail_and_the_ends_of_a_sign_in(
    browser: Browser, platform: TemporaryPlatform, mailbox: Mailbox
) -> None:
    username, newer = f"maja-{uuid4().hex[:8]}", f"{PASSWORD} and more"
    address = f"{username}@example.org"
    load = f"person_make({username!r}, {PASSWORD!r}, email={address!r}); print(stale_session_make({username!r}))"
    made = platform.manage("shell", "-v", "0", "-c", f"from tests.e2e.drills import *; {load}")
    desk = await signed_in_as(browser, platform, made.split()[-1])
    await desk.goto("/security")
    await desk.get_by_role("button", name="Turn on").click(timeout=BOUND_MS)
    await expect(desk.get_by_role("dialog", name="Confirm that it is you")).to_be_visible(timeout=BOUND_MS)
    await desk.keyboard.press("Escape")
    await expect(desk.get_by_text("Key: ")).to_have_count(0)
    await desk.get_by_role("textbox", name="Which program it is for").fill("A program")
    await desk.get_by_role("button", name="Make a token").click()
    await confirm(desk, PASSWORD)
    tokens = desk.get_by_role("table", name="Tokens of programs")
    await expect(tokens.get_by_role("row").filter(has_text="A program")).to_be_visible(timeout=BOUND_MS)

    maja = await fresh(browser, platform)
    await maja.goto("/")
    await maja.get_by_role("button", name="Forgot your password?").click(timeout=BOUND_MS)
    await maja.get_by_role("textbox", name="User name or e-mail address").fill(address, timeout=BOUND_MS)
    await assert_accessible(maja, "forgotten password")
    await maja.keyboard.press("Enter")
    await expect(maja.get_by_text("a link is on its way")).to_be_visible(timeout=BOUND_MS)
    await eventually(lambda: mailbox.messages_to(address))
    (message,) = mailbox.messages_to(address)
    link = re.search(r"/reset-password#\S+", message.get_content())
    assert link is not None
    await maja.goto(link[0])
    await maja.get_by_label("New password", exact=True).fill(newer, timeout=BOUND_MS)
    await maja.keyboard.press("Enter")
    await expect(maja.get_by_text("Your password is set")).to_be_visible(timeout=BOUND_MS)
    await assert_out(desk)

    for passed in ((IDLE - HOUR, IDLE - HOUR, IDLE + HOUR), (LIMIT - HOUR, 2 * HOUR)):
        await enter_password(maja, username, newer)
        here = maja.get_by_role("table", name="Where you are signed in")
        await expect(here).to_be_visible(timeout=BOUND_MS)
        for by in passed[:-1]:
            time_passed(platform, username, by, used=by > IDLE)
            await maja.reload()
            await expect(here).to_be_visible(timeout=BOUND_MS)
        time_passed(platform, username, passed[-1])
        await assert_out(maja)
