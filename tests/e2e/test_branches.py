"""An admin has a task begun again where the policy was overridden: the machine is brought there, the desk says so."""

from itertools import count

import pytest
from playwright.async_api import expect

from tests.e2e.conftest import SignIn
from tests.e2e.desk import BOUND_MS, Desk
from vocabulary.actions import TypeText

pytestmark = pytest.mark.slow


async def test_an_attempt_begins_where_the_policy_was_overridden(sign_in: SignIn, drill_numbers: "count[int]") -> None:
    pool = f"Drill {next(drill_numbers)}"
    desk = Desk(await sign_in("annotator"))
    await desk.take(pool)
    before = await desk.step()
    await desk.accept(desk.cards.first)
    await desk.stepped(before)
    await desk.override(TypeText(text="hello there"), "The greeting is another.")
    await desk.stepped(before + 1)
    first, task = desk.episode, (await desk.state()).task.id
    reached = (await desk.steps())[0].after
    await desk.finish(success=False)
    await expect(desk.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)

    admin = await sign_in("admin", "/policies")
    await admin.get_by_role("button", name=f"Needed in {pool}", exact=True).click(timeout=BOUND_MS)
    begin = admin.get_by_role("dialog").get_by_role("button", name="begun before step 2")
    await begin.click(timeout=BOUND_MS)
    await expect(begin).to_have_count(0, timeout=BOUND_MS)

    await desk.take(pool)
    state = await desk.state()
    assert state.task.id == task, "it is the pool's first"
    assert state.branch_of is not None
    assert (state.branch_of.episode, state.branch_of.steps) == (first, 1)
    assert (state.branch_of.state, state.branch_of.reason) == ("reached", "")
    (again,) = state.steps
    assert (again.decision, again.policy) == ("again", None)
    assert again.after is not None
    assert reached is not None
    assert (again.after.width, again.after.text) == (reached.width, reached.text)
    await expect(desk.banners.get_by_text("This begins where an earlier attempt was: after 1 step.")).to_be_visible(
        timeout=BOUND_MS
    )
    await desk.leave()
