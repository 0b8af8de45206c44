"""Pictures of a phone that it captures, where it has no better source."""

from struct import Struct

import numpy as np

from vm_bridge.drivers.phone_adb import AdbRefused, Device
from vm_bridge.drivers.watch import Captures

MAX_PICTURE = 64 * 1024 * 1024
HEADERS = (Struct("<IIII"), Struct("<III"))
"""Before the pixels: width, height, format, and on newer phones a colour space."""


class Screencap(Captures):
    """The picture as the phone's own `screencap` gives it. Needs nothing on the phone."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self._device = device

    def attach(self, device: Device) -> None:
        """Look at this device from now on."""
        self._device = device

    async def capture(self) -> tuple[int, int, bytes]:
        """See `Captures.capture`."""
        return picture_read(await self._device.raw("screencap", most=MAX_PICTURE))


def picture_read(captured: bytes) -> tuple[int, int, bytes]:
    """Width, height and BGRX pixels of what `screencap` wrote. Raises AdbRefused when it is no picture."""
    for header in HEADERS:
        if len(captured) < header.size:
            continue
        width, height = header.unpack_from(captured)[:2]
        if len(captured) == header.size + width * height * 4 > header.size:
            rgba = np.frombuffer(captured, np.uint8, offset=header.size).reshape(-1, 4)
            return width, height, rgba[:, [2, 1, 0, 3]].tobytes()
    raise AdbRefused("the phone gave no picture")
