"""What a browser machine does beyond what every machine does."""

import asyncio

import pytest

from protocol.actions.types import (
    ClosePage,
    Drag,
    DragPath,
    Gesture,
    MouseClick,
    Navigate,
    NavigateBack,
    Point,
    Press,
    PressKeys,
    Release,
    Scroll,
    ScrollBy,
    SwitchPage,
    TimedInput,
    TypeText,
    Wait,
)
from protocol.trajectory.observations import BrowserPage
from tests.integration.browser.machine.conftest import Do
from tests.integration.browser.machine.pages import GO, page_of, task
from vm_bridge.errors import CannotRestore, InvalidAction, UnknownTask, VerifierFailed
from vm_bridge.hosts.browser.host import BrowserHost, BrowserSandbox
from vm_bridge.machine import Machine

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_an_observation_says_how_the_page_stands(machine: Machine, do: Do) -> None:
    seen = await machine.prepare(task("counter"))
    assert (seen.width, seen.height, seen.url) == (640, 400, "http://pages.test/counter")
    page = page_of(seen)
    assert (page.title, page.clock, page.seed, page.score, page.done, page.pace) == ("counter", "exact", 5, 0, False, 0)
    assert [tab.active for tab in page.tabs] == [True]
    assert page_of((await do(machine, GO)).after).score == 1
    await machine.prepare(task("words"))
    assert (await machine.screen_texts()).words == ("Reservation", "seats"), "nothing of fields, nothing hidden"


async def test_a_page_that_ended_by_itself_says_so(machine: Machine, do: Do) -> None:
    await machine.prepare(task("ends"))
    assert not (await machine.evaluate()).success
    page = page_of((await do(machine, GO)).after)
    assert (page.done, page.success) == (True, True)
    assert (await machine.evaluate()).success


async def test_a_page_whose_time_ran_out_is_truncated_and_takes_no_act(machine: Machine, do: Do) -> None:
    await machine.prepare(task("timed"))
    start = await machine.snapshot()
    await do(machine, GO)
    late = (await do(machine, Wait(seconds=1))).after
    assert (page_of(late).done, page_of(late).truncated, page_of(late).over) == (False, True, True)
    refused = await do(machine, GO)
    assert refused.error is not None
    assert refused.error.code == "time_over"
    assert refused.after.screenshot == late.screenshot
    assert page_of(refused.after).time_ms == page_of(late).time_ms
    assert not page_of(await machine.restore(start)).truncated
    assert page_of((await do(machine, GO)).after).score == 1


async def test_two_machines_with_one_seed_show_the_same_and_another_seed_another(host: BrowserHost, do: Do) -> None:
    shown = []
    for seed in (5, 5, 6):
        machine = (await host.create("browser")).bind(1)
        await machine.prepare(task("counter").model_copy(update={"seed": seed}))
        shown.append((await do(machine, GO)).after.screenshot)
    assert shown[0] == shown[1] != shown[2]


async def test_the_page_stands_still_between_two_acts(machine: Machine, do: Do) -> None:
    await machine.prepare(task("moving"))
    first = (await do(machine, GO)).after
    assert (await machine.observe()).screenshot == first.screenshot
    assert page_of(await machine.observe(settle=True)).time_ms == page_of(first).time_ms
    second = (await do(machine, GO)).after
    assert page_of(second).time_ms == page_of(first).time_ms + 100
    assert second.screenshot != first.screenshot


async def test_a_wait_is_in_the_pages_time_and_can_be_cut_short(machine: Machine, do: Do) -> None:
    began = page_of(await machine.prepare(task("moving"))).time_ms
    waited = page_of((await do(machine, Wait(seconds=2))).after).time_ms
    assert waited - began == pytest.approx(2000, abs=20)
    waiting = asyncio.create_task(do(machine, Wait(seconds=60)))
    await asyncio.sleep(0)
    while not waiting.done():
        await machine.skip_settle()
        await asyncio.wait({waiting}, timeout=0.01)
    assert page_of((await waiting).after).time_ms - waited < 60_000


