"""Runs actions on a phone over adb."""

import asyncio
import posixpath
import shlex
from collections.abc import Mapping

from protocol.actions.types import (
    MAX_FILE,
    Action,
    DownloadFile,
    EditFile,
    ListFiles,
    ReadFile,
    RunCommand,
    UploadFile,
    WriteFile,
)
from vm_bridge.drivers.phone.adb import REQUEST_TIMEOUT_SECONDS, AdbRequestFailed, Device
from vm_bridge.drivers.phone.input import InputAction, PhoneInput
from vm_bridge.drivers.remote.screen_trees import MAX_TREE_BYTES, android_texts
from vm_bridge.errors import ActionFailed
from vm_bridge.machine_io import ScreenTexts

FileAction = RunCommand | ListFiles | ReadFile | WriteFile | EditFile | UploadFile | DownloadFile
DUMP_SCREEN = "uiautomator dump /dev/tty"
MAX_TEXT = 64 * 1024
"""Maximum characters of a text file or an output that is shown."""


class PhoneFiles:
    """File actions on one device; relative paths start at `home`."""

    def __init__(self, device: Device, home: str) -> None:
        self._device, self._home = device, home

    async def do(self, action: FileAction, staged: Mapping[str, bytes]) -> str | bytes | None:
        """Execute an action. Returns its text, or the bytes of an exported file. `staged` maps SHA-256 to the bytes to
        import. Raises ActionFailed, AdbRequestFailed."""
        match action:
            case RunCommand():
                return await self._run(action.command, action.timeout)
            case ListFiles():
                return await self._run(f"ls -la {shlex.quote(self._at(action.path))}")
            case ReadFile():
                return (await self._read(action.path)).decode("utf-8", "replace")[:MAX_TEXT]
            case WriteFile():
                await self._write(action.path, action.text.encode())
            case EditFile():
                await self._edit(action)
            case UploadFile():
                await self._write(action.path, staged[action.blob.sha256])
            case DownloadFile():
                return await self._read(action.path)
        return None

    async def _run(self, command: str, timeout: float = REQUEST_TIMEOUT_SECONDS) -> str:
        ran = await self._device.shell(f"cd {shlex.quote(self._home)}; {command}", timeout=timeout)
        text = ran.text[:MAX_TEXT]
        if ran.code is None:
            raise ActionFailed("timed_out", f"the command did not end within {timeout:g} s", text)
        return text if ran.code == 0 else f"{text}\n[exit status {ran.code}]".lstrip("\n")

    async def _read(self, path: str) -> bytes:
        try:
            content = await self._device.read(self._at(path))
        except AdbRequestFailed as refused:
            raise ActionFailed("no_such_file", f"{path}: {refused}") from refused
        if len(content) > MAX_FILE:
            raise ActionFailed("too_long", f"{path} has more than {MAX_FILE} bytes")
        return content

    async def _write(self, path: str, content: bytes) -> None:
        try:
            await self._device.write(self._at(path), content)
        except AdbRequestFailed as refused:
            raise ActionFailed("cannot_write", f"{path}: {refused}") from refused

    async def _edit(self, action: EditFile) -> None:
        text = (await self._read(action.path)).decode("utf-8", "surrogateescape")
        count = text.count(action.old)
        if count != 1:
            raise ActionFailed("no_single_match", f"the old text occurs {count} times in {action.path}, not once")
        await self._write(action.path, text.replace(action.old, action.new).encode("utf-8", "surrogateescape"))

    def _at(self, path: str) -> str:
        return posixpath.join(self._home, path)


ACTION_KINDS = (
    *("click", "long_press", "swipe", "drag", "scroll", "type_text", "press_keys", "wait", "open_app"),
    *("press_home", "press_back", "run_command", "list_files", "read_file", "write_file", "edit_file"),
    *("upload_file", "download_file"),
)


class PhoneActionExecutor:
    """Executes actions on one device. `names` maps people's names of apps to packages; relative paths start at
    `home`."""

    def __init__(self, device: Device, names: Mapping[str, str], home: str) -> None:
        self._device = device
        self._input, self._files = PhoneInput(device, names), PhoneFiles(device, home)

    async def do(self, action: Action, size: tuple[int, int], staged: Mapping[str, bytes]) -> str | bytes | None:
        """See `ActionExecutor.do`."""
        if isinstance(action, InputAction):
            await self._input.do(action, size)
            return None
        assert isinstance(action, FileAction)
        return await self._files.do(action, staged)

    async def screen_texts(self) -> ScreenTexts:
        """See `ActionExecutor.screen_texts`."""
        tree = await self._device.raw(DUMP_SCREEN, most=MAX_TREE_BYTES)
        end = tree.rfind(b">") + 1  # Android appends the dump's path
        return await asyncio.to_thread(android_texts, tree[tree.find(b"<") : end])
