"""A browser seen through one lease."""

from protocol.actions.tools import Tool
from protocol.actions.types import Action
from protocol.blobs import BlobRef
from protocol.trajectory.observations import MachineSnapshot, Observation, Transition, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.browser.driver import BrowserDriver
from vm_bridge.errors import UnsupportedAction
from vm_bridge.machine import Capabilities, ExpertSuggestion
from vm_bridge.machine_io import Files, ScreenTexts, Terminals
from vm_bridge.suites.parts import read_words


class BrowserMachine:
    """See `Machine`."""

    def __init__(self, browser: BrowserDriver, fence: int) -> None:
        self._browser, self._fence = browser, fence

    @property
    def capabilities(self) -> Capabilities:
        return self._browser.capabilities

    async def prepare(self, task: Task) -> Observation:
        return await self._browser.prepare(self._fence, task)

    async def observe(self, *, settle: bool = False) -> Observation:
        return await self._browser.observe(self._fence, settle=settle)

    async def perform(
        self,
        command_id: str,
        action: Action,
        *,
        settle: bool = True,
        snapshot: bool = False,
        expected: BlobRef | None = None,
        wait_for_timers: bool = True,
    ) -> Transition:
        return await self._browser.perform(self._fence, command_id, action, settle=settle, snapshot=snapshot)

    async def snapshot(self) -> MachineSnapshot:
        return await self._browser.snapshot(self._fence)

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        return await self._browser.restore(self._fence, snapshot)

    async def skip_settle(self) -> None:
        await self._browser.skip_settle(self._fence)

    async def evaluate(self, *, answer: str = "") -> Verdict:
        return await self._browser.evaluate(self._fence, answer)

    async def suggest_expert_action(self) -> ExpertSuggestion | None:
        return await self._browser.suggest_expert_action(self._fence)

    async def set_time_scale(self, rate: float) -> None:
        await self._browser.set_time_scale(self._fence, rate)

    async def blob(self, ref: BlobRef) -> bytes:
        return self._browser.read_blob(ref)

    @property
    def files(self) -> Files:
        raise UnsupportedAction("a browser has no files")

    @property
    def terminals(self) -> Terminals:
        raise UnsupportedAction("a browser has no interactive terminals")

    async def screen_texts(self) -> ScreenTexts:
        return ScreenTexts(words=await self._browser.read(self._fence, read_words))

    async def tools(self) -> tuple[Tool, ...]:
        return ()

    async def stage_upload(self, data: bytes, media_type: str) -> BlobRef:
        return await self._browser.stage_upload(self._fence, data, media_type)

    async def close(self) -> None:
        """Does nothing: there are no resources to release."""
