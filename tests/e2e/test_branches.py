"""An admin has a task begun again where the policy was overridden: the machine is brought there, the desk says so."""

from itertools import count

import pytest
from playwright.async_api import expect

from protocol.actions.types import TypeText
from tests.e2e.conftest import SignIn
from tests.e2e.episode_page import BOUND_MS, EpisodePage

pytestmark = pytest.mark.slow


async def test_an_attempt_begins_where_the_policy_was_overridden(sign_in: SignIn, drill_numbers: "count[int]") -> None:
    pool = f"Drill {next(drill_numbers)}"
    episode_page = EpisodePage(await sign_in("annotator"))
    await episode_page.take(pool)
    before = await episode_page.step()
    await episode_page.accept(episode_page.cards.first)
    await episode_page.stepped(before)
    await episode_page.override(TypeText(text="hello there"), "The greeting is another.")
    await episode_page.stepped(before + 1)
    first, task = episode_page.episode, (await episode_page.state()).task.id
    reached = (await episode_page.steps())[0].after
    await episode_page.finish(success=False)
    await expect(episode_page.ended.get_by_text("Task finished")).to_be_visible(timeout=BOUND_MS)

    admin = await sign_in("admin", "/policies")
    await admin.get_by_role("button", name=f"Needed in {pool}", exact=True).click(timeout=BOUND_MS)
    begin = admin.get_by_role("dialog").get_by_role("button", name="begun before step 2")
    await begin.click(timeout=BOUND_MS)
    await expect(begin).to_have_count(0, timeout=BOUND_MS)

    await episode_page.take(pool)
    state = await episode_page.state()
    assert state.task.id == task, "it is the pool's first"
    assert state.branch_of is not None
    assert (state.branch_of.episode, state.branch_of.steps) == (first, 1)
    assert (state.branch_of.state, state.branch_of.reason) == ("reached", "")
    (again,) = state.steps
    assert (again.decision, again.policy) == ("again", None)
    assert again.after is not None
    assert reached is not None
    assert (again.after.width, again.after.text) == (reached.width, reached.text)
    await expect(
        episode_page.banners.get_by_text("This begins where an earlier attempt was: after 1 step.")
    ).to_be_visible(timeout=BOUND_MS)
    await episode_page.leave()
