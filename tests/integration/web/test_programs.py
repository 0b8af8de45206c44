"""A program of one's own at the browser of an episode: who gets a ticket, for what, and where it leads."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

from annotation_app.live.threads import in_database
from annotation_app.tasks.models import Pool
from tests.integration.web.conftest import SECRET, Stack
from tests.integration.web.test_inside import ask
from vm_bridge.tickets import verify


async def wanted(stack: Stack, desk: Any, user: Any = None) -> Any:
    return await ask(stack, desk, "post", "tickets", user, data={"kind": "cdp"}, content_type="application/json")


async def test_who_does_an_episode_gets_a_ticket_for_its_browser(stack: Stack) -> None:
    await in_database(Pool.objects.update, image="browser")
    desk = await stack.deciding()
    answer = await wanted(stack, desk)
    assert answer.status_code == 200
    told = answer.json()
    claim = verify(SECRET, told["ticket"], "cdp").claim
    assert (claim.user, claim.episode) == ("ada", str(desk.episode_id))
    assert claim.machine_id in {made.id for made in stack.host.made}
    url = urlsplit(told["url"])
    assert (url.scheme, url.path, parse_qs(url.query)) == ("ws", "/streams/cdp", {"token": [told["ticket"]]})
    assert (
        verify(SECRET, (await wanted(stack, desk)).json()["ticket"], "cdp").nonce
        != verify(SECRET, told["ticket"], "cdp").nonce
    ), "each is used once"
    assert (await wanted(stack, desk, stack.world.ben)).status_code == 404
    assert (await wanted(stack, desk, stack.world.rosa)).status_code == 403


async def test_a_machine_that_is_no_browser_has_no_such_ticket(stack: Stack) -> None:
    desk = await stack.deciding()
    answer = await wanted(stack, desk)
    assert (answer.status_code, answer.json()["code"]) == (409, "no_browser")
