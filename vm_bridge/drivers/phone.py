"""A phone driven over adb: real, or simulated in a sandbox."""

from collections.abc import Mapping

from vm_bridge.drivers.phone_adb import Device
from vm_bridge.drivers.phone_files import Deed, Files
from vm_bridge.drivers.phone_hands import Hand, Hands
from vocabulary.actions import Action

KINDS = (
    *("click", "long_press", "swipe", "drag", "scroll", "type_text", "press_keys", "wait", "open_app"),
    *("press_home", "press_back", "run_command", "list_files", "read_file", "write_file", "edit_file"),
    *("upload_file", "download_file"),
)


class PhoneActs:
    """Acts on one device. `names` are packages by the names people call them; relative paths begin at `home`."""

    def __init__(self, device: Device, names: Mapping[str, str], home: str) -> None:
        self._hands, self._files = Hands(device, names), Files(device, home)

    async def do(self, action: Action, size: tuple[int, int], staged: Mapping[str, bytes]) -> str | bytes | None:
        """See `Acts.do`."""
        if isinstance(action, Hand):
            await self._hands.do(action, size)
            return None
        assert isinstance(action, Deed)
        return await self._files.do(action, staged)
