"""The encoder: key frames only when asked, true colours, and a bounded burst."""

import av
import numpy as np
import pytest

from vm_bridge.streams.h264 import CLOCK, Converter, H264Encoder, is_sharp

WIDTH, HEIGHT = 320, 240
FPS = 30


def picture(colour: tuple[int, int, int], width: int = WIDTH, height: int = HEIGHT) -> av.VideoFrame:
    pixels = np.zeros((height, width, 4), np.uint8)
    pixels[:, :, :3] = colour[::-1]
    return Converter().convert(pixels.data.cast("B"), width, height)


def noise(seed: int) -> av.VideoFrame:
    pixels = np.random.default_rng(seed).integers(0, 255, (HEIGHT, WIDTH, 4), np.uint8)
    return Converter().convert(pixels.data.cast("B"), WIDTH, HEIGHT)


def test_a_key_frame_comes_first_and_then_only_when_asked_for() -> None:
    encoder = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=1_000_000)
    keys = [encoder.encode(noise(number), number * CLOCK // FPS, key=number == 40).is_keyframe for number in range(60)]
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
    sizes = [encoder.encode(noise(number), number * CLOCK // FPS, key=False).size for number in range(30)]
    assert max(sizes) < 3 * encoder.burst


def test_an_odd_size_is_cut_to_an_even_one() -> None:
    shown = picture((1, 2, 3), 321, 241)
    assert (shown.width, shown.height) == (320, 240)


def test_sps_and_pps_come_with_every_key_frame() -> None:
    encoder = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=1_000_000)
    encoder.encode(noise(1), 0, key=True)
    again = bytes(encoder.encode(noise(2), CLOCK, key=True))
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
        packets.append(encoder.encode(noise(number), number * CLOCK // FPS, key=False))
    first, low, again = (sum(p.size for p in packets[at + 30 : at + 60]) * 8 for at in (0, 60, 120))
    assert low < 900_000
    assert min(first, again) > 2 * low
    assert [packet.is_keyframe for packet in packets].count(True) == 1


def test_a_picture_that_had_to_be_squeezed_is_told_from_a_sharp_one() -> None:
    encoder = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=500_000)
    assert not is_sharp(encoder.encode(noise(1), 0, key=True))
    easy = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=500_000)
    assert is_sharp(easy.encode(picture((9, 9, 9)), 0, key=True))
