"""Doing it oneself: every way to say a step, everything a person can do with a task, compared with what is recorded."""

import asyncio
import re
from collections.abc import Awaitable, Callable

import pytest
from playwright.async_api import Page, expect

from protocol.actions.types import (
    Action,
    Click,
    DoubleClick,
    Drag,
    GetClipboard,
    MouseClick,
    OpenApp,
    Point,
    PressKeys,
    RightClick,
    Scroll,
    SetClipboard,
    TypeText,
)
from tests.e2e.completion import complete_by_tab, continue_by_tab
from tests.e2e.conftest import AUTOPILOT_DRILL, LATER_DRILL, Drill, SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage, drag
from tests.e2e.test_pages import assert_accessible

THOUGHT = "I do this by hand."
TARGET = Click(x=640, y=300)
"""What one of the candidates of a drill's first step does."""
PAST = re.compile("^Step ")
"""What the word on a past step begins with."""
TEXT = "你好，世界 <naïve> 2 > 1"
PASTING = ("mouseup", "auxclick")
"""A browser pastes what is selected elsewhere at one of these of the middle button, where its system does."""
NOTE_PREVENTION = "event => (document.body.dataset[name] = event.defaultPrevented)"
pytestmark = pytest.mark.slow


async def wheel(episode_page: EpisodePage, at: tuple[int, int], notches: int) -> None:
    await episode_page.page.mouse.move(*await episode_page.place(*at))
    await episode_page.page.mouse.wheel(0, 100 * notches)


async def test_pointing_at_the_picture(sign_in: SignIn, drill: Drill) -> None:
    page = await sign_in("annotator")
    await page.set_viewport_size({"width": 1920, "height": 1080})
    episode_page = await drill(page)

    async def click(x: int, y: int, *, button: str = "left", times: int = 1) -> None:
        place = await episode_page.place(x, y)
        await page.mouse.click(*place, button="right" if button == "right" else "left", click_count=times)

    gestures: tuple[tuple[Callable[[], Awaitable[None]], Action], ...] = (
        (lambda: click(417, 303), Click(x=417, y=303)),
        (lambda: click(1279, 719, times=2), DoubleClick(x=1279, y=719)),
        (lambda: click(611, 455, button="right"), RightClick(x=611, y=455)),
        (
            lambda: drag(episode_page, (401, 305), (733, 511)),
            Drag(start=Point(x=401, y=305), end=Point(x=733, y=511), button="left"),
        ),
        (lambda: wheel(episode_page, (640, 361), 3), Scroll(point=Point(x=640, y=361), direction="down", amount=3)),
    )
    for number, (gesture, action) in enumerate(gestures, start=1):
        await episode_page.think(THOUGHT)
        await gesture()
        await expect(episode_page.line).to_have_text(re.compile(f"^{action.kind}"), timeout=BOUND_MS)
        await page.keyboard.press("Enter")
        await episode_page.stepped(number)
    await cancel_drags(episode_page)
    await inherit_thoughts(episode_page)
    await episode_page.think(THOUGHT)
    await page.keyboard.down("Control")
    await click(417, 303)
    await page.keyboard.up("Control")
    await expect(episode_page.line).to_have_text(re.compile("^mouse_click"), timeout=BOUND_MS)
    await page.keyboard.press("Enter")
    await episode_page.stepped(len(gestures) + 1)
    steps = await episode_page.steps()
    held = MouseClick(point=Point(x=417, y=303), keys=("ctrl",))
    assert [step.action for step in steps] == [*(action for _, action in gestures), held]
    assert {(step.decision, step.thought) for step in steps} == {("override", THOUGHT)}
    await episode_page.leave()


async def cancel_drags(episode_page: EpisodePage) -> None:
    """A drag that ends outside of the picture or by Escape composes nothing, and a middle click pastes nothing."""
    page = episode_page.page
    for ends_by_key in (True, False):
        await page.mouse.move(*await episode_page.place(401, 305))
        await page.mouse.down()
        await page.mouse.move(*await episode_page.place(733, 511), steps=4)
        if ends_by_key:
            await page.keyboard.press("Escape")
        else:
            await page.mouse.move(2, 2)
        await page.mouse.up()
        await expect(episode_page.line).not_to_have_text(re.compile(r"^\w+\("))
    await page.evaluate(f"for (const name of {list(PASTING)}) addEventListener(name, {NOTE_PREVENTION})")
    await page.mouse.click(*await episode_page.place(417, 303), button="middle")
    for name in PASTING:
        await expect(page.locator("body")).to_have_attribute(f"data-{name}", "true")
    await expect(episode_page.thought).to_have_value("")
    await page.keyboard.press("Escape")


