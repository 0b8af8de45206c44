"""One episode through every container of docker/compose.yaml, over the addresses people and programs use."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch
from uuid import UUID

import httpx
import pytest
from aioice import turn
from aioice.stun import TransactionFailed
from aioice.turn import create_turn_endpoint
from aiortc import MediaStreamTrack, RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from av import VideoFrame
from websockets import Origin
from websockets.asyncio.client import connect

from agent_backend.simulated_annotator.annotator import annotate
from agent_backend.simulated_annotator.web_client import EpisodeConnection, WebAppClient
from annotation_app.client.client import Pilothouse
from annotation_app.client.errors import NotFound
from protocol.actions.types import Action, Finish, PressKeys, TypeText
from protocol.messages.events import LeaveEpisode
from protocol.trajectory.export_folders import TRAJECTORIES
from protocol.trajectory.trajectories import Trajectory
from tests.integration.deploy.stack import HOST, SENDER, Stack, need_stack
from tests.waiting import wait_until
from vm_bridge.machine import ExpertSuggestion

ORIGIN = f"https://{HOST}"
PERSON, PASSWORD = "first", "a-long-word-for-the-first"
TRIES = 8
"""On a busy machine a task's window may not open in its time; then its episode fails, is given back, and one asks for
another."""
TASK = {
    "instruction": "Type the line hello world into the open file hello.txt and save it.",
    "platform": "desktop",
    "suite": "desktop",
    "name": "say_hello",
}
WAY: tuple[Action, ...] = (TypeText(text="hello world"), PressKeys(keys=("ctrl", "s")), Finish())
"""What a person would do, step by step."""
JPEG = b"\xff\xd8\xff"
RUNNER = "SELECT runner FROM episodes_episode WHERE id = '{}'"
"""Which process drives an episode: its host name comes first."""
PICTURE = 32 * 1024
"""As much of the live picture as shows that it is one (bytes)."""
VIDEO_SECONDS = 60.0

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """Running, and trusted by this process."""
    need_stack()
    made = Stack(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.authority))
    try:
        made.start()
        yield made
    finally:
        print(made.log_tails())  # shown where the test fails
        made.stop()


@asynccontextmanager
async def signed_in() -> AsyncIterator[tuple[httpx.AsyncClient, WebAppClient]]:
    """The first person, as a browser has them: the calls of its pages, and the way to desks."""
    trust = ssl.create_default_context()
    async with (
        httpx.AsyncClient(base_url=ORIGIN, timeout=60, headers={"Origin": ORIGIN}, verify=trust) as http,
        WebAppClient(ORIGIN, http=http) as account,
    ):
        await account.sign_in(PERSON, PASSWORD)
        http.headers["X-CSRFToken"] = (await http.get("/api/session")).json()["csrf"]
        yield http, account


async def api_call(http: httpx.AsyncClient, path: str, **what: Any) -> Any:
    """What a page's call is answered."""
    answer = await http.post(path, **what)
    assert answer.is_success, answer.text
    return answer.json()


async def opened(http: httpx.AsyncClient) -> int:
    """A pool with a few tasks alike, in which the scripts of the container `scripted` propose; its number."""
    scripts = {"base_url": "http://scripted:8000/v1", "model": "scripted", "scripted": True, "dialect": "ui_tars_1_5"}
    revision = await api_call(http, "/api/policies", json={"name": "scripted", "revision": "1", **scripts})
    settings = {"name": "Containers", "open_to_all": True, "review_mode": "none"}
    pool = await api_call(http, "/api/pools", json={"settings": settings, "policy": revision["id"]})
    tasks = "".join(json.dumps({**TASK, "id": f"deploy/{seed}", "seed": seed}) + "\n" for seed in range(TRIES))
    report = await api_call(
        http,
        f"/api/pools/{pool['id']}/tasks",
        files={"file": ("tasks.jsonl", tasks.encode())},
        data={"kind": "jsonl"},
    )
    assert report["new"] == TRIES
    return int(pool["id"])


async def ticket(http: httpx.AsyncClient, episode: str, kind: str) -> dict[str, Any]:
    """A ticket for a live picture, and where it is shown."""
    given: dict[str, Any] = await api_call(http, f"/api/episodes/{episode}/tickets", json={"kind": kind})
    return given


async def stills(http: httpx.AsyncClient, episode: str) -> None:
    """The machine is seen as pictures, past the proxy."""
    given, seen = await ticket(http, episode, "stills"), b""
    async with http.stream("GET", given["url"], headers={"Authorization": f"Bearer {given['ticket']}"}) as pictures:
        assert pictures.status_code == 200
        async for part in pictures.aiter_bytes():
            seen += part
            if len(seen) >= PICTURE:
                break
    assert JPEG in seen


async def vnc(http: httpx.AsyncClient, episode: str) -> None:
    """And by VNC; the address has the ticket in itself."""
    given = await ticket(http, episode, "vnc")
    async with connect(given["url"], origin=Origin(ORIGIN), proxy=None, max_size=None) as viewer:
        greeting = await viewer.recv()
    assert isinstance(greeting, bytes)
    assert greeting.startswith(b"RFB 003.008")


@asynccontextmanager
async def viewer(http: httpx.AsyncClient, episode: str) -> AsyncIterator[MediaStreamTrack]:
    """The video of a machine, straight from the bridge's container."""
    given = await ticket(http, episode, "webrtc")
    peer, tracks = RTCPeerConnection(RTCConfiguration(iceServers=[])), asyncio.Queue[MediaStreamTrack]()
    peer.on("track", tracks.put_nowait)
    try:
        peer.addTransceiver("video", direction="recvonly")
        await peer.setLocalDescription(await peer.createOffer())
        offer = {"ticket": given["ticket"], "sdp": peer.localDescription.sdp, "type": "offer"}
        answer = await api_call(http, given["url"], json=offer)
        await peer.setRemoteDescription(RTCSessionDescription(answer["sdp"], answer["type"]))
        yield await tracks.get()
    finally:
        await peer.close()


