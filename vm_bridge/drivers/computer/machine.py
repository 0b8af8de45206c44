"""A computer as one lease sees it."""

from typing import Protocol

from protocol.actions.tools import Tool
from protocol.actions.types import Action
from protocol.blobs import BlobRef
from protocol.trajectory.observations import MachineSnapshot, Observation, Transition, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.computer.driver import ComputerDriver
from vm_bridge.drivers.computer.machine_io import GuestFiles, GuestIO, GuestTerminals
from vm_bridge.drivers.task_parameters import parse_image_format, parse_mcp_servers, parse_screen_size
from vm_bridge.errors import UnsupportedAction, UnsupportedTask
from vm_bridge.machine import Capabilities, ExpertSuggestion
from vm_bridge.machine_io import ScreenTexts
from vm_bridge.suites import evaluate_task, find_suite
from vm_bridge.suites.harbor import HarborSuite


class SandboxController(Protocol):
    """Controls the processes of a computer. Both calls raise StaleLease if the lease of that token has ended."""

    async def prepare(self, fencing_token: int, task: Task) -> None:
        """Reset the sandbox to its image's initial state, for a task."""
        ...

    async def restore(self, fencing_token: int, snapshot: MachineSnapshot) -> None:
        """Restore an earlier state. Raises CannotRestore."""
        ...


class ComputerMachine:
    """A computer seen through one lease."""

    def __init__(self, computer: ComputerDriver, fence: int, controller: SandboxController) -> None:
        self._computer, self._fence, self._controller = computer, fence, controller

    @property
    def capabilities(self) -> Capabilities:
        return self._computer.capabilities

    async def prepare(self, task: Task) -> Observation:
        # Reject an invalid task before anything is discarded.
        suite = find_suite(self._computer.suites, task)
        if isinstance(suite, HarborSuite):
            suite.check(task)
        elif suite is None and self._computer.able.needs_suite:
            raise UnsupportedTask("these machines do tasks from folders of Harbor only")
        parse_mcp_servers(task), parse_image_format(task), parse_screen_size(task)
        await self._controller.prepare(self._fence, task)
        return await self._computer.set_up(self._fence, task)

    async def snapshot(self) -> MachineSnapshot:
        if not self.capabilities.snapshots:
            raise UnsupportedAction("this machine cannot go back to an earlier state")
        return await self._computer.snapshot(self._fence)

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        if not self.capabilities.snapshots:
            raise UnsupportedAction("this machine cannot go back to an earlier state")
        await self._controller.restore(self._fence, snapshot)
        return await self.observe(settle=True)

    async def observe(self, *, settle: bool = False) -> Observation:
        return await self._computer.observe(self._fence, settle=settle)

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
        wanted = snapshot and self.capabilities.snapshots
        return await self._computer.perform(
            self._fence,
            command_id,
            action,
            settle=settle,
            snapshot=wanted,
            expected=expected,
            wait_for_timers=wait_for_timers,
        )

    async def skip_settle(self) -> None:
        await self._computer.skip_settle(self._fence)

    async def evaluate(self, *, answer: str = "") -> Verdict:
        computer = self._computer
        return await evaluate_task(computer.suites, computer.task, lambda: computer.environment(self._fence), answer)

    async def suggest_expert_action(self) -> ExpertSuggestion | None:
        task = self._computer.task
        suite = None if task is None else find_suite(self._computer.suites, task)
        if task is None or not isinstance(suite, HarborSuite):
            return None
        return suite.suggest(task, self._computer.history.commands())

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

    async def screen_texts(self) -> ScreenTexts:
        return await GuestIO(self._computer.link, self._fence).call("windows.titles", ScreenTexts)

    async def tools(self) -> tuple[Tool, ...]:
        return await self._computer.tools(self._fence)

    async def stage_upload(self, data: bytes, media_type: str) -> BlobRef:
        return self._computer.file_staging.keep(data, media_type)

    async def close(self) -> None:
        """Does nothing: there are no resources to release."""
