"""The inside of machines over HTTP, and terminals over a WebSocket: what programs and viewers get, and are refused."""

import asyncio
import json
from base64 import b64decode
from collections.abc import AsyncIterator

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from protocol.actions.types import MAX_FILE, DownloadFile, UploadFile
from protocol.blobs import BlobRef
from tests.integration.bridge.conftest import SECRET, RunningBridge
from tests.waiting import LIMIT
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.machine_client import fencing_headers
from vm_bridge.api.tickets import TicketClaim, mint_ticket
from vm_bridge.errors import InvalidAction, StaleLease
from vm_bridge.machine import Lease, Machine
from vm_bridge.machine_io import FileChange

DATA = bytes(range(256)) * 40_000


@pytest.fixture
async def lease(client: BridgeClient) -> Lease:
    return await client.allocate(image="desktop", holder="tests")


@pytest.fixture
def machine(client: BridgeClient, lease: Lease) -> Machine:
    return client.machine(lease)


@pytest.fixture
async def http(bridge: RunningBridge, lease: Lease) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {SECRET}", **fencing_headers(lease)}
    url = f"{bridge.url}/v1/machines/{lease.machine_id}"
    async with httpx.AsyncClient(base_url=url, headers=headers) as http:
        yield http


def address(bridge: RunningBridge, lease: Lease, *, kind: str = "terminal", fencing_token: int = 0) -> str:
    """A WebSocket's, with a ticket."""
    claim = {"kind": kind, "user": "7", "episode": "e", "machine_id": lease.machine_id}
    token = fencing_token or lease.fencing_token
    ticket = mint_ticket(SECRET, TicketClaim.model_validate({**claim, "fencing_token": token}))
    return f"{bridge.url.replace('http', 'ws')}/streams/terminal?token={ticket}"


async def output(socket: ClientConnection, wanted: bytes) -> bytes:
    """What comes until this has come."""
    seen = b""
    async with asyncio.timeout(LIMIT):
        while wanted not in seen:
            frame = json.loads(await socket.recv())
            assert frame.keys() == {"session", "data", "cols", "rows"}
            seen += b64decode(frame["data"])
    return seen


async def test_files_cross_as_they_are(machine: Machine) -> None:
    await machine.files.write("a b/ü.bin", DATA)
    assert await machine.files.read("a b/ü.bin") == DATA
    assert (await machine.files.stat("a b/ü.bin")).size == len(DATA)
    assert [entry.size for entry in await machine.files.list()] == [len(DATA)]
    await machine.files.delete("a b/ü.bin")
    with pytest.raises(InvalidAction):
        await machine.files.read("a b/ü.bin")


async def test_a_staged_file_is_uploaded_and_brought_back(machine: Machine) -> None:
    ref = await machine.stage_upload(DATA, "image/png")
    assert ref == BlobRef.of(DATA, "image/png")
    await machine.perform("command-0001", UploadFile(path="p.png", blob=ref))
    done = await machine.perform("command-0002", DownloadFile(path="p.png"))
    assert done.after.attachment is not None
    assert await machine.blob(done.after.attachment) == DATA


async def test_a_file_may_not_be_too_large(machine: Machine, http: httpx.AsyncClient) -> None:
    with pytest.raises(InvalidAction):
        await machine.stage_upload(bytes(MAX_FILE + 1), "image/png")
    answer = await http.put("/files/content", params={"path": "x"}, content=bytes(MAX_FILE + 1))
    assert (answer.status_code, answer.json()["code"]) in ((413, "too_large"), (422, "invalid_action"))
    assert await machine.files.list() == ()


async def test_changes_come_as_they_happen(machine: Machine) -> None:
    async with machine.files.watch() as changes:
        await machine.files.write("a", b"1")
        await machine.files.write("a", b"2")
        async with asyncio.timeout(LIMIT):
            told = [await anext(changes), await anext(changes)]
    assert told == [FileChange(name="a", change="created"), FileChange(name="a", change="changed")]


async def test_terminals_are_worked_from_afar(machine: Machine) -> None:
    await machine.terminals.write("main", "ls\n")
    assert await machine.terminals.read("main") == "$ ls\n"
    await machine.terminals.resize("main", columns=80, rows=24)
    assert [(t.name, t.columns, t.rows) for t in await machine.terminals.list()] == [("main", 80, 24)]
    await machine.files.write("notes.txt", b"")
    offered = await machine.terminals.complete("cat no", session="main")
    assert (offered.offered, offered.start, offered.options) == (True, 4, ("notes.txt",))
    async with machine.terminals.watch() as frames, asyncio.timeout(LIMIT):
        assert (await anext(frames)).data == b"$ ls\n"
        await machine.terminals.write("main", "pwd\n")
        assert (await anext(frames)).data == b"pwd\n"
    await machine.terminals.close("main")
    with pytest.raises(InvalidAction):
        await machine.terminals.read("main")