async def video(http: httpx.AsyncClient, episode: str) -> None:
    """It is seen as video. aiortc gives a picture out when a later one has begun, and a desktop at rest sends none: but
    whoever comes later brings a key frame to all."""
    async with asyncio.timeout(VIDEO_SECONDS), viewer(http, episode) as first, viewer(http, episode):
        frame = await first.recv()
    assert isinstance(frame, VideoFrame)
    assert frame.width > 0


async def relay(http: httpx.AsyncClient, episode: str) -> None:
    """Who cannot have the video so has a pass to the relay, which takes it, and no other; and relays datagrams only."""
    (server,) = (await ticket(http, episode, "webrtc"))["ice_servers"]
    at, name, word = ("127.0.0.1", 3478), server["username"], server["credential"]
    relayed, _ = await create_turn_endpoint(asyncio.DatagramProtocol, at, name, word)
    relayed.close()
    with pytest.raises(TransactionFailed, match="401"):
        await create_turn_endpoint(asyncio.DatagramProtocol, at, name, "another pass")
    with patch.object(turn, "UDP_TRANSPORT", turn.TCP_TRANSPORT), pytest.raises(TransactionFailed, match="442"):
        await create_turn_endpoint(asyncio.DatagramProtocol, at, name, word)


async def start_episode(account: WebAppClient, pool: int) -> str:
    """An episode whose machine stands as its task wants it."""
    for _ in range(TRIES):
        episode = await account.next_episode(pool)
        assert episode is not None
        async with EpisodeConnection(account, episode) as connection:
            await connection.until(lambda: connection.has_control or connection.state.status == "failed")
            if connection.state.status != "failed":
                return episode
            print(connection.state.error)
            await connection.send(
                LeaveEpisode(command_id=f"leave-{episode}", how="broken", reason=connection.state.error)
            )
    raise AssertionError("no machine could be prepared")


async def run_task(stack: Stack) -> str:
    """A task is claimed, watched, and done at its desk, whose web process dies before the second act; the episode's
    name."""
    killed = ""
    async with signed_in() as (http, account):
        pool = await opened(http)
        episode = await start_episode(account, pool)
        async with EpisodeConnection(account, episode) as connection:

            async def ask() -> ExpertSuggestion:
                nonlocal killed
                if connection.state.steps and not killed:
                    runner = await asyncio.to_thread(stack.query, RUNNER.format(episode))
                    killed = runner.split(":")[0]
                    await asyncio.to_thread(stack.kill, killed)
                return ExpertSuggestion(thought="as anybody would", action=WAY[len(connection.state.steps)])

            for seen in (stills, vnc, video, relay):
                await seen(http, episode)
            told = await annotate(connection, ask)
            assert told.ended == "success"
            assert told.shown == 0, "the policy was asked before each act, and answered"
            assert killed in ("web-1", "web-2")
            await connection.until(lambda: connection.state.status == "finished")
            assert connection.state.verdict is not None
            assert connection.state.verdict.success is True
    return episode


def fetched(api: Pilothouse, episode: str) -> Trajectory:
    """An episode that has finished, which programs can have as soon as the beat had the catalogue kept up."""
    found: list[Trajectory] = []

    def look() -> bool:
        with suppress(NotFound):
            found.append(api.trajectory(UUID(episode)))
        return bool(found)

    wait_until(look)
    return found[0]


async def test_an_episode_through_every_container(stack: Stack, tmp_path: Path) -> None:
    """From an empty installation: the first person, a policy, a pool, a task, its desk, the database, an export; and
    then a backup, which another installation is made of."""
    stack.manage(
        "createsuperuser", "--noinput", "--username", PERSON, "--email", "", DJANGO_SUPERUSER_PASSWORD=PASSWORD
    )
    assert stack.run("worker", "printenv", "PILOTHOUSE_EMAIL_FROM").strip() == SENDER
    for each in ("bridge", "vnc"):
        assert stack.run(each, "stat", "--file-system", "--format", "%T", "/tmp").strip() == "tmpfs"
    episode = await run_task(stack)

    token = stack.manage("make_token", PERSON, "test").strip()
    with Pilothouse(ORIGIN, token) as api:
        stored = fetched(api, episode)
        export = api.export_wait(api.export_start({"review": None}).id)
        folder = tmp_path / "export"
        api.export_download(export.id, folder)
    assert stored.task.name == TASK["name"]
    assert [step.action.kind for step in stored.steps] == ["type_text", "press_keys"]
    # The worker wrote what the web app was told, through the folder that both see.
    (exported,) = (folder / TRAJECTORIES).read_text().splitlines()
    assert Trajectory.model_validate_json(exported) == stored
    counted = stack.query(f"SELECT count(*) FROM episodes_step WHERE episode_id = '{episode}'")
    assert counted == str(len(stored.steps))

    # The installation goes, and one made of its backup has the episode, with every picture.
    copy = tmp_path / "backup"
    stack.backup(copy)
    stack.stop()
    stack.restore(copy)
    stack.start()
    checked = json.loads(stack.manage("check_data"))
    assert checked["episodes"] >= 1
    assert checked["files"] >= 1
    with Pilothouse(ORIGIN, token) as api:
        assert api.trajectory(UUID(episode)) == stored
