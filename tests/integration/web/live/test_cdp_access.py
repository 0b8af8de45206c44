"""A program of one's own at the browser of an episode: who gets a ticket, for what, and where it leads."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

from annotation_app.live.store import run_in_db_thread
from annotation_app.tasks.models import Pool
from tests.integration.web.conftest import HOST_ID, SECRET, Stack
from tests.integration.web.live.test_machine_api import ask
from vm_bridge.api.tickets import verify_ticket
from vm_bridge.host_keys import derive_key
from vm_bridge.network.cdp_proxy import CdpLog

KEYS = (derive_key(SECRET, HOST_ID),)


async def request_ticket(stack: Stack, desk: Any, user: Any = None) -> Any:
    return await ask(stack, desk, "post", "tickets", user, data={"kind": "cdp"}, content_type="application/json")


async def test_who_does_an_episode_gets_a_ticket_for_its_browser(stack: Stack) -> None:
    await run_in_db_thread(Pool.objects.update, image="browser")
    desk = await stack.deciding()
    answer = await request_ticket(stack, desk)
    assert answer.status_code == 200
    told = answer.json()
    claim = verify_ticket(KEYS, told["ticket"], "cdp").claim
    assert (claim.user, claim.episode) == ("ada", str(desk.episode_id))
    assert claim.machine_id in {made.id for made in stack.host.made}
    url = urlsplit(told["url"])
    assert (url.scheme, url.path, parse_qs(url.query)) == ("ws", "/streams/cdp", {"token": [told["ticket"]]})
    assert (
        verify_ticket(KEYS, (await request_ticket(stack, desk)).json()["ticket"], "cdp").nonce
        != verify_ticket(KEYS, told["ticket"], "cdp").nonce
    ), "each is used once"
    assert (await request_ticket(stack, desk, stack.world.ben)).status_code == 404
    assert (await request_ticket(stack, desk, stack.world.rosa)).status_code == 403


async def test_a_machine_that_is_no_browser_has_no_such_ticket(stack: Stack) -> None:
    desk = await stack.deciding()
    answer = await request_ticket(stack, desk)
    assert (answer.status_code, answer.json()["code"]) == (409, "no_browser")


async def test_what_programs_sent_is_read_page_by_page_by_who_sees_the_episode(stack: Stack, data: Path) -> None:
    desk = await stack.deciding()
    assert (await ask(stack, desk, "get", "programs")).json() == {"messages": [], "total": 0}
    log = CdpLog(data / "cdp" / f"{desk.episode_id}.jsonl")
    for number in range(120):
        log.note(float(number), f"message {number}", refused=number == 119)
    first = (await ask(stack, desk, "get", "programs")).json()
    assert (len(first["messages"]), first["total"]) == (100, 120)
    rest = (await ask(stack, desk, "get", "programs?after=100", stack.world.rosa)).json()
    assert [message["message"] for message in rest["messages"]] == [f"message {n}" for n in range(100, 120)]
    assert rest["messages"][-1]["refused"]
    assert (await ask(stack, desk, "get", "programs", stack.world.ben)).status_code == 404
    assert (await ask(stack, desk, "get", "programs?after=-1")).status_code == 422
    await desk.send(type="finish", command_id=uuid4().hex, outcome="success", answer="", reason="")
    await desk.until(type="episode.changed", status="finished")
    assert (await ask(stack, desk, "get", "programs")).json()["total"] == 120, "the record outlives the machine"
