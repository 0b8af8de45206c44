"""What a guest has ready before its host asks for a desktop."""

import os
from pathlib import Path

from benchmarks.parts.processes import command_line, descendant_pids
from tests.waiting import eventually
from vm_bridge.hosts.process_sandbox import PreparedImage, ProcessSandbox


def screen_programs(tree: ProcessSandbox) -> set[tuple[int, str]]:
    """Its X server and window manager."""
    names = {
        pid: Path(os.fsdecode(command_line(pid).partition(b"\0")[0])).name for pid in descendant_pids(tree.first.pid)
    }
    return {(pid, name) for pid, name in names.items() if name in ("Xtigervnc", "openbox")}


async def test_the_x_server_and_the_window_manager_wait(image: PreparedImage, folder: Path) -> None:
    tree = await ProcessSandbox.spawn(image, folder)
    try:
        await eventually(lambda: len(screen_programs(tree)) == 2)
        waiting = screen_programs(tree)
        await tree.begin(fence=1, width=image.manifest.width, height=image.manifest.height)
        assert screen_programs(tree) == waiting, "they are those of the desktop"
    finally:
        await tree.end()
