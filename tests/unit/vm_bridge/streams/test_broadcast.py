"""One capture and one encode for all who watch, and nothing while nobody does or nothing moves."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import av
import numpy as np
import pytest

from tests.waiting import eventually
from vm_bridge.simulators.fake.sandbox import FakeSandbox
from vm_bridge.simulators.fake.screen import FakeScreen, Pixels
from vm_bridge.streams.broadcast import KEY_FRAME_INTERVAL_SECONDS, Broadcast, BroadcastFrame, BroadcastRegistry
from vm_bridge.streams.h264 import CLOCK_RATE, H264Encoder
from vm_bridge.streams.webrtc import PacketTrack


class Watcher:
    """A viewer that keeps what it is offered."""

    def __init__(self, *, wants_packets: bool = True, rate: int = 6_000_000) -> None:
        self.wants_packets = wants_packets
        self.rate = rate
        self.shots: list[BroadcastFrame] = []
        self.ended = False

    @property
    def keys(self) -> list[bool]:
        return [
            broadcast_frame.packet.is_keyframe for broadcast_frame in self.shots if broadcast_frame.packet is not None
        ]

    def offer(self, broadcast_frame: BroadcastFrame) -> None:
        self.shots.append(broadcast_frame)

    async def another(self) -> None:
        """Wait for one more shot."""
        count = len(self.shots)
        await eventually(lambda: len(self.shots) > count)

    def end(self) -> None:
        self.ended = True


def black(width: int, height: int) -> Pixels:
    return np.zeros((height, width, 4), np.uint8)


class Scene:
    """A small fake screen on the air."""

    def __init__(self) -> None:
        self.screen = FakeScreen(320, 240, black)
        self.ended = 0
        self.broadcast = Broadcast(self.screen, fps=60, bitrate=6_000_000, ended=self._end)

    def _end(self) -> None:
        self.ended += 1

    def change(self) -> None:
        self.screen.pixels[:, :, 0] += 10
        self.screen.touch()


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    scene = Scene()
    yield scene
    scene.screen.close()
    await eventually(lambda: scene.screen.viewers == 0)


@pytest.fixture
def encode_timestamps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every encode that is done, by its timestamp."""
    encodes: list[int] = []

    encode = H264Encoder.encode

    def counting(encoder: H264Encoder, picture: av.VideoFrame, pts: int, **how: Any) -> "av.Packet[Any]":
        encodes.append(pts)
        return encode(encoder, picture, pts, **how)

    monkeypatch.setattr(H264Encoder, "encode", counting)
    return encodes


async def test_all_see_the_same_packet(scene: Scene, encode_timestamps: list[int]) -> None:
    watchers = [Watcher() for _ in range(3)]
    for watcher in watchers:
        scene.broadcast.join(watcher)
    await eventually(lambda: all(watcher.shots for watcher in watchers))
    scene.change()
    await eventually(lambda: all(len(watcher.shots) >= 2 for watcher in watchers))
    assert len({id(watcher.shots[-1].packet) for watcher in watchers}) == 1
    assert scene.screen.viewers == 1
    assert len(encode_timestamps) == len(watchers[0].shots)


async def test_a_newcomer_to_a_still_picture_gets_a_key_frame_at_once(scene: Scene) -> None:
    first, second = Watcher(), Watcher()
    scene.broadcast.join(first)
    await eventually(lambda: first.shots)
    scene.broadcast.join(second)
    await eventually(lambda: second.shots)
    assert second.keys[0]


@pytest.mark.parametrize("packets", [True, False], ids=["H.264", "pictures"])
async def test_a_still_picture_is_sent_once_more_after_a_key_frame(scene: Scene, packets: bool) -> None:
    """aiortc's client shows a picture when the first packet of the next one comes."""
    watcher, later = Watcher(wants_packets=packets), Watcher(wants_packets=packets)
    scene.broadcast.join(watcher)
    await eventually(lambda: len(watcher.shots) >= 2)
    scene.broadcast.join(later)
    await eventually(lambda: len(later.shots) >= 2)
    if packets:
        assert later.keys[:2] == [True, False]


async def test_a_still_picture_is_not_encoded_again(scene: Scene, encode_timestamps: list[int]) -> None:
    watcher = Watcher()
    scene.broadcast.join(watcher)
    await eventually(lambda: encode_timestamps)
    before = len(encode_timestamps)
    other = FakeScreen(320, 240, black)
    async with other.subscribe(fps=10) as frames:  # three frames of another screen are a while
        for _ in range(3):
            other.touch()
            await anext(frames)
    assert len(encode_timestamps) <= before + 1, "at most one sharper picture"


async def test_the_last_to_leave_stops_the_capture_and_the_next_starts_it(scene: Scene) -> None:
    first, second = Watcher(), Watcher()
    scene.broadcast.join(first)
    await eventually(lambda: first.shots)
    scene.broadcast.leave(first)
    await eventually(lambda: scene.screen.viewers == 0)
    scene.broadcast.join(second)
    await eventually(lambda: second.shots)
    assert second.keys[0]
    assert scene.ended == 0


async def test_who_comes_and_goes_while_it_is_encoded_gets_a_stream_that_decodes(scene: Scene) -> None:
    for _ in range(12):
        passing = Watcher()
        scene.broadcast.join(passing)
        scene.change()
        await asyncio.sleep(0)
        scene.broadcast.leave(passing)
    watcher = Watcher()
    scene.broadcast.join(watcher)
    for _ in range(5):
        await watcher.another()
        scene.change()
    decoder = av.CodecContext.create("h264", "r")
    packets = [
        av.Packet(bytes(broadcast_frame.packet))
        for broadcast_frame in watcher.shots
        if broadcast_frame.packet is not None
    ]
    assert sum(len(decoder.decode(packet)) for packet in [*packets, None]) == len(packets)


