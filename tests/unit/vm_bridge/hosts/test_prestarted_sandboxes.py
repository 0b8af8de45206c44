"""Who gets the sandbox that waits."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from vm_bridge.hosts.local.prestarted_sandboxes import PrestartedSandboxes
from vm_bridge.hosts.process_sandbox import PreparedImage, ProcessSandbox, ProcessSandboxFactory
from vm_bridge.images.manifest import ImageManifest


class Factory:
    """Makes numbered sandboxes."""

    def __init__(self) -> None:
        self.made = 0

    async def spawn(self, image: PreparedImage, folder: Path) -> ProcessSandbox:
        self.made += 1
        return cast(ProcessSandbox, SimpleNamespace(number=self.made, link=SimpleNamespace(gone=False)))


@pytest.mark.parametrize(
    ("programs", "for_task", "given"),
    [((), True, 1), ((), False, 1), ((("phone",),), True, 1), ((("phone",),), False, 2)],
    ids=["task", "put back", "task with programs", "put back with programs"],
)
async def test_programs_that_wait_are_kept_for_a_task(
    tmp_path: Path, programs: tuple[tuple[str, ...], ...], for_task: bool, given: int
) -> None:
    image = PreparedImage("phone", tmp_path, ImageManifest(width=400, height=800, start=programs), "", None, ())
    prestarted = PrestartedSandboxes(tmp_path, cast(ProcessSandboxFactory, Factory()))
    prestarted.refill(image)
    await prestarted._coming["phone"]
    taken = await prestarted.take(image, for_task=for_task)
    assert cast(SimpleNamespace, taken).number == given
    if given != 1:
        waiting = await prestarted.take(image, for_task=True)
        assert cast(SimpleNamespace, waiting).number == 1