async def test_tools_are_listed(machine: Machine) -> None:
    assert [tool.name for tool in await machine.tools()] == ["fake.echo"]
    assert (await machine.screen_texts()).titles == ("Painted desktop",)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/files/stat"),
        ("GET", "/files/content?path="),
        ("GET", "/terminals/..%2Fmain"),
        ("GET", "/terminals/has space"),
        ("PUT", "/terminals/main/size"),
        ("POST", "/terminals/main/input"),
    ],
)
async def test_calls_that_make_no_sense_are_refused(http: httpx.AsyncClient, method: str, path: str) -> None:
    answer = await http.request(method, path)
    assert (answer.status_code, answer.json()["code"]) in ((422, "invalid"), (404, "not_found"))


async def test_without_the_secret_or_the_lease_nothing_is_reached(bridge: RunningBridge, lease: Lease) -> None:
    url = f"{bridge.url}/v1/machines/{lease.machine_id}/files"
    async with httpx.AsyncClient() as nobody:
        assert (await nobody.get(url, headers=fencing_headers(lease))).status_code == 401
        secret = {"Authorization": f"Bearer {SECRET}"}
        assert (await nobody.get(url, headers=secret)).status_code == 422
        stale = {**secret, "X-Fencing-Token": str(lease.fencing_token + 1)}
        assert (await nobody.get(url, headers=stale)).status_code == 409


async def test_a_released_lease_ends_a_watch(client: BridgeClient, lease: Lease, machine: Machine) -> None:
    await client.release(lease)
    with pytest.raises(StaleLease):
        async with machine.files.watch():
            pass


async def test_a_viewer_sees_the_screen_and_what_comes(bridge: RunningBridge, lease: Lease, machine: Machine) -> None:
    await machine.terminals.write("main", "ls\n")
    async with connect(address(bridge, lease), origin=bridge.url) as socket:  # type: ignore[arg-type]
        assert await output(socket, b"ls") == b"$ ls\n"
        await socket.send("rm -rf /\n")
        await machine.terminals.write("main", "pwd\n")
        assert await output(socket, b"pwd") == b"pwd\n", "what a viewer sends is nobody's"


async def test_viewers_share_a_terminal(bridge: RunningBridge, lease: Lease, machine: Machine) -> None:
    origin = bridge.url
    async with (
        connect(address(bridge, lease), origin=origin) as one,  # type: ignore[arg-type]
        connect(address(bridge, lease), origin=origin) as other,  # type: ignore[arg-type]
    ):
        await machine.terminals.write("main", "hello\n")
        assert b"hello" in await output(one, b"hello")
        assert b"hello" in await output(other, b"hello")


async def test_a_ticket_opens_one_connection(bridge: RunningBridge, lease: Lease) -> None:
    url = address(bridge, lease)
    async with connect(url, origin=bridge.url):  # type: ignore[arg-type]
        pass
    await assert_forbidden(bridge, url)


async def assert_forbidden(bridge: RunningBridge, url: str, origin: str | None = None) -> None:
    with pytest.raises(InvalidStatus) as refusal:
        await connect(url, origin=origin or bridge.url)  # type: ignore[arg-type]
    assert refusal.value.response.status_code == 403


async def test_who_may_not_look_is_refused(bridge: RunningBridge, lease: Lease) -> None:
    await assert_forbidden(bridge, address(bridge, lease), origin="http://elsewhere.example")
    await assert_forbidden(bridge, address(bridge, lease, kind="stills"))
    await assert_forbidden(bridge, address(bridge, lease, fencing_token=lease.fencing_token + 1))
    await assert_forbidden(bridge, f"{bridge.url.replace('http', 'ws')}/streams/terminal?token=forged")
    await assert_forbidden(bridge, f"{bridge.url.replace('http', 'ws')}/streams/terminal")


async def test_viewers_go_when_the_lease_does(
    bridge: RunningBridge, client: BridgeClient, lease: Lease, machine: Machine
) -> None:
    await machine.terminals.write("main", "ls\n")
    async with connect(address(bridge, lease), origin=bridge.url) as socket:  # type: ignore[arg-type]
        await output(socket, b"ls")
        await client.release(lease)
        with pytest.raises(ConnectionClosed):
            async with asyncio.timeout(LIMIT):
                await socket.recv()
