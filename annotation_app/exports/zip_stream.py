"""A folder as one zip file, streamed: nothing of it is held in memory or written aside."""

import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from asgiref.sync import sync_to_async
from zipstream import ZIP_STORED, ZipStream

RANGE_PATTERN = re.compile(r"bytes=(\d{1,18})-")


def create_zip(folder: Path) -> ZipStream:
    """The zip to be; pictures are compressed already, so it only stores, and its length is known. The same folder
    gives the same bytes."""
    archive = ZipStream(compress_type=ZIP_STORED, sized=True)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            archive.add_path(path, f"{folder.name}/{path.relative_to(folder).as_posix()}")
    return archive


async def stream_zip(archive: ZipStream, begin: int = 0) -> AsyncIterator[bytes]:
    """The zip's bytes from `begin` on; what comes before is read and not sent."""
    chunks: Iterator[bytes] = iter(archive)
    next_chunk = sync_to_async(lambda: next(chunks, b""), thread_sensitive=False)
    while chunk := await next_chunk():
        if len(chunk) > begin:
            yield chunk[begin:]
        begin = max(0, begin - len(chunk))


def range_start(header: str | None) -> int | None:
    """Where a client wants to go on (`Range: bytes=N-`); None for any other range, which gets the whole."""
    found = RANGE_PATTERN.fullmatch(header or "")
    return int(found[1]) if found else None
