"""Measures and limits the disk space of one task's programs."""

import asyncio
import logging
import os
import shutil
from contextlib import suppress
from pathlib import Path

logger = logging.getLogger(__name__)

GIB = 2**30
MAX_BYTES = 2 * GIB
"""Of one task (bytes on the disk)."""
MAX_ENTRIES = 20_000
MIN_FREE_BYTES = GIB
"""Free space to keep on the disk, whatever fills it: deleted files that a program holds open are visible nowhere else.
"""
POLL_SECONDS = 0.5
"""The kernel does not report when a folder grows."""
MAX_REMOVAL_ATTEMPTS = 10


async def wait_for_excess(folder: Path) -> str:
    """Returns once a folder holds too much, with what that is."""
    while True:
        found = await asyncio.to_thread(find_excess, folder)
        if found is not None:
            return found
        await asyncio.sleep(POLL_SECONDS)


def find_excess(folder: Path) -> str | None:
    """What of a folder is too much, None where nothing is. It looks at no more than may be there."""
    size, entries, waiting = 0, 0, [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for each in found:
                    entries += 1
                    with suppress(FileNotFoundError):  # deleted meanwhile; the others count
                        size += each.stat(follow_symlinks=False).st_blocks * 512
                    if size > MAX_BYTES or entries > MAX_ENTRIES:
                        return f"its files take more than {MAX_BYTES / GIB:g} GiB, or are more than {MAX_ENTRIES}"
                    if each.is_dir(follow_symlinks=False):
                        waiting.append(Path(each.path))
        except FileNotFoundError:
            continue  # the folder itself was
        except OSError as error:  # the name is too long, or the folder is not readable
            return f"its files cannot be counted: {error.strerror}"
    free = shutil.disk_usage(folder).free
    return None if free >= MIN_FREE_BYTES else f"this host's disk has {free / GIB:.1f} GiB left"


async def remove_folder(folder: Path) -> None:
    """Remove a folder with all in it, however deep it is nested."""
    for _ in range(MAX_REMOVAL_ATTEMPTS):
        try:
            rm = await asyncio.create_subprocess_exec("rm", "-rf", "--", str(folder), stderr=asyncio.subprocess.DEVNULL)
            if await rm.wait() == 0:
                return
        except OSError as error:  # this host has no room for one more process, or no open file left
            logger.warning("rm could not be started: %s", error)
        await asyncio.sleep(POLL_SECONDS)  # a program that was ended just now may have written meanwhile
    logger.warning("%s could not be removed", folder)
