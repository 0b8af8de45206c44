"""A folder as one zip file, streamed: nothing of it is held in memory or written aside."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from asgiref.sync import sync_to_async
from zipstream import ZIP_STORED, ZipStream


async def zip_stream(folder: Path) -> AsyncIterator[bytes]:
    """The zip's bytes; pictures are compressed already, so it only stores."""
    archive = ZipStream.from_path(folder, compress_type=ZIP_STORED)
    chunks: Iterator[bytes] = iter(archive)
    following = sync_to_async(lambda: next(chunks, b""), thread_sensitive=False)
    while chunk := await following():
        yield chunk
