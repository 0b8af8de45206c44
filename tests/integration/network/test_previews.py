"""Web programs of a machine through a bridge: who gets in, what passes, and when it ends."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
import pytest
import uvicorn
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Close
from websockets.typing import Origin, Subprotocol

from tests.integration.bridge.conftest import (
    SECRET,
    RunningBridge,
    bridge,
    bridge_redis,
    bridge_settings,
    client,
    fake_host,
    lease_guard,
    private_redis,
    redis,
)
from tests.integration.network.web_program import Program
from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.tickets import (
    PREVIEW_PARAMETER,
    StreamKind,
    TicketClaim,
    mint_ticket,
    preview_entry_path,
    preview_path,
)
from vm_bridge.leases import LeaseGuard
from vm_bridge.machine import Lease
from vm_bridge.network.previews.proxy import PreviewProxy
from vm_bridge.network.previews.sessions import PreviewSessions
from vm_bridge.simulators.fake.sandbox import FakeHost

__all__ = ["bridge", "bridge_redis", "bridge_settings", "client", "fake_host", "lease_guard", "private_redis", "redis"]
PORT = 5000


@dataclass
class Visitor:
    """A browser with a lease to look at."""

    http: httpx.AsyncClient
    bridge: str
    lease: Lease

    @property
    def base(self) -> str:
        """The path of the program."""
        return f"{preview_path(self.lease.machine_id)}/{PORT}"

    @property
    def entrance(self) -> str:
        """The path at which a ticket to the program is exchanged."""
        return f"{preview_entry_path(self.lease.machine_id)}/{PORT}"

    def ticket(self, kind: StreamKind = "proxy", machine_id: str = "", token: int = 0) -> str:
        claim = TicketClaim(
            kind=kind,
            user="ada",
            episode="e",
            machine_id=machine_id or self.lease.machine_id,
            fencing_token=token or self.lease.fencing_token,
        )
        return mint_ticket(SECRET, claim)

    async def enter(self) -> httpx.Response:
        return await self.http.get(f"{self.entrance}/", params={PREVIEW_PARAMETER: self.ticket()})

    async def get(self, path: str) -> httpx.Response:
        return await self.http.get(f"{self.base}{path}")

    @property
    def cookies(self) -> str:
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.http.cookies.jar)

    def socket(self, path: str, *, origin: str = "", subprotocols: tuple[str, ...] = ()) -> connect:
        return connect(
            f"{self.bridge.replace('http', 'ws', 1)}{self.base}{path}",
            origin=Origin(origin or self.bridge),
            additional_headers={"Cookie": f"sessionid=secret; {self.cookies}"},
            subprotocols=[Subprotocol(name) for name in subprotocols] or None,
            proxy=None,
        )


@pytest.fixture
async def program() -> AsyncIterator[Program]:
    program = Program()
    config = uvicorn.Config(
        program.app, port=0, ws="websockets-sansio", log_config=None, timeout_graceful_shutdown=1, access_log=False
    )
    server = uvicorn.Server(config)
    listener = config.bind_socket()
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await eventually(lambda: server.started)
    program.port = listener.getsockname()[1]
    yield program
    server.should_exit = True
    await serving
    listener.close()


@pytest.fixture
async def lease(client: BridgeClient, fake_host: FakeHost, program: Program) -> Lease:
    lease = await client.allocate(image="desktop", holder="tests")
    (sandbox,) = (made for made in fake_host.made if made.id == lease.machine_id)
    sandbox.ports[PORT] = program.port
    return lease


@pytest.fixture
async def visitor(bridge: RunningBridge, lease: Lease) -> AsyncIterator[Visitor]:
    async with httpx.AsyncClient(base_url=bridge.url, trust_env=False) as http:
        yield Visitor(http, bridge.url, lease)


@pytest.fixture
async def inside(visitor: Visitor) -> Visitor:
    """One that has its pass."""
    assert (await visitor.enter()).status_code == 303
    return visitor


async def test_a_ticket_becomes_a_cookie_for_this_machine_only(visitor: Visitor) -> None:
    answer = await visitor.http.get(f"{visitor.entrance}/a%20b?x=1%202&{PREVIEW_PARAMETER}={visitor.ticket()}&y=")
    assert answer.status_code == 303
    assert answer.headers["location"] == f"{visitor.base}/a%20b?x=1%202&y="
    assert answer.headers["referrer-policy"] == "no-referrer"
    cookie, _lease = answer.headers.get_list("set-cookie")
    assert f"Path={preview_path(visitor.lease.machine_id)}/;" in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert (await visitor.get("/")).text.count("Hello from inside") == 1


async def test_what_programs_of_another_lease_stored_is_deleted(inside: Visitor, client: BridgeClient) -> None:
    again = await inside.enter()
    assert again.status_code == 303
    assert "clear-site-data" not in again.headers, "it is the same lease"
    await client.release(inside.lease)
    inside.lease = await client.allocate(image="desktop", holder="tests")
    first = await inside.enter()
    assert first.headers["clear-site-data"] == '"cache", "storage"'


async def test_nothing_is_exchanged_where_programs_are(visitor: Visitor) -> None:
    answer = await visitor.http.get(f"{visitor.base}/", params={PREVIEW_PARAMETER: visitor.ticket()})
    assert (answer.status_code, answer.headers["x-pilothouse-refusal"]) == (403, "ticket_refused")
    assert (await visitor.http.get(f"{visitor.entrance}/")).status_code == 403


async def test_without_a_pass_nothing_is_shown(visitor: Visitor) -> None:
    answer = await visitor.get("/")
    assert (answer.status_code, answer.headers["x-pilothouse-refusal"]) == (403, "ticket_refused")


async def test_an_address_that_speaks_of_tickets_is_no_exchange(inside: Visitor) -> None:
    told = (await inside.get(f"/echo/?q={PREVIEW_PARAMETER}&not-{PREVIEW_PARAMETER}=1")).json()
    assert told["query"] == f"q={PREVIEW_PARAMETER}&not-{PREVIEW_PARAMETER}=1"


async def test_a_ticket_works_once(visitor: Visitor) -> None:
    params = {PREVIEW_PARAMETER: visitor.ticket()}
    assert (await visitor.http.get(f"{visitor.entrance}/", params=params)).status_code == 303
    assert (await visitor.http.get(f"{visitor.entrance}/", params=params)).status_code == 403


@pytest.mark.parametrize("kind", ["webrtc", "vnc", "stills", "terminal"])
async def test_a_ticket_for_a_picture_is_none_for_programs(visitor: Visitor, kind: StreamKind) -> None:
    params = {PREVIEW_PARAMETER: visitor.ticket(kind)}
    assert (await visitor.http.get(f"{visitor.entrance}/", params=params)).status_code == 403


async def test_a_ticket_or_pass_of_another_machine_or_lease_is_none(visitor: Visitor, client: BridgeClient) -> None:
    other = await client.allocate(image="desktop", holder="others")
    for ticket in (visitor.ticket(machine_id=other.machine_id), visitor.ticket(token=visitor.lease.fencing_token + 9)):
        answer = await visitor.http.get(f"{visitor.entrance}/", params={PREVIEW_PARAMETER: ticket})
        assert answer.status_code == 403
    await visitor.enter()
    foreign = f"{preview_path(other.machine_id)}/{PORT}/"
    assert (await visitor.http.get(foreign, headers={"Cookie": visitor.cookies})).status_code == 403


async def test_a_ticket_is_no_pass_and_a_pass_is_no_ticket(visitor: Visitor) -> None:
    forged = {"Cookie": f"pilothouse-preview={visitor.ticket()}"}
    assert (await visitor.http.get(f"{visitor.base}/", headers=forged)).status_code == 403
    await visitor.enter()
    held = visitor.http.cookies["pilothouse-preview"]
    answer = await visitor.http.get(f"{visitor.entrance}/", params={PREVIEW_PARAMETER: held})
    assert answer.status_code == 403


async def test_a_pass_ends_with_its_lease(inside: Visitor, client: BridgeClient) -> None:
    assert (await inside.get("/")).status_code == 200
    await client.release(inside.lease)
    assert (await inside.get("/")).status_code == 403


async def test_what_is_asked_passes_as_it_was_asked(inside: Visitor) -> None:
    body = b"x" * 3_000_000
    answer = await inside.http.post(
        f"{inside.base}/echo/a%2Fb?q=%20&q=2",
        content=body,
        headers={"Authorization": "Bearer secret", "Cookie": f"{inside.cookies}; sessionid=secret", "X-Own": "1"},
    )
    told = answer.json()
    assert (told["method"], told["raw"], told["query"], told["size"]) == ("POST", "/echo/a%2Fb", "q=%20&q=2", len(body))
    assert told["headers"]["host"] == f"127.0.0.1:{PORT}"
    assert told["headers"]["x-own"] == "1"
    assert told["headers"]["x-forwarded-prefix"] == inside.base
    assert "secret" not in answer.text
    assert "pilothouse" not in json.dumps({**told["headers"], "x-forwarded-prefix": ""})


async def test_a_body_without_a_length_passes_in_chunks(inside: Visitor) -> None:
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(5):
            yield b"x" * 1000

    told = (await inside.http.put(f"{inside.base}/echo/", content=parts())).json()
    assert told["size"] == 5000


@pytest.mark.parametrize("method", ["HEAD", "DELETE"])
async def test_other_methods_pass(inside: Visitor, method: str) -> None:
    answer = await inside.http.request(method, f"{inside.base}/echo/")
    assert answer.status_code == 200
    assert method == "HEAD" or answer.json()["method"] == method


async def test_an_answer_streams_and_ends_when_its_reader_goes(inside: Visitor, program: Program) -> None:
    async with inside.http.stream("GET", f"{inside.base}/stream") as answer:
        lines = answer.aiter_lines()
        for number in range(3):
            program.step.release()
            assert await anext(lines) == f"part {number}"
    program.step.release()
    await eventually(program.left.is_set)


async def test_redirects_stay_below_the_path(inside: Visitor) -> None:
    answer = await inside.get("/redirect")
    assert answer.headers["location"] == f"{inside.base}/echo/there"
    bare = await inside.http.get(inside.base)
    assert (bare.status_code, bare.headers["location"]) == (303, f"{inside.base}/")


async def test_a_programs_cookie_comes_back_to_it_and_to_nobody_else(inside: Visitor) -> None:
    before = inside.http.cookies["pilothouse-preview"]
    answer = await inside.get("/cookie")
    (cookie,) = answer.headers.get_list("set-cookie")
    assert cookie == f"own=1; Path={inside.base}/; SameSite=Lax"
    assert inside.http.cookies["pilothouse-preview"] == before
    told = (await inside.get("/echo/")).json()
    assert told["headers"]["cookie"] == "own=1"


async def test_only_the_web_apps_pages_may_frame_a_program(inside: Visitor) -> None:
    answer = await inside.get("/")
    assert answer.headers["content-security-policy"] == f"frame-ancestors 'self' {inside.bridge}"


async def test_a_page_of_another_origin_changes_nothing(inside: Visitor) -> None:
    evil = {"Origin": "http://evil.example"}
    assert (await inside.http.post(f"{inside.base}/echo/", headers=evil)).status_code == 403
    assert (await inside.http.post(f"{inside.base}/echo/", headers={"Origin": inside.bridge})).status_code == 200
    with pytest.raises(InvalidStatus):
        await inside.socket("/socket", origin="http://evil.example")


async def test_a_port_where_nothing_listens_and_one_that_is_the_guests_own(inside: Visitor) -> None:
    root = preview_path(inside.lease.machine_id)
    for port, status, code in (
        (5001, 502, "nothing_listens"),
        (3128, 403, "port_forbidden"),
        (0, 403, "port_forbidden"),
    ):
        answer = await inside.http.get(f"{root}/{port}/")
        assert (answer.status_code, answer.headers["x-pilothouse-refusal"]) == (status, code)
    assert (await inside.http.get(f"{root}/99999/")).status_code == 403
    assert (await inside.http.get(f"{root}/x/")).status_code == 404


async def test_a_websocket_carries_text_bytes_subprotocol_and_close_both_ways(
    inside: Visitor, program: Program
) -> None:
    async with inside.socket("/socket", subprotocols=("first", "second")) as socket:
        assert socket.subprotocol == "second"
        await socket.send("hello")
        assert await socket.recv() == "heard hello"
        await socket.send(b"\0\1\2")
        assert await socket.recv() == b"\2\1\0"
        await socket.send("x" * 1_000_000)
        assert len(await socket.recv()) == 1_000_006
        await socket.send("headers")
        told = json.loads(await socket.recv())
        assert (told["host"], told["origin"]) == (f"127.0.0.1:{PORT}", f"http://127.0.0.1:{PORT}")
        assert "secret" not in str(told)
        await socket.send("bye")
        with pytest.raises(ConnectionClosed) as closed:
            await socket.recv()
    assert closed.value.rcvd == Close(4001, "as asked")
    async with inside.socket("/socket") as socket:
        await socket.close(4002)
    await eventually(lambda: not program.closed.empty())
    codes = {program.closed.get_nowait() for _ in range(program.closed.qsize())}
    assert 4002 in codes


async def test_a_websocket_a_program_does_not_take_is_refused(inside: Visitor) -> None:
    for path in ("/refused", "/nowhere"):
        with pytest.raises(InvalidStatus):
            await inside.socket(path)


async def test_a_websocket_ends_with_the_lease(inside: Visitor, client: BridgeClient) -> None:
    async with inside.socket("/socket") as socket:
        await client.release(inside.lease)
        with pytest.raises(ConnectionClosed) as closed:
            await asyncio.wait_for(socket.recv(), 15)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1001


async def test_machines_with_names_of_their_own_are_shown_under_these_alone(
    visitor: Visitor, lease_guard: LeaseGuard, fake_host: FakeHost
) -> None:
    (sandbox,) = (made for made in fake_host.made if made.id == visitor.lease.machine_id)
    previews = PreviewProxy(
        Program().app,
        sessions=PreviewSessions((SECRET,), lease_guard),
        sandbox_of=lambda _: sandbox,
        frame_ancestors=(),
        origin="https://{machine}.preview.example",
    )
    own = f"http://{sandbox.id}.preview.example"
    for name, status in (("http://preview.example", 403), (f"http://x{sandbox.id}.preview.example", 403), (own, 303)):
        async with httpx.AsyncClient(transport=httpx.ASGITransport(previews), base_url=name) as browser:
            answer = await browser.get(f"{visitor.entrance}/", params={PREVIEW_PARAMETER: visitor.ticket()})
            assert answer.status_code == status, name
    assert "Secure; SameSite=None; Partitioned" in answer.headers["set-cookie"]


async def test_everything_else_is_the_bridges(visitor: Visitor) -> None:
    assert (await visitor.http.get("/healthz")).json() == {"ok": True}
    assert (await visitor.http.get("/sandboxes/")).status_code == 404
    assert (await visitor.http.get("/sandboxes/..%2f/proxy/80/")).status_code == 404
