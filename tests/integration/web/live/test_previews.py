"""A machine's web programs from the desk: who gets a ticket, and that its address opens the program."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from annotation_app.web.security_headers import content_security_policy
from tests.integration.network.conftest import answering, port_of
from tests.integration.web.conftest import Stack
from tests.integration.web.live.test_machine_api import ask
from vm_bridge.api.tickets import PREVIEW_PARAMETER

PROGRAM = {"kind": "proxy", "port": 5000, "path": "page?x=1"}


async def request_ticket(stack: Stack, desk: Any, user: Any = None, **body: Any) -> Any:
    return await ask(stack, desk, "post", "tickets", user, data=PROGRAM | body, content_type="application/json")


async def test_the_address_opens_the_program_once(stack: Stack, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"bridge_public_url": stack.bridge_url})
    desk = await stack.deciding()
    program = await answering([], lambda head: b"hello " + head.split()[1], "127.0.0.1")
    for sandbox in stack.host.made:
        sandbox.ports[5000] = port_of(program)
    answer = await request_ticket(stack, desk)
    assert answer.status_code == 200
    async with httpx.AsyncClient(follow_redirects=True, trust_env=False) as browser:
        assert (await browser.get(answer.json()["url"])).text == "hello /page?x=1"
    async with httpx.AsyncClient(follow_redirects=True, trust_env=False) as other:
        assert (await other.get(answer.json()["url"])).status_code == 403
    program.close()


async def test_only_who_steers_an_episode_uses_its_programs(stack: Stack) -> None:
    desk = await stack.deciding()
    assert (await request_ticket(stack, desk, stack.world.ben)).status_code == 404
    assert (await request_ticket(stack, desk, stack.world.rosa)).status_code == 403


@pytest.mark.parametrize("body", [{"port": 0}, {"port": 70_000}, {"path": "a b"}, {"path": "x" * 3000}, {"port": None}])
async def test_what_is_no_port_or_path_is_refused(stack: Stack, body: dict[str, object]) -> None:
    desk = await stack.deciding()
    assert (await request_ticket(stack, desk, **body)).status_code == 422


async def test_programs_may_be_off(stack: Stack, settings: Any) -> None:
    settings.PREVIEWS = False
    desk = await stack.deciding()
    answer = await request_ticket(stack, desk)
    assert (answer.status_code, answer.json()["code"]) == (409, "previews_off")


async def test_a_machine_may_have_an_origin_of_its_own(stack: Stack, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"preview_url": "https://{machine}.preview.example"})
    desk = await stack.deciding()
    url = urlsplit((await request_ticket(stack, desk)).json()["url"])
    machine_id = url.hostname.removesuffix(".preview.example") if url.hostname else ""
    assert url.path == f"/sandboxes/{machine_id}/enter/5000/page"
    assert set(parse_qs(url.query)) == {"x", PREVIEW_PARAMETER}
    assert machine_id in {made.id for made in stack.host.made}
    assert "frame-src https://*.preview.example;" in content_security_policy("web.example")