async def test_time_goes_by_itself_where_it_is_told_to(machine: Machine) -> None:
    await machine.prepare(task("moving"))
    await machine.set_time_scale(2)
    before = page_of(await machine.observe())
    assert before.pace == 2
    seen = before
    async with asyncio.timeout(60):
        while seen.time_ms < before.time_ms + 500:
            await asyncio.sleep(0.02)
            seen = page_of(await machine.observe())
    await machine.set_time_scale(0)
    still = await machine.observe()
    assert page_of(still).pace == 0
    assert (await machine.observe()).screenshot == still.screenshot


async def test_a_task_may_begin_at_its_own_pace(machine: Machine) -> None:
    assert page_of(await machine.prepare(task("moving", pace=1))).pace == 1
    with pytest.raises(InvalidAction):
        await machine.prepare(task("moving", pace=99))
    with pytest.raises(InvalidAction):
        await machine.prepare(task("moving", clock="sundial"))
    with pytest.raises(UnknownTask):
        await machine.prepare(task("nowhere"))


async def test_typing_is_key_by_key_and_beyond_the_keyboard_as_text(machine: Machine, do: Do) -> None:
    await machine.prepare(task("writing"))
    after = (await do(machine, TypeText(text="aB é中1"))).after
    assert page_of(after).score == 6
    await do(machine, Press(key="ctrl"))
    assert page_of((await do(machine, TypeText(text="x<_X"))).after).score == 10, "typed as if nothing was held"
    await do(machine, Release(key="ctrl"))
    await do(machine, PressKeys(keys=("ctrl", "a")))
    assert page_of((await do(machine, PressKeys(keys=("backspace",)))).after).score == 0


async def test_scrolling_and_dragging_reach_the_page(machine: Machine, do: Do) -> None:
    await machine.prepare(task("long"))
    assert page_of((await do(machine, Scroll(direction="down", amount=3))).after).score == 300
    await machine.prepare(task("dragging"))
    drag = Drag(start=Point(x=230, y=230), end=Point(x=400, y=300))
    assert (page_of((await do(machine, drag)).after).score or 0) >= 4


async def test_keys_are_held_while_the_pointer_acts_and_let_go_after(machine: Machine, do: Do) -> None:
    await machine.prepare(task("pointing"))
    at = Point(x=100, y=100)
    held = await do(machine, MouseClick(point=at, keys=("ctrl", "shift")))
    assert page_of(held.after).score == 2103, "one click of the left button under both keys, and two keys let go"
    twice = await do(machine, MouseClick(button="right", clicks=2))
    assert page_of(twice.after).score == 220, "where the pointer was, without keys"
    turned = await do(machine, ScrollBy(dy=375, keys=("shift",)))
    assert page_of(turned.after).score == 4752
    await machine.prepare(task("dragging"))
    path = DragPath(points=(Point(x=230, y=230), Point(x=400, y=300), Point(x=300, y=330)))
    assert (page_of((await do(machine, path)).after).score or 0) >= 8


async def test_a_gesture_takes_the_time_it_took(machine: Machine, do: Do) -> None:
    began = page_of(await machine.prepare(task("writing"))).time_ms
    inputs = (TimedInput(at_ms=0, input=Press(key="x")), TimedInput(at_ms=400, input=Release(key="x")))
    after = page_of((await do(machine, Gesture(inputs=inputs))).after)
    assert after.score == 1
    assert after.time_ms - began >= 400


async def test_pages_are_gone_to_and_back_and_only_the_first_is_no_news(machine: Machine, do: Do) -> None:
    def news(page: BrowserPage) -> list[str]:
        return [event.text for event in page.events if event.kind == "navigated"]

    assert news(page_of(await machine.prepare(task("counter")))) == []
    assert (await do(machine, NavigateBack())).error is not None
    await do(machine, GO)
    away = await do(machine, Navigate(url="/ends"))
    assert (away.error, away.after.url) == (None, "http://pages.test/ends")
    assert "http://pages.test/ends" in " ".join(news(page_of(away.after)))
    back = await do(machine, NavigateBack())
    assert (back.error, back.after.url) == (None, "http://pages.test/counter")
    assert page_of((await do(machine, GO)).after).score == 1


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "javascript:alert(1)", "view-source:x"])
async def test_what_is_no_address_of_a_page_is_refused(machine: Machine, do: Do, url: str) -> None:
    seen = await machine.prepare(task("counter"))
    done = await do(machine, Navigate(url=url))
    assert done.error is not None
    assert done.error.code == "refused_address"
    assert done.after.screenshot == seen.screenshot


