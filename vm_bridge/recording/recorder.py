"""The recordings of a host: started and stopped by the machine's holder, kept until they are fetched."""

import logging
import secrets
import shutil
from pathlib import Path

from pydantic import ValidationError

from vm_bridge.api.wire import Recording, RecordingPart
from vm_bridge.errors import UnknownRecording, UnsupportedAction
from vm_bridge.recording.writer import RecordingWriter
from vm_bridge.sandbox import Sandbox
from vm_bridge.streams.broadcast import BroadcastRegistry

logger = logging.getLogger(__name__)

METADATA_FILE = "recording.json"
MAX_TOTAL_BYTES = 8 * 2**30
"""When all recordings together take more, the oldest are given up."""


class Recorder:
    """At most one recording a machine runs; `folder` holds a folder for each, running or ended."""

    def __init__(self, folder: Path, broadcasts: BroadcastRegistry) -> None:
        self._folder = folder
        self._broadcasts = broadcasts
        self._writers: dict[str, RecordingWriter] = {}
        """By recording: those whose files are not whole yet."""
        self._current: dict[str, str] = {}
        """By machine: the recording that takes its pictures."""

    def start(self, sandbox: Sandbox) -> Recording:
        """Record a machine from now on. A running recording continues. Raises UnsupportedAction without a picture."""
        if sandbox.frames is None:
            raise UnsupportedAction("this machine has no picture to record")
        current = self._current.get(sandbox.id)
        if current is not None:
            return self.find(current)
        self._make_room()
        key = secrets.token_hex(8)
        (self._folder / key).mkdir(parents=True)
        self._note(key, sandbox.id, ())
        self._current[sandbox.id] = key
        self._writers[key] = RecordingWriter(
            self._broadcasts.of(sandbox),
            self._folder / key,
            changed=lambda parts: self._note(key, sandbox.id, parts),
            ended=lambda: self._ended(key, sandbox.id),
        )
        return self.find(key)

    async def stop(self, machine_id: str) -> Recording | None:
        """End what is recorded of a machine, if anything is. Idempotent."""
        key = self._current.pop(machine_id, None)
        if key is None:
            return None
        await self._writers[key].stop()
        return self.find(key)

    async def close(self) -> None:
        """End every recording."""
        for machine_id in tuple(self._current):
            await self.stop(machine_id)

    def find(self, key: str) -> Recording:
        """What is known of a recording. Raises UnknownRecording."""
        try:
            kept = Recording.model_validate_json((self._folder / key / METADATA_FILE).read_bytes())
        except (FileNotFoundError, ValidationError):
            raise UnknownRecording(f"there is no recording {key}") from None
        return kept.model_copy(update={"running": key in self._writers})

    def part(self, key: str, number: int) -> Path:
        """The file of a part. Raises UnknownRecording."""
        if number >= len(self.find(key).parts):
            raise UnknownRecording(f"recording {key} has no part {number}")
        return self._folder / key / f"{number}.mp4"

    def forget(self, key: str) -> None:
        """Remove a recording that has ended. Idempotent; raises UnsupportedAction while it runs."""
        try:
            known = self.find(key)
        except UnknownRecording:
            return
        if known.running:
            raise UnsupportedAction("a recording that runs cannot be removed")
        shutil.rmtree(self._folder / key)

    def _ended(self, key: str, machine_id: str) -> None:
        """The files of a recording are whole."""
        del self._writers[key]
        if self._current.get(machine_id) == key:
            del self._current[machine_id]

    def _note(self, key: str, machine_id: str, parts: tuple[RecordingPart, ...]) -> None:
        note = Recording(id=key, machine_id=machine_id, running=True, parts=parts)
        aside = self._folder / key / f"{METADATA_FILE}.tmp"
        aside.write_text(note.model_dump_json())
        aside.replace(self._folder / key / METADATA_FILE)

    def _make_room(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        ended = [folder for folder in self._folder.iterdir() if folder.name not in self._writers]
        total = 0
        for folder in sorted(ended, key=lambda folder: folder.stat().st_mtime, reverse=True):
            total += sum(file.stat().st_size for file in folder.iterdir())
            if total > MAX_TOTAL_BYTES:
                logger.warning("recording %s is deleted to free disk space", folder.name)
                shutil.rmtree(folder)
