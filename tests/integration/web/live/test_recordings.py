"""An episode's video: recorded at the bridge, stored when the episode ends, served in ranges with its steps."""

import asyncio
from io import BytesIO
from typing import Any
from uuid import uuid4

import av
import pytest

from annotation_app.episodes.models import Episode
from annotation_app.live.recordings import recordings_collect
from annotation_app.live.store import run_in_db_thread
from annotation_app.recordings.models import Recording, RecordingState
from annotation_app.recordings.services import recording_mark_lost
from annotation_app.tasks.models import Pool
from tests.integration.web.conftest import BOUND, SECRET, EpisodeSocket, Stack
from vm_bridge.api.client import BridgeClient


def record_all() -> None:
    Pool.objects.update(record=True)


async def act(desk: EpisodeSocket, **action: Any) -> None:
    command = {"type": "act", "command_id": uuid4().hex, "action": action, "thought": "So it is done."}
    await desk.send(**command)
    await desk.until(type="step.added")


async def finish(desk: EpisodeSocket) -> None:
    await desk.send(type="finish", command_id=uuid4().hex, outcome="success", answer="", reason="")
    await desk.until(type="episode.changed", status="finished")


async def recorded(stack: Stack, key: str) -> None:
    """Wait until the files of a recording are whole at its bridge."""
    async with BridgeClient(stack.bridge_url, SECRET) as bridge, asyncio.timeout(BOUND):
        running = True
        while running:
            running = (await bridge.recording(stack.bridge_url, key)).running
            await asyncio.sleep(0.05)


async def collected() -> None:
    """Wait until a recording was stored."""
    async with asyncio.timeout(BOUND):
        while True:
            if await recordings_collect():
                return
            await asyncio.sleep(0.05)


async def get(stack: Stack, desk: EpisodeSocket, path: str, **headers: str) -> Any:
    client = stack.world.client
    url = f"/api/episodes/{desk.episode_id}/{path}"
    return await run_in_db_thread(lambda: client(stack.world.ada).get(url, headers=headers))


@pytest.fixture
async def desk(stack: Stack) -> EpisodeSocket:
    """A desk in a pool that records."""
    await run_in_db_thread(record_all)
    return await stack.deciding()


async def test_the_video_of_a_finished_episode_shows_its_steps(stack: Stack, desk: EpisodeSocket) -> None:
    await act(desk, kind="type_text", text="one")
    await act(desk, kind="click", x=50, y=60)
    before = (await get(stack, desk, "recording")).json()
    assert before == {"pending": True, "parts": []}
    await finish(desk)
    await collected()
    after = (await get(stack, desk, "recording")).json()
    assert after["pending"] is False
    (part,) = after["parts"]
    assert [mark["index"] for mark in part["steps"]] == [0, 1]
    assert all(0 <= mark["begins"] <= mark["ends"] <= part["seconds"] for mark in part["steps"])

    video = await get(stack, desk, f"blobs/{part['sha256']}")
    assert (video.status_code, video["Content-Type"]) == (200, "video/mp4")
    with av.open(BytesIO(video.content), "r") as file:
        assert (file.duration or 0) / 1e6 == pytest.approx(part["seconds"], abs=0.1)
        assert next((frame.width, frame.height) for frame in file.decode(video=0)) == (1280, 720)

    track = (await get(stack, desk, "recording/0.vtt")).content.decode()
    assert track.startswith("WEBVTT\n\n1\n00:00:")
    assert "type_text So it is done." in track
    assert (await get(stack, desk, "recording/1.vtt")).status_code == 404


async def test_a_player_gets_the_range_it_asks_for(stack: Stack, desk: EpisodeSocket) -> None:
    await finish(desk)
    await collected()
    (part,) = (await get(stack, desk, "recording")).json()["parts"]
    path = f"blobs/{part['sha256']}"
    whole = (await get(stack, desk, path)).content
    size = len(whole)
    for asked, first, last in (("0-9", 0, 9), (f"{size - 5}-", size - 5, size - 1), ("-7", size - 7, size - 1)):
        answer = await get(stack, desk, path, Range=f"bytes={asked}")
        assert (answer.status_code, answer["Content-Range"]) == (206, f"bytes {first}-{last}/{size}")
        assert answer.content == whole[first : last + 1]
    beyond = await get(stack, desk, path, Range=f"bytes={size}-")
    assert beyond.status_code == 416


async def test_who_may_not_see_the_episode_does_not_see_its_video(stack: Stack, desk: EpisodeSocket) -> None:
    url = f"/api/episodes/{desk.episode_id}/recording"
    other = await run_in_db_thread(lambda: stack.world.client(stack.world.ben).get(url))
    assert other.status_code == 404


async def test_a_recording_that_its_bridge_lost_is_not_waited_for(stack: Stack, desk: EpisodeSocket) -> None:
    key = await run_in_db_thread(lambda: Recording.objects.get(episode_id=desk.episode_id).key)
    await finish(desk)
    await recorded(stack, key)
    async with BridgeClient(stack.bridge_url, SECRET) as bridge:
        await bridge.delete_recording(stack.bridge_url, key)
    assert await recordings_collect() == 0
    assert await run_in_db_thread(lambda: Recording.objects.get(key=key).state) == RecordingState.LOST
    assert (await get(stack, desk, "recording")).json() == {"pending": False, "parts": []}


async def test_a_worker_that_comes_late_loses_nothing(stack: Stack, desk: EpisodeSocket) -> None:
    key = await run_in_db_thread(lambda: Recording.objects.get(episode_id=desk.episode_id).key)
    await finish(desk)
    await collected()
    await run_in_db_thread(recording_mark_lost, key=key)
    assert len((await get(stack, desk, "recording")).json()["parts"]) == 1
    assert await run_in_db_thread(lambda: Recording.objects.get(key=key).state) == RecordingState.STORED


async def test_a_paused_episode_goes_on_in_its_video(stack: Stack, desk: EpisodeSocket) -> None:
    await act(desk, kind="type_text", text="one")
    await desk.send(type="pause", command_id=uuid4().hex, on=True)
    await desk.until(type="episode.changed", status="paused")
    await desk.close()
    again = await stack.desk(await run_in_db_thread(lambda: Episode.objects.get(pk=desk.episode_id)))
    await again.until(type="snapshot")
    await again.send(type="pause", command_id=uuid4().hex, on=False)
    await again.until(type="episode.changed", status="running")
    await act(again, kind="click", x=50, y=60)
    await finish(again)
    await collected()
    (part,) = (await get(stack, again, "recording")).json()["parts"]
    assert [mark["index"] for mark in part["steps"]] == [0, 1]


async def test_nothing_is_recorded_where_the_pool_does_not_ask_for_it(stack: Stack) -> None:
    desk = await stack.deciding()
    await finish(desk)
    assert (await get(stack, desk, "recording")).json() == {"pending": False, "parts": []}
