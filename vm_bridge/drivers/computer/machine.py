"""A computer as one lease sees it: every call passes the fence first."""

from protocol.actions.tools import Tool
from protocol.actions.types import Action
from protocol.blobs import BlobRef
from protocol.trajectory.observations import MachineSnapshot, Observation, Transition, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.computer.driver import ComputerDriver, SandboxController
from vm_bridge.drivers.computer.machine_io import GuestFiles, GuestTerminals
from vm_bridge.drivers.task_parameters import parse_image_format, parse_mcp_servers, parse_screen_size
from vm_bridge.errors import (
    UnsupportedAction,
)
from vm_bridge.machine import Capabilities, ExpertSuggestion
from vm_bridge.suites import evaluate_task, find_suite
from vm_bridge.suites.harbor import check_task, suggest_solution


class ComputerMachine:
    """A computer seen through one lease."""

    def __init__(self, computer: ComputerDriver, fence: int, controller: SandboxController) -> None:
        self._computer, self._fence, self._controller = computer, fence, controller

    @property
    def capabilities(self) -> Capabilities:
        return self._computer.capabilities

    async def prepare(self, task: Task) -> Observation:
        # What cannot be is refused before anything is thrown away.
        check_task(task)
        (
            find_suite(self._computer.suites, task),
            parse_mcp_servers(task),
            parse_image_format(task),
            parse_screen_size(task),
        )
        await self._controller.prepare(self._fence, task)
        return await self._computer.set_up(self._fence, task)

    async def snapshot(self) -> MachineSnapshot:
        return await self._computer.snapshot(self._fence)

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        await self._controller.restore(self._fence, snapshot)
        return await self.observe(settle=True)

    async def observe(self, *, settle: bool = False) -> Observation:
        return await self._computer.observe(self._fence, settle=settle)

    async def perform(
        self, command_id: str, action: Action, *, settle: bool = True, snapshot: bool = False
    ) -> Transition:
        wanted = snapshot and self.capabilities.snapshots
        return await self._computer.perform(self._fence, command_id, action, settle=settle, snapshot=wanted)

    async def skip_settle(self) -> None:
        await self._computer.skip_settle(self._fence)

    async def evaluate(self, *, answer: str = "") -> Verdict:
        computer = self._computer
        return await evaluate_task(computer.suites, computer.task, lambda: computer.environment(self._fence), answer)

    async def suggest_expert_action(self) -> ExpertSuggestion | None:
        return suggest_solution(self._computer.task, self._computer.history.commands())

    async def set_time_scale(self, rate: float) -> None:
        raise UnsupportedAction("a computer's time is everybody's")

    async def blob(self, ref: BlobRef) -> bytes:
        return self._computer.read_blob(ref)

    @property
    def files(self) -> GuestFiles:
        return GuestFiles(self._computer.link, self._fence)

    @property
    def terminals(self) -> GuestTerminals:
        return GuestTerminals(self._computer.link, self._fence)

    async def tools(self) -> tuple[Tool, ...]:
        return await self._computer.inside(self._fence).tools()

    async def stage_upload(self, data: bytes, media_type: str) -> BlobRef:
        return self._computer.file_staging.keep(data, media_type)

    async def close(self) -> None:
        """Nothing is held."""
