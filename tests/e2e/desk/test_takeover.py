"""A takeover: what the keyboard and the pointer do here is done there, and nothing stays down."""

from collections.abc import Sequence
from typing import Any

import pytest
from playwright.async_api import CDPSession, Page, WebSocket, expect

from protocol.actions.types import Gesture, InputEvent, MouseDown, MouseUp, Point, Press, Release, TypeText
from tests.e2e.conftest import Drill, SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage, drag
from tests.e2e.test_pages import assert_accessible

THOUGHT = "I do this by hand."
LAYOUT_TEXT = "Kö@é€"
KEEP_SOCKETS = """
    sockets = [];
    WebSocket = class extends WebSocket {
        constructor(...all) { super(...all); sockets.push(this); }
    };
"""
DISPATCH_EVENTS = """
    events => {
        for (const { type, ...rest } of events)
            document.activeElement.dispatchEvent(new KeyboardEvent(type, { bubbles: true, cancelable: true, ...rest }));
    }
"""
pytestmark = pytest.mark.slow


def key(code: str, name: str, **flags: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """A key that goes down and up, as a browser reports it."""
    return {"type": "keydown", "code": code, "key": name, **flags}, {
        "type": "keyup",
        "code": code,
        "key": name,
        **flags,
    }


CONTROL, ALT_GRAPH = key("ControlLeft", "Control"), key("AltRight", "AltGraph")
META = key("MetaLeft", "Meta")
WINDOWS_AND_MAC_KEYS = (
    # AltGr and E of a German keyboard under Windows, which reports a Ctrl before it
    {**CONTROL[0], "ctrlKey": True},
    {**ALT_GRAPH[0], "modifierAltGraph": True},
    *key("KeyE", "€", modifierAltGraph=True),
    CONTROL[1],
    ALT_GRAPH[1],
    # Meta and C, as macOS reports them: the letter never comes up
    {**META[0], "metaKey": True},
    key("KeyC", "c", metaKey=True)[0],
    META[1],
)


async def test_a_takeover_becomes_a_gesture(sign_in: SignIn, drill: Drill) -> None:
    page = await sign_in("annotator", script=KEEP_SOCKETS)
    sockets: list[WebSocket] = []
    page.on("websocket", lambda socket: sockets.append(socket) if "/ws/episodes/" in socket.url else None)
    await page.set_viewport_size({"width": 1920, "height": 1080})
    desk = await drill(page)
    await page.keyboard.press("t")
    await expect(page.get_by_role("application", name="The machine under your hands")).to_be_visible(timeout=BOUND_MS)
    await drag(desk, (401, 305), (733, 511))
    await page.keyboard.type("hi")
    keyboard = await page.context.new_cdp_session(page)
    await compose(keyboard)
    await page.keyboard.down("ArrowLeft")
    await page.evaluate("dispatchEvent(new Event('blur'))")  # the key-up of another window's key never comes
    async with sockets[-1].expect_event("framesent", lambda frame: '"right"' in str(frame)):
        await page.keyboard.down("ArrowRight")
    await page.evaluate("{ const frozen = performance.now() + 2500; while (performance.now() < frozen); }")
    await page.keyboard.type("x")  # the arrow's key-up has not come yet
    await page.keyboard.up("ArrowRight")
    await type_by_layouts(page, keyboard)
    await lose_the_connection(desk, sockets)
    await page.keyboard.down("ArrowDown")
    await expect(desk.thought).to_have_value("")
    await page.keyboard.press("Escape")
    await page.keyboard.press("Escape")
    dialog = page.get_by_role("dialog", name="End the takeover")
    await dialog.get_by_role("textbox").fill(THOUGHT)
    await assert_accessible(page, "end the takeover", within=dialog)
    await dialog.get_by_role("button", name="End the takeover").click()
    await expect(desk.banners.get_by_text("You have the machine.")).to_have_count(0, timeout=BOUND_MS)
    await page.keyboard.up("ArrowDown")

    steps = await desk.steps()
    assert {step.decision for step in steps} == {"takeover"}
    done = [timed.input for step in steps if isinstance(step.action, Gesture) for timed in step.action.inputs]
    buttons = [one for one in done if isinstance(one, MouseDown | MouseUp)]
    assert buttons == [
        MouseDown(point=Point(x=401, y=305), button="left"),
        MouseUp(point=Point(x=733, y=511), button="left"),
    ]
    assert [one.key for one in done if isinstance(one, Press)] == [
        *("h", "i", "left", "right", "x", "super", "c", "up", "y", "down"),
    ], "leaving sends no Escape, and what was typed without a connection is not typed later"
    assert done.index(Release(key="right")) < done.index(Press(key="x")), "a page that is silent lets go"
    after = done[done.index(Release(key="left")) + 1]
    assert after == Press(key="right"), "what is held is let go before anything else is typed"
    assert done.index(Release(key="up")) < done.index(Press(key="y")), "a lost connection lets go"
    assert "".join(one.text for one in done if isinstance(one, TypeText)) == "你" + LAYOUT_TEXT
    assert keys_down_after(done) == set()
    assert steps[-1].thought == THOUGHT
    await desk.leave()


async def compose(keyboard: CDPSession) -> None:
    """Write by an input method."""
    await keyboard.send("Input.imeSetComposition", {"text": "ni", "selectionStart": 2, "selectionEnd": 2})
    await keyboard.send("Input.insertText", {"text": "你"})


async def type_by_layouts(page: Page, keyboard: CDPSession) -> None:
    """Write `LAYOUT_TEXT` as Caps Lock, a German keyboard, a dead key and AltGr do, and press Meta and C."""
    caps = {"key": "K", "text": "K", "code": "KeyK", "modifiers": 0}
    await keyboard.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": "CapsLock", "code": "CapsLock"})
    await keyboard.send("Input.dispatchKeyEvent", {"type": "keyDown", **caps})
    await keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", **caps})
    await keyboard.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", "key": "Dead", "code": "Equal"})
    await keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": "Dead", "code": "Equal"})
    for sign in ("ö", "@", "é"):
        await keyboard.send("Input.dispatchKeyEvent", {"type": "keyDown", "key": sign, "text": sign, "code": "Quote"})
        await keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", "key": sign, "code": "Quote"})
    await page.evaluate(DISPATCH_EVENTS, WINDOWS_AND_MAC_KEYS)


async def lose_the_connection(desk: EpisodePage, sockets: Sequence[WebSocket]) -> None:
    """A key is held when the connection goes, and another one pressed meanwhile."""
    page = desk.page
    async with sockets[-1].expect_event("framesent", lambda frame: '"up"' in str(frame)):
        await page.keyboard.down("ArrowUp")
    offline = desk.banners.get_by_text("You are offline.")
    await page.context.set_offline(True)
    await page.evaluate("sockets.findLast(({ url }) => url.includes('/ws/episodes/')).close()")
    await expect(offline).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.type("z")
    await page.context.set_offline(False)
    await expect(offline).to_have_count(0, timeout=BOUND_MS)
    # What is typed before the socket is open again is not sent.
    await expect(desk.banners.get_by_text("Reconnecting")).to_have_count(0, timeout=BOUND_MS)
    await expect(desk.banners.get_by_text("You have the machine.")).to_be_visible(timeout=BOUND_MS)
    await page.keyboard.type("y")
    await page.keyboard.up("ArrowUp")


def keys_down_after(inputs: Sequence[InputEvent]) -> set[str]:
    """The keys that are down once these inputs are done."""
    down: set[str] = set()
    for one in inputs:
        if isinstance(one, Press):
            down.add(one.key)
        elif isinstance(one, Release):
            down.discard(one.key)
    return down
