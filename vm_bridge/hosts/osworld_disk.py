"""What the programs of one task keep on this host's disk, and how much of it that may be."""

import asyncio
import logging
import os
import shutil
from contextlib import suppress
from pathlib import Path

logger = logging.getLogger(__name__)

GIB = 2**30
MOST = 2 * GIB
"""Of one task (bytes on the disk)."""
MOST_ENTRIES = 20_000
LEAST_FREE = GIB
"""The disk keeps so much, whoever fills it: what a program deleted and holds open is seen nowhere else."""
WATCH_SECONDS = 0.5
"""The kernel tells nobody when a folder grows."""
REMOVALS = 10


async def excess_awaited(folder: Path) -> str:
    """Returns once a folder holds too much, with what that is."""
    while True:
        found = await asyncio.to_thread(excess_of, folder)
        if found is not None:
            return found
        await asyncio.sleep(WATCH_SECONDS)


def excess_of(folder: Path) -> str | None:
    """What of a folder is too much, None where nothing is. It looks at no more than may be there."""
    size, entries, waiting = 0, 0, [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as found:
                for each in found:
                    entries += 1
                    with suppress(FileNotFoundError):  # deleted meanwhile; the others count
                        size += each.stat(follow_symlinks=False).st_blocks * 512
                    if size > MOST or entries > MOST_ENTRIES:
                        return f"its files take more than {MOST / GIB:g} GiB, or are more than {MOST_ENTRIES}"
                    if each.is_dir(follow_symlinks=False):
                        waiting.append(Path(each.path))
        except FileNotFoundError:
            continue  # the folder itself was
        except OSError as error:  # a name too long to be asked for, or a folder that it closed to everybody
            return f"its files cannot be counted: {error.strerror}"
    free = shutil.disk_usage(folder).free
    return None if free >= LEAST_FREE else f"this host's disk has {free / GIB:.1f} GiB left"


async def folder_remove(folder: Path) -> None:
    """Remove a folder with all in it, however deep it is nested."""
    for _ in range(REMOVALS):
        try:
            rm = await asyncio.create_subprocess_exec("rm", "-rf", "--", str(folder), stderr=asyncio.subprocess.DEVNULL)
            if await rm.wait() == 0:
                return
        except OSError as error:  # this host has no room for one more process, or no open file left
            logger.warning("rm could not be begun: %s", error)
        await asyncio.sleep(WATCH_SECONDS)  # a program that was ended just now may have written meanwhile
    logger.warning("%s could not be removed", folder)
