"""The service `sync`: what lies where, files in and files out."""

import asyncio
import os
import stat
import struct
import tempfile
from pathlib import Path

from vm_bridge.simulators.phone.daemon import Stream

WORD = struct.Struct("<4sI")
STATUS = struct.Struct("<4sIII")
ENTRY = struct.Struct("<4sIIII")
CHUNK = 64 * 1024
"""Longest piece of a file (bytes)."""
MAX_PATH = 1024
MAX_FILE = 64 * 1024 * 1024
MAX_WORD = 0xFFFFFFFF
DEFAULT_MODE = 0o644


class _StreamEnded(Exception):
    """The computer closed the stream."""


class _ByteReader:
    """Exactly as many bytes of a stream as are asked for."""

    def __init__(self, stream: Stream) -> None:
        self._stream, self._held = stream, bytearray()

    async def take(self, size: int) -> bytes:
        while len(self._held) < size:
            data = await self._stream.read()
            if not data:
                raise _StreamEnded
            self._held += data
        taken = bytes(self._held[:size])
        del self._held[:size]
        return taken


async def serve_sync(stream: Stream) -> None:
    """Answers requests until QUIT."""
    source = _ByteReader(stream)
    requests = {b"STAT": _stat, b"LIST": _list, b"RECV": _receive, b"SEND": _send}
    try:
        while True:
            name, size = WORD.unpack(await source.take(WORD.size))
            request = requests.get(name)
            if request is None or size > MAX_PATH:
                return
            path = (await source.take(size)).decode("utf-8", "surrogateescape")
            await stream.write(await request(path, source, stream))
    except _StreamEnded:
        return


async def _stat(path: str, _source: _ByteReader, _stream: Stream) -> bytes:
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return STATUS.pack(b"STAT", 0, 0, 0)
    return STATUS.pack(b"STAT", *_pack_status(status))


async def _list(path: str, _source: _ByteReader, stream: Stream) -> bytes:
    try:
        names = sorted(os.listdir(path))
    except (OSError, ValueError):
        names = []
    for name in names:
        try:
            described = _pack_status(os.lstat(os.path.join(path, name)))
        except OSError:
            continue  # it went away in between
        encoded = os.fsencode(name)
        await stream.write(ENTRY.pack(b"DENT", *described, len(encoded)) + encoded)
    return ENTRY.pack(b"DONE", 0, 0, 0, 0)


async def _receive(path: str, _source: _ByteReader, stream: Stream) -> bytes:
    try:
        content = await asyncio.to_thread(_read, path)
    except (OSError, ValueError) as error:
        return _failed(str(error))
    for start in range(0, len(content), CHUNK):
        piece = content[start : start + CHUNK]
        await stream.write(WORD.pack(b"DATA", len(piece)) + piece)
    return WORD.pack(b"DONE", 0)


async def _send(path: str, source: _ByteReader, _stream: Stream) -> bytes:
    """Takes the whole file before it writes any of it."""
    target, _, mode = path.rpartition(",")
    content, modified = await _content(source)
    if content is None:
        return _failed("the file is too long")
    try:
        permissions = stat.S_IMODE(int(mode)) if mode.isdigit() else DEFAULT_MODE
        await asyncio.to_thread(_write, Path(target), content, permissions, modified)
    except (OSError, ValueError) as error:
        return _failed(str(error))
    return WORD.pack(b"OKAY", 0)


async def _content(source: _ByteReader) -> tuple[bytes | None, int]:
    """The pieces of a file put together, and when it was modified; None in place of what is too long."""
    content, too_long = bytearray(), False
    while True:
        name, number = WORD.unpack(await source.take(WORD.size))
        if name != b"DATA":
            break
        if number > CHUNK:
            raise _StreamEnded
        piece = await source.take(number)
        too_long = too_long or len(content) + number > MAX_FILE
        if not too_long:
            content += piece
    return (None if too_long else bytes(content)), number


def _read(path: str) -> bytes:
    """Raises OSError, and ValueError for a file that is too long."""
    with open(path, "rb") as file:
        content = file.read(MAX_FILE + 1)
    if len(content) > MAX_FILE:
        raise ValueError("the file is too long")
    return content


def _write(target: Path, content: bytes, mode: int, modified: int) -> None:
    """Beside its place, then renamed: the file is there whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".push-", delete=False) as file:
        try:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.utime(file.fileno(), (modified, modified))
            os.rename(file.name, target)
        except OSError:
            os.unlink(file.name)
            raise


def _pack_status(status: os.stat_result) -> tuple[int, int, int]:
    """Mode, size and time as the protocol has them: 32 bits each."""
    return status.st_mode, min(status.st_size, MAX_WORD), int(status.st_mtime) & MAX_WORD


def _failed(reason: str) -> bytes:
    message = reason.encode("utf-8", "surrogateescape")
    return WORD.pack(b"FAIL", len(message)) + message