async def inherit_thoughts(episode_page: EpisodePage) -> None:
    """A click on a candidate's target begins with its thought, which one key replaces; no other act inherits it."""
    page, thought = episode_page.page, episode_page.thought
    (near,) = (one for one in (await episode_page.state()).proposals if one.action == TARGET)
    for x, y, button, expected in (
        (TARGET.x + 40, TARGET.y, "left", ""),
        (TARGET.x, TARGET.y, "right", ""),
        (TARGET.x + 5, TARGET.y + 3, "left", near.thought),
    ):
        place = await episode_page.place(x, y)
        await page.mouse.click(*place, button="right" if button == "right" else "left")
        await expect(thought).to_be_focused(timeout=BOUND_MS)
        await expect(thought).to_have_value(expected)
        await page.keyboard.type("x")
        await expect(thought).to_have_value("x")
        await page.keyboard.press("Escape")
        await page.keyboard.press("Escape")
        await expect(episode_page.line).not_to_have_text(re.compile(r"^\w+\("))


async def test_typing_hotkeys_and_clipboard(sign_in: SignIn, drill: Drill) -> None:
    """What an input method composes reaches the desktop's editor, and comes back through its clipboard."""
    page = await sign_in("annotator")
    episode_page = await drill(page)
    await select_all_without_a_thought(episode_page)

    await page.keyboard.press("i")
    field = page.get_by_role("textbox", name="Text to type")
    await expect(field).to_be_focused(timeout=BOUND_MS)
    method = await page.context.new_cdp_session(page)
    await method.send("Input.imeSetComposition", {"text": "ni", "selectionStart": 2, "selectionEnd": 2})
    await method.send("Input.insertText", {"text": TEXT[:2]})
    await page.keyboard.insert_text(TEXT[2:])
    await expect(field).to_have_value(TEXT)
    await page.keyboard.press("Enter")
    await episode_page.think_when_asked(THOUGHT)
    await episode_page.stepped(2)

    await complete_by_tab(episode_page, TEXT)
    await continue_by_tab(episode_page)
    for number, key in ((3, "a"), (4, "c")):
        await episode_page.think(THOUGHT)
        await page.keyboard.press("k")
        await expect(page.get_by_role("textbox", name="Press the keys")).to_be_focused(timeout=BOUND_MS)
        await page.keyboard.press(f"Control+{key}")
        await episode_page.stepped(number)

    await clipboard(episode_page, "Read the machine's clipboard", 5)
    await clipboard(episode_page, "Copy to the machine", 6, text="from outside")
    await clipboard(episode_page, "Read the machine's clipboard", 7)
    await look_back_at_the_clipboard(episode_page)

    first, *steps = await episode_page.steps()
    assert (first.action, first.thought, first.proposal_id) == (PressKeys(keys=("ctrl", "a")), THOUGHT, None)
    assert [step.action for step in steps] == [
        TypeText(text=TEXT),
        PressKeys(keys=("ctrl", "a")),
        PressKeys(keys=("ctrl", "c")),
        GetClipboard(),
        SetClipboard(text="from outside"),
        GetClipboard(),
    ]
    read = [step.after.text for step in steps if step.after is not None and step.action.kind == "get_clipboard"]
    assert read == [TEXT, "from outside"]
    await episode_page.leave()
    replay = f"/episodes/{episode_page.episode}"
    for number, text in ((5, TEXT), (6, "from outside")):
        await page.goto(f"{replay}?step={number}")
        await expect(page.get_by_role("figure").get_by_text(text, exact=True)).to_be_visible(timeout=BOUND_MS)


async def select_all_without_a_thought(episode_page: EpisodePage) -> None:
    """A hotkey is not done with the thought of a candidate."""
    page = episode_page.page
    await page.keyboard.press("k")
    await expect(page.get_by_role("textbox", name="Press the keys")).to_be_focused(timeout=BOUND_MS)
    await page.keyboard.press("Control+a")
    await episode_page.think_when_asked(THOUGHT)
    await episode_page.stepped(1)


