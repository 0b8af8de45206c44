"""What a phone's recorder writes is read picture by picture, though nothing marks where one ends."""

import numpy as np

from vm_bridge.drivers.phone.frames import H264Decoder
from vm_bridge.streams.h264 import CLOCK_RATE, H264Encoder, PixelConverter

WIDTH, HEIGHT, FPS = 64, 128, 30


def recorded(*greys: int) -> list[bytes]:
    """One packet for each picture."""
    encoder, converter = H264Encoder(WIDTH, HEIGHT, fps=FPS, bitrate=1_000_000), PixelConverter()
    shown = (np.full((HEIGHT, WIDTH, 4), grey, np.uint8).data.cast("B") for grey in greys)
    pictures = (converter.convert(pixels, WIDTH, HEIGHT) for pixels in shown)
    return [bytes(encoder.encode(picture, at * CLOCK_RATE // FPS, key=at == 0)) for at, picture in enumerate(pictures)]


def grey_of(picture: tuple[int, int, bytes] | None) -> int:
    assert picture is not None
    width, height, pixels = picture
    assert (width, height, len(pixels)) == (WIDTH, HEIGHT, WIDTH * HEIGHT * 4)
    return pixels[0]


def test_a_silence_ends_a_picture_and_the_next_follows() -> None:
    decoder, packets = H264Decoder(), recorded(40, 120, 200)
    for packet, grey in zip(packets, (40, 120, 200), strict=True):
        decoder.newest(packet[:20])
        decoder.newest(packet[20:])
        assert abs(grey_of(decoder.newest(b"")) - grey) <= 3


def test_of_many_that_came_at_once_the_newest_is_shown() -> None:
    decoder = H264Decoder()
    came = decoder.newest(b"".join(recorded(40, 120, 200)))
    assert abs(grey_of(came) - 120) <= 3
    assert abs(grey_of(decoder.newest(b"")) - 200) <= 3


def test_what_is_no_recording_has_no_picture() -> None:
    decoder = H264Decoder()
    assert decoder.newest(b"/system/bin/sh: screenrecord: not found\n") is None
    assert decoder.newest(b"") is None