async def test_key_requests_are_answered_together(scene: Scene) -> None:
    watcher = Watcher()
    scene.broadcast.join(watcher)
    await eventually(lambda: watcher.shots)
    for _ in range(10):
        scene.broadcast.request_key()
        await asyncio.sleep(0)
    await eventually(lambda: watcher.keys.count(True) == 2)
    first, second = (
        broadcast_frame.packet.pts or 0
        for broadcast_frame in watcher.shots
        if broadcast_frame.packet and broadcast_frame.packet.is_keyframe
    )
    assert (second - first) / CLOCK_RATE >= KEY_FRAME_INTERVAL_SECONDS - 0.05


async def test_who_encodes_itself_gets_pictures_and_nothing_is_encoded(
    scene: Scene, encode_timestamps: list[int]
) -> None:
    watcher = Watcher(wants_packets=False)
    scene.broadcast.join(watcher)
    await eventually(lambda: watcher.shots)
    assert watcher.shots[0].picture.format.name == "yuv420p"
    assert encode_timestamps == []


async def test_the_end_of_the_desktop_is_told_once(scene: Scene) -> None:
    watcher = Watcher()
    scene.broadcast.join(watcher)
    await eventually(lambda: watcher.shots)
    scene.screen.close()
    await eventually(lambda: watcher.ended)
    assert scene.ended == 1


async def test_a_viewer_that_falls_behind_goes_on_at_the_next_key_frame(scene: Scene) -> None:
    slow, watcher = PacketTrack(scene.broadcast, lambda: None), Watcher()
    scene.broadcast.join(slow)
    scene.broadcast.join(watcher)
    await eventually(lambda: watcher.shots)
    while watcher.keys.count(True) < 2:  # it asks for one when its queue runs over
        scene.change()
        await watcher.another()
    packet = await slow.recv()
    assert packet.is_keyframe
    assert packet is next(
        broadcast_frame.packet
        for broadcast_frame in reversed(watcher.shots)
        if broadcast_frame.packet and broadcast_frame.packet.is_keyframe
    )
    assert slow.rate < watcher.rate, "it is sent less from now on"


async def test_who_stops_reading_harms_nobody(scene: Scene) -> None:
    stuck, watcher = PacketTrack(scene.broadcast, lambda: None), Watcher()
    scene.broadcast.join(stuck)
    scene.broadcast.join(watcher)
    await eventually(lambda: watcher.shots)
    for _ in range(40):
        scene.change()
        await watcher.another()
    assert pts_of(watcher) == sorted(set(pts_of(watcher))), "every picture came, once and in order"
    decoder = av.CodecContext.create("h264", "r")
    decoded = [
        len(decoder.decode(broadcast_frame.packet)) for broadcast_frame in watcher.shots if broadcast_frame.packet
    ]
    assert sum(decoded) >= len(watcher.shots) - 1


async def test_the_slowest_viewer_sets_the_rate_without_a_key_frame(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoders: list[H264Encoder] = []
    build = H264Encoder.__init__

    def noted(encoder: H264Encoder, *size: int, **options: Any) -> None:
        encoders.append(encoder)
        build(encoder, *size, **options)

    monkeypatch.setattr(H264Encoder, "__init__", noted)
    fast, slow = Watcher(), Watcher()
    scene.broadcast.join(fast)
    scene.broadcast.join(slow)
    await eventually(lambda: fast.shots)
    for rate in (800_000, 3_000_000, 6_000_000):
        slow.rate = rate
        scene.change()
        await fast.another()
        assert encoders[0].bitrate == rate
    slow.rate = 800_000
    scene.broadcast.leave(slow)
    scene.change()
    await fast.another()
    assert encoders[0].bitrate == fast.rate
    assert len(encoders) == 1
    assert fast.keys.count(True) == 1


async def test_a_squeezed_picture_is_sharpened_and_then_left_alone(scene: Scene) -> None:
    watcher = Watcher(rate=500_000)
    scene.screen.pixels[60:180, 60:180] = np.random.default_rng(1).integers(0, 255, (120, 120, 4), np.uint8)
    scene.broadcast.join(watcher)
    await eventually(lambda: any(broadcast_frame.sharp for broadcast_frame in watcher.shots))
    assert not watcher.shots[0].sharp
    assert watcher.shots[-1].sharp, "the last one that was sent"


async def test_a_machine_whose_picture_is_another_has_another_broadcast() -> None:
    broadcasts, sandbox = BroadcastRegistry(fps=60, bitrate=1_000_000), FakeSandbox("desktop", width=320, height=240)
    old, watcher = broadcasts.of(sandbox), Watcher()
    assert broadcasts.of(sandbox) is old
    old.join(watcher)
    await eventually(lambda: watcher.shots)
    first, sandbox.frames = sandbox.screen, FakeScreen(320, 240, black)
    new = broadcasts.of(sandbox)
    assert new is not old
    first.close()
    await eventually(lambda: watcher.ended)
    assert broadcasts.of(sandbox) is new, "the end of the old one is not the end of the new"


def pts_of(watcher: Watcher) -> list[int]:
    return [
        broadcast_frame.packet.pts
        for broadcast_frame in watcher.shots
        if broadcast_frame.packet and broadcast_frame.packet.pts is not None
    ]