async def look_back_at_the_clipboard(episode_page: EpisodePage) -> None:
    """What the clipboard gave and took stands at its step, and Enter does nothing while one looks back."""
    page, before = episode_page.page, await episode_page.step()
    past = page.get_by_role("status").filter(has_text=PAST)
    for text in ("from outside", "from outside", TEXT):
        await page.keyboard.press("[")
        await expect(past).to_contain_text(text, timeout=BOUND_MS)
    await page.keyboard.press("Enter")
    await page.keyboard.press("0")
    await expect(past).to_have_count(0, timeout=BOUND_MS)
    assert await episode_page.step() == before


async def clipboard(episode_page: EpisodePage, button: str, number: int, *, text: str = "") -> None:
    await episode_page.think(THOUGHT)
    await episode_page.page.keyboard.press("c")
    dialog = episode_page.page.get_by_role("dialog", name="Clipboard")
    await dialog.get_by_label("Text for the machine").fill(text)
    await dialog.get_by_role("button", name=button).click()
    await episode_page.stepped(number)


async def test_the_autopilot_runs_until_one_key_stops_it(sign_in: SignIn, drill: Drill) -> None:
    page = await sign_in("annotator")
    episode_page = EpisodePage(page)
    await episode_page.take(AUTOPILOT_DRILL)
    running = episode_page.banners.get_by_text("Autopilot.", exact=True)
    await page.keyboard.press("a")
    await expect(episode_page.steps_shown).not_to_have_text(re.compile("^Step 1 of"), timeout=BOUND_MS)
    for place in ("tooltip", "page", "picture", "thought", "action", "past"):
        if place != "tooltip":
            await page.keyboard.press("a")
        await expect(running).to_be_visible(timeout=BOUND_MS)
        await go_to(episode_page, place)
        await page.keyboard.press("Escape")
        await expect(running, f"with the focus in the {place}").to_have_count(0, timeout=BOUND_MS)
        await expect(episode_page.cards.first).to_be_visible(timeout=BOUND_MS)
        await page.keyboard.press("Escape")  # out of a field, or of the past

    before = await episode_page.step()
    await page.keyboard.press("1")
    await episode_page.stepped(before + 2)
    decisions = [step.decision for step in await episode_page.steps()]
    assert decisions == ["auto"] * (before - 1) + ["accept"] * 3, "a candidate of three actions is accepted"
    await episode_page.leave()


async def go_to(episode_page: EpisodePage, place: str) -> None:
    """Take the focus, the pointer or the view to a place that Escape means something to."""
    page = episode_page.page
    match place:
        case "tooltip":
            await page.get_by_role("toolbar").get_by_role("button", name="Finish").hover()
            await expect(page.get_by_role("tooltip")).to_be_visible(timeout=BOUND_MS)
        case "page":
            await page.evaluate("document.activeElement?.blur()")
        case "picture":
            await episode_page.picture.focus()
        case "past":
            await page.keyboard.press("[")
            await expect(page.get_by_role("status").filter(has_text=PAST)).to_be_visible(timeout=BOUND_MS)
        case _:
            field = episode_page.thought if place == "thought" else episode_page.line
            await page.keyboard.press("e" if place == "thought" else "o")
            await expect(field).to_be_focused(timeout=BOUND_MS)


async def test_a_thought_follows_its_step_where_the_pool_allows_it(sign_in: SignIn, drill: Drill) -> None:
    page = await sign_in("annotator")
    episode_page = EpisodePage(page)
    await episode_page.take(LATER_DRILL)
    await page.keyboard.press("k")
    await page.get_by_role("textbox", name="Press the keys").press("Control+a")
    await episode_page.stepped(1)
    (step,) = await episode_page.steps()
    assert (step.thought, step.thought_timing) == ("", "owed")
    await page.keyboard.press("[")
    await expect(page.get_by_role("status").filter(has_text=PAST)).to_contain_text("Thought to be written")
    await page.keyboard.press("0")
    await page.keyboard.press("f")
    dialog = page.get_by_role("dialog", name="Thoughts to write")
    await dialog.get_by_role("textbox").fill(THOUGHT)
    await assert_accessible(page, "thoughts to write", within=dialog)
    await dialog.get_by_role("button", name="Save and finish").click()
    dialog = page.get_by_role("dialog", name="Finish the task")
    await dialog.get_by_role("button", name="Finish").click()
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    (step,) = await episode_page.steps()
    assert (step.thought, step.thought_timing) == (THOUGHT, "later")
    await page.goto(f"/episodes/{episode_page.episode}")
    await expect(page.get_by_text("Thought written later", exact=True)).to_be_visible(timeout=BOUND_MS)


