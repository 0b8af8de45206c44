"""Microphones of Windows and macOS: missing, held by another program, taken away."""

from dataclasses import dataclass, field

import pytest

from recorder.pilothouse_recorder.audio import audio_queue, wave_in
from recorder.pilothouse_recorder.audio.audio_queue import QueueInput
from recorder.pilothouse_recorder.audio.capture import VoiceCapture
from recorder.pilothouse_recorder.audio.wave_in import WaveInput
from recorder.pilothouse_recorder.errors import RecorderError
from tests.waiting import wait_until


@dataclass
class FakeDevice:
    """Both systems' calls: gives some buffers, then nothing more."""

    code: int = 0
    buffers: list[bytes] = field(default_factory=list)
    found: tuple[str, ...] = ("Headset (USB)", "Built-in")
    opened: list[object] = field(default_factory=list)
    closed: bool = False

    def names(self) -> list[str]:
        return list(self.found)

    def open(self, device: int | str) -> int:
        self.opened.append(device)
        return self.code

    def take(self, seconds: float) -> bytes | None:
        return self.buffers.pop(0) if self.buffers else None

    def close(self) -> None:
        self.closed = True


def test_a_microphone_is_chosen_by_its_name() -> None:
    device = FakeDevice()
    WaveInput(device)
    WaveInput(device, "built")
    assert device.opened == [wave_in.DEFAULT_DEVICE, 1]
    QueueInput(device, "BuiltInMicrophoneDevice")
    assert device.opened[-1] == "BuiltInMicrophoneDevice"
    with pytest.raises(RecorderError, match="there are: Headset"):
        WaveInput(device, "webcam")


@pytest.mark.parametrize(
    ("kind", "code", "expected"),
    [
        (WaveInput, wave_in.BUSY, "microphone_busy"),
        (WaveInput, 32, "no_microphone"),
        (QueueInput, audio_queue.BUSY, "microphone_busy"),
        (QueueInput, -50, "no_microphone"),
    ],
)
def test_a_microphone_that_does_not_open_has_a_code(
    kind: type[WaveInput] | type[QueueInput], code: int, expected: str
) -> None:
    with pytest.raises(RecorderError) as caught:
        kind(FakeDevice(code))
    assert caught.value.code == expected


def test_a_computer_without_a_microphone_is_told() -> None:
    with pytest.raises(RecorderError) as caught:
        WaveInput(FakeDevice(found=()))
    assert caught.value.code == "no_microphone"


@pytest.mark.parametrize("kind", [WaveInput, QueueInput])
def test_a_microphone_that_is_taken_away_is_noticed_and_released(kind: type[WaveInput] | type[QueueInput]) -> None:
    device = FakeDevice(buffers=[b"\1\0" * 1_600] * 5)
    left = [device]

    def open_source(source: str) -> WaveInput | QueueInput:
        if not left:
            raise RecorderError("no_microphone", "none")
        return kind(left.pop(0), source)

    capture = VoiceCapture(open_source=open_source)
    wait_until(lambda: device.closed and not capture.present)
    capture.close()
    assert sum(len(getattr(one, "samples", b"")) for one in capture.take()) == 5 * 3_200
