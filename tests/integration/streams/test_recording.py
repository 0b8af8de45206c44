"""Recordings through the client: begun under a lease, ended with it, fetched by whoever knows the secret."""

import asyncio
from collections.abc import Callable
from io import BytesIO

import av
import httpx
import pytest

from tests.integration.bridge.conftest import RunningBridge
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.wire import Recording
from vm_bridge.errors import StaleLease, UnknownRecording
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.sandbox import FakeHost

BOUND = 15.0


async def recording_when(
    client: BridgeClient, bridge: RunningBridge, key: str, true: Callable[[Recording], object]
) -> Recording:
    """The recording, once that is true of it."""
    async with asyncio.timeout(BOUND):
        while True:
            recording = await client.recording(bridge.url, key)
            if true(recording):
                return recording
            await asyncio.sleep(0.05)


async def ended(client: BridgeClient, bridge: RunningBridge, key: str) -> Recording:
    """The recording, once it has ended."""
    return await recording_when(client, bridge, key, lambda recording: not recording.running)


async def test_the_end_of_the_lease_ends_the_recording(
    bridge: RunningBridge, client: BridgeClient, lease: Lease, fake_host: FakeHost
) -> None:
    begun = await client.start_recording(lease)
    assert (begun.running, begun.machine_id) == (True, lease.machine_id)
    assert (await client.start_recording(lease)).id == begun.id
    await recording_when(client, bridge, begun.id, lambda recording: recording.parts)
    await client.release(lease)
    recording = await ended(client, bridge, begun.id)
    (part,) = recording.parts
    data = await client.get_recording_part(bridge.url, begun.id, part.number)
    assert len(data) == part.size
    with av.open(BytesIO(data), "r") as file:
        assert next((frame.width, frame.height) for frame in file.decode(video=0)) == (1280, 720)
    await client.delete_recording(bridge.url, begun.id)
    with pytest.raises(UnknownRecording):
        await client.recording(bridge.url, begun.id)


async def test_it_can_be_stopped_before_and_that_is_idempotent(client: BridgeClient, lease: Lease) -> None:
    begun = await client.start_recording(lease)
    stopped = await client.stop_recording(lease)
    assert stopped is not None
    assert (stopped.id, stopped.running) == (begun.id, False)
    assert await client.stop_recording(lease) is None


async def test_only_the_holder_records(client: BridgeClient, lease: Lease) -> None:
    await client.release(lease)
    with pytest.raises(StaleLease):
        await client.start_recording(lease)


@pytest.mark.parametrize("path", ["v1/recordings/{key}", "v1/recordings/{key}/parts/0"])
async def test_a_stranger_sees_nothing(bridge: RunningBridge, client: BridgeClient, lease: Lease, path: str) -> None:
    key = (await client.start_recording(lease)).id
    async with httpx.AsyncClient(base_url=bridge.url) as stranger:
        answer = await stranger.get(path.format(key=key))
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")


@pytest.mark.parametrize("key", ["..", "0" * 16, "recording.json", "%2e%2e"])
async def test_a_key_that_is_none_finds_nothing(bridge: RunningBridge, client: BridgeClient, key: str) -> None:
    url = f"{bridge.url}/v1/recordings/{key}"
    async with httpx.AsyncClient(headers={"Authorization": "Bearer a secret of the tests only"}) as http:
        assert (await http.get(url)).status_code in (404, 422)
        assert (await http.get(f"{url}/parts/0")).status_code in (404, 422)