async def test_candidates_are_marked_and_asked_for_again(sign_in: SignIn, drill: Drill) -> None:
    page = await sign_in("annotator")
    episode_page = await drill(page)
    offered = [proposal.id for proposal in (await episode_page.state()).proposals]
    await page.keyboard.press("r")
    await expect(episode_page.cards).to_have_count(0, timeout=BOUND_MS)
    await expect(episode_page.cards.first).to_be_visible(timeout=BOUND_MS)
    first, second = (await episode_page.state()).proposals
    assert not {first.id, second.id} & set(offered)

    pressed = episode_page.cards.nth(1).get_by_role("button", pressed=True)
    await page.keyboard.press("Alt+2")
    await expect(pressed).to_have_accessible_name("Also acceptable", timeout=BOUND_MS)
    await page.keyboard.press("Alt+2")
    await expect(pressed).to_have_accessible_name("Wrong", timeout=BOUND_MS)
    await page.keyboard.press("1")
    await episode_page.stepped(1)
    (step,) = await episode_page.steps()
    assert (step.proposal_id, step.acceptable_ids, step.wrong_ids) == (first.id, (), (second.id,))
    await episode_page.leave()


async def test_a_screen_that_a_timer_changes_is_proposed_for_again(sign_in: SignIn, drill: Drill) -> None:
    page = await sign_in("annotator")
    episode_page = await drill(page)
    await episode_page.override(OpenApp(name="terminal"), THOUGHT)
    await episode_page.stepped(1)
    await episode_page.override(TypeText(text="sleep 1; echo seen\n"), THOUGHT)
    await expect(episode_page.steps_shown).to_have_text(re.compile("^Step 3 of"), timeout=BOUND_MS)
    shown = (await episode_page.steps())[-1].after
    state = await episode_page.state()
    async with asyncio.timeout(BOUND_MS / 1000):
        while state.observation == shown or not state.proposals:
            await page.wait_for_timeout(100)
            state = await episode_page.state()
    await expect(episode_page.cards.first).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.press("1")
    await episode_page.stepped(3)
    last = (await episode_page.steps())[-1]
    assert last.proposal_id in {proposal.id for proposal in state.proposals}
    assert shown is not None
    assert last.before.screenshot != shown.screenshot
    await episode_page.leave()


async def test_ends_and_ways_to_leave(sign_in: SignIn, drill: Drill) -> None:
    page = await sign_in("annotator")
    episode_page = await drill(page)
    await page.keyboard.press("h")
    await in_dialog(page, "Call for help", "What do you need help with?", "The file is empty.")
    await expect(episode_page.banners.get_by_text("You asked for help.")).to_be_visible(timeout=BOUND_MS)
    await episode_page.finish(success=True)
    await expect(episode_page.ended.get_by_role("alert")).to_be_visible(timeout=BOUND_MS)
    ended = await episode_page.state()
    assert ended.help_requested
    assert ended.outcome == "success"
    assert ended.verdict is not None
    assert not ended.verdict.success

    episode_page = await drill(page)
    pool, task = (ended := await episode_page.state()).pool, ended.task.id
    await page.keyboard.press("x")
    await in_dialog(page, "Infeasible", "Why can it not be done?", "There is no keyboard.")
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)
    assert (await episode_page.state()).outcome == "infeasible"

    await episode_page.take(pool)
    assert (released := await episode_page.state()).task.id != task
    await episode_page.leave("Release")
    await episode_page.take(pool)
    assert (await episode_page.state()).task.id == released.task.id, "a released task returns to the pool"
    await episode_page.leave("Skip")
    await episode_page.take(pool)
    assert (broken := await episode_page.state()).task.id not in (task, released.task.id), (
        "a skipped task is not offered again"
    )
    await episode_page.leave("Report broken", "The editor is missing.")
    await episode_page.take(pool)
    assert (await episode_page.state()).task.id != broken.task.id, "nobody gets a broken task"
    await episode_page.leave("Release")


async def in_dialog(page: Page, button: str, field: str, text: str) -> None:
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label(field).fill(text)
    await dialog.get_by_role("button", name=button).click()
