"""The encoder: key frames only when asked, true colours, and a bounded burst."""

import av
import numpy as np
import pytest

from vm_bridge.sandbox import Box
from vm_bridge.streams.h264 import CLOCK_RATE, H264Encoder, PixelConverter

WIDTH, HEIGHT = 320, 240
FPS = 30


def picture(colour: tuple[int, int, int], width: int = WIDTH, height: int = HEIGHT) -> av.VideoFrame:
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[:, :, :3] = colour[::-1]
    return PixelConverter().convert(pixels.data.cast("B"), width, height)


def noise(seed: int) -> av.VideoFrame:
    pixels = np.random.default_rng(seed).integers(0, 255, (HEIGHT, WIDTH, 4), np.uint8)
    return PixelConverter().convert(pixels.data.cast("B"), WIDTH, HEIGHT)


def test_a_key_frame_comes_first_and_then_only_when_asked_for() -> None:
    encoder = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=1_000_000)
    keys = [
        encoder.encode(noise(number), number * CLOCK_RATE // FPS, key=number == 40).is_keyframe for number in range(60)
    ]
    assert [number for number, key in enumerate(keys) if key] == [0, 40]


@pytest.mark.parametrize("colour", [(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255), (0, 0, 0), (120, 130, 140)])
def test_colours_come_out_as_they_went_in(colour: tuple[int, int, int]) -> None:
    encoder = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=1_000_000)
    decoder = av.CodecContext.create("h264", "r")
    packet = encoder.encode(picture(colour), 0, key=True)
    (decoded,) = [*decoder.decode(packet), *decoder.decode(None)]
    assert decoded.colorspace == 1, "BT.709 is said in the stream, or browsers guess"
    shown = decoded.to_ndarray(format="rgb24", src_colorspace="ITU709")[HEIGHT // 2, WIDTH // 2]
    assert np.abs(shown.astype(int) - colour).max() <= 4


def test_a_packet_stays_near_the_burst_even_for_noise() -> None:
    encoder = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=1_000_000)
    sizes = [encoder.encode(noise(number), number * CLOCK_RATE // FPS, key=False).size for number in range(30)]
    assert max(sizes) < 3 * encoder.burst


def test_an_odd_size_is_cut_to_an_even_one() -> None:
    shown = picture((1, 2, 3), 321, 241)
    assert (shown.width, shown.height) == (320, 240)


def test_sps_and_pps_come_with_every_key_frame() -> None:
    encoder = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=1_000_000)
    encoder.encode(noise(1), 0, key=True)
    again = bytes(encoder.encode(noise(2), CLOCK_RATE, key=True))
    kinds = {part[0] & 0x1F for part in again.split(b"\0\0\1")[1:] if part}
    assert {7, 8, 5} <= kinds


def test_a_new_rate_is_kept_without_a_key_frame() -> None:
    encoder = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=4_000_000)
    packets = []
    for number in range(180):
        if number == 60:
            encoder.bitrate = 600_000
        if number == 120:
            encoder.bitrate = 4_000_000
        packets.append(encoder.encode(noise(number), number * CLOCK_RATE // FPS, key=False))
    first, low, again = (sum(p.size for p in packets[at + 30 : at + 60]) * 8 for at in (0, 60, 120))
    assert low < 900_000
    assert min(first, again) > 2 * low
    assert [packet.is_keyframe for packet in packets].count(True) == 1


def test_a_picture_that_had_to_be_squeezed_is_told_from_a_sharp_one() -> None:
    encoder = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=500_000)
    encoder.encode(noise(1), 0, key=True)
    assert not encoder.sharp
    easy = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=500_000)
    easy.encode(picture((9, 9, 9)), 0, key=True)
    assert easy.sharp


@pytest.mark.parametrize("size", [(320, 240), (333, 251)])
@pytest.mark.parametrize("box", [(10, 20, 50, 60), (0, 0, 320, 240), (63, 64, 65, 200), (250, 200, 400, 300)])
def test_converting_what_changed_is_as_good_as_converting_all(size: tuple[int, int], box: Box) -> None:
    random = np.random.default_rng(1)
    width, height = size
    before = random.integers(0, 255, (height, width, 4), np.uint8)
    after = before.copy()
    left, top, right, bottom = box
    part = after[top:bottom, left:right]
    part[:] = random.integers(0, 255, part.shape, np.uint8)
    converter = PixelConverter()
    first = converter.convert(before.data.cast("B"), width, height)
    second = converter.convert(after.data.cast("B"), width, height, box)
    assert second is first
    assert np.array_equal(
        second.to_ndarray(), PixelConverter().convert(after.data.cast("B"), width, height).to_ndarray()
    )


@pytest.mark.parametrize("box", [(9, 9, 3, 3), (-50, -50, -10, -10), (500, 500, 600, 600)])
def test_a_senseless_box_changes_nothing(box: Box) -> None:
    converter = PixelConverter()
    pixels = np.zeros((HEIGHT, WIDTH, 4), np.uint8).data.cast("B")
    shown = converter.convert(pixels, WIDTH, HEIGHT).to_ndarray()
    assert np.array_equal(converter.convert(pixels, WIDTH, HEIGHT, box).to_ndarray(), shown)


def test_a_picture_that_is_kept_is_not_written_to() -> None:
    converter = PixelConverter()
    white = np.full((HEIGHT, WIDTH, 4), 255, np.uint8).data.cast("B")
    black = np.zeros((HEIGHT, WIDTH, 4), np.uint8).data.cast("B")
    kept = converter.convert(white, WIDTH, HEIGHT, whole=True)
    shown = kept.to_ndarray()
    converter.convert(black, WIDTH, HEIGHT, (0, 0, 64, 64))
    assert np.array_equal(kept.to_ndarray(), shown)