@pytest.mark.timeout(300)
async def test_popups_are_pages_that_can_be_shown_and_closed(machine: Machine, do: Do) -> None:
    await machine.prepare(task("popup"))
    done = await do(machine, GO)
    assert done.error is None
    opened = page_of(done.after)
    assert "popup" in [event.kind for event in opened.events]
    assert len(opened.tabs) == 2
    other = next(tab for tab in opened.tabs if not tab.active)
    shown = (await do(machine, SwitchPage(page=other.id))).after
    assert next(tab.id for tab in page_of(shown).tabs if tab.active) == other.id
    closed = page_of((await do(machine, ClosePage())).after)
    assert len(closed.tabs) == 1
    last = await do(machine, ClosePage())
    assert last.error is not None
    unknown = await do(machine, SwitchPage(page="no-such-page"))
    assert (last.error.code, unknown.error and unknown.error.code) == ("last_page", "no_such_page")


async def test_a_verifier_that_throws_is_nobodys_failure(machine: Machine, do: Do) -> None:
    seen = await machine.prepare(task("throws"))
    assert page_of(seen).score is None
    with pytest.raises(VerifierFailed):
        await machine.evaluate()
    assert (await do(machine, GO)).error is None


async def test_an_observation_says_that_its_verifier_failed(machine: Machine, do: Do) -> None:
    page = page_of(await machine.prepare(task("misjudged")))
    assert (page.score, page.done, page.verifier_error) == (None, False, "the verifier of misjudged threw TypeError")
    assert (await do(machine, GO)).error is None
    with pytest.raises(VerifierFailed):
        await machine.evaluate()


async def test_the_way_back_is_proved_by_every_picture(machine: Machine, do: Do) -> None:
    await machine.prepare(task("moving"))
    kept, seen = [], []
    for action in (GO, Wait(seconds=1), GO, GO):
        kept.append(await machine.snapshot())
        seen.append(await machine.observe())
        await do(machine, action)
    end = await machine.observe()
    for snapshot, before in reversed(list(zip(kept, seen, strict=True))):
        back = await machine.restore(snapshot)
        assert back.screenshot == before.screenshot
        assert page_of(back).time_ms == page_of(before).time_ms
    for action in (GO, Wait(seconds=1), GO, GO):
        await do(machine, action)
    assert (await machine.observe()).screenshot == end.screenshot


async def test_a_state_that_was_left_cannot_be_taken_for_another(machine: Machine, do: Do) -> None:
    await machine.prepare(task("counter"))
    start = await machine.snapshot()
    await do(machine, GO)
    later = await machine.snapshot()
    await machine.restore(start)
    await do(machine, Wait(seconds=1))
    with pytest.raises(CannotRestore):
        await machine.restore(later)


async def test_an_episode_can_go_back_over_time_that_went_by_itself(machine: Machine, do: Do) -> None:
    await machine.prepare(task("moving"))
    await machine.set_time_scale(4)
    await do(machine, GO)
    await machine.set_time_scale(0)
    still, kept = await machine.observe(), await machine.snapshot()
    await do(machine, GO)
    back = await machine.restore(kept)
    assert page_of(back).time_ms == page_of(still).time_ms
    assert back.screenshot == still.screenshot


async def test_a_reset_leaves_nothing_of_the_episode(sandbox: BrowserSandbox, do: Do) -> None:
    machine = sandbox.bind(7)
    await machine.prepare(task("counter"))
    await do(machine, GO)
    await sandbox.reset()
    seen = await sandbox.bind(8).observe()
    assert seen.url == "http://start.test/"


async def test_a_task_that_may_reach_the_network_has_its_site_as_well(sandbox: BrowserSandbox, do: Do) -> None:
    machine = sandbox.bind(7)
    seen = await machine.prepare(task("counter").model_copy(update={"network": ("example.org",)}))
    assert seen.url == "http://pages.test/counter"
    start = await machine.snapshot()
    assert page_of((await do(machine, GO)).after).score == 1
    assert page_of(await machine.restore(start)).score == 0
    await sandbox.reset()
