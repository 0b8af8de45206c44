"""A desktop with applications whose tasks may be files of OSWorld: set up and judged by OSWorld's own package."""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from protocol.trajectory.observations import Observation, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.computer.driver import ComputerDriver
from vm_bridge.drivers.computer.machine import ComputerMachine
from vm_bridge.drivers.osworld.task_files import (
    TaskFile,
    list_absent_applications,
    parse_task_file,
    raise_unsupported,
)
from vm_bridge.errors import MachineGone
from vm_bridge.guest.common.relay import StreamPair
from vm_bridge.guest.osworld import PORT
from vm_bridge.hosts.local.prestarted_sandboxes import PrestartedSandboxes
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.hosts.osworld.evaluator import OSWorldEvaluator
from vm_bridge.hosts.osworld.evaluator_settings import EvaluatorSettings
from vm_bridge.hosts.process_sandbox import PreparedImage
from vm_bridge.machine import Capabilities, Machine
from vm_bridge.network.sandbox_network import SandboxNetwork
from vm_bridge.suites import Suite

INTERFACE_SECONDS, INTERFACE_POLL_SECONDS = 20.0, 0.02
"""How long the in-guest interface may take to listen after a start."""


class SandboxPorts:
    """The ports of a sandbox, whose numbers are those that OSWorld's package knows."""

    def __init__(self, sandbox: LocalSandbox) -> None:
        self._sandbox = sandbox

    async def connect(self, port: int) -> StreamPair:
        """See `GuestConnector.connect`."""
        return await asyncio.open_connection(sock=await self._sandbox.dial(port))


class ApplicationSandbox(LocalSandbox):
    """One desktop with its evaluator, whose short-lived folders lie below `evaluations`."""

    def __init__(
        self,
        name: str,
        image: PreparedImage,
        folder: Path,
        prestarted: PrestartedSandboxes,
        suites: Mapping[str, Suite],
        gate: SandboxNetwork,
        settings: EvaluatorSettings,
        evaluations: Path,
    ) -> None:
        super().__init__(name, image, folder, prestarted, suites, gate)
        self._ports = SandboxPorts(self)
        self.evaluator = OSWorldEvaluator(name, self._ports, settings, evaluations)

    @property
    def capabilities(self) -> Capabilities:
        return without_snapshots(super().capabilities)

    def bind(self, fencing_token: int) -> Machine:
        return ApplicationMachine(self._computer, fencing_token, self)

    async def reset(self) -> None:
        await self.evaluator.end()  # what the lease before still does must not meet the next one
        await super().reset()

    async def wait_until_ready(self) -> None:
        """Returns when the in-guest interface takes connections. Raises MachineGone."""
        ends = time.monotonic() + INTERFACE_SECONDS
        while True:
            try:
                _, writer = await self._ports.connect(PORT)
            except (OSError, TimeoutError) as error:
                if time.monotonic() > ends:
                    raise MachineGone(f"the in-guest interface of {self.id} does not answer") from error
                await asyncio.sleep(INTERFACE_POLL_SECONDS)
                continue
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            return

    async def set_up(self, file: TaskFile) -> None:
        """Do a task file's `config`. Raises MachineGone where a step failed."""
        async with self._changing:
            await self.wait_until_ready()
            await self.evaluator.set_up(file, self._size)

    async def judge(self, file: TaskFile, answer: str) -> Verdict:
        """What a task file's evaluator says of the present state. Raises VerifierFailed."""
        return await self.evaluator.judge(file, self._size, answer)

    async def _put_back(self, task: Task | None) -> None:
        await self.evaluator.forget()
        await super()._put_back(task)

    async def _end(self) -> None:
        await self.evaluator.forget()
        await super()._end()

    @property
    def _size(self) -> tuple[int, int]:
        return self.capabilities.width, self.capabilities.height


class ApplicationMachine(ComputerMachine):
    """Such a desktop seen through one lease. It cannot go back to an earlier state: a file's set-up is not replayed."""

    def __init__(self, computer: ComputerDriver, fence: int, sandbox: ApplicationSandbox) -> None:
        super().__init__(computer, fence, sandbox)
        self._sandbox = sandbox

    @property
    def capabilities(self) -> Capabilities:
        return without_snapshots(super().capabilities)

    async def prepare(self, task: Task) -> Observation:
        """See `Machine.prepare`. What of a task file cannot be done is refused before anything changes."""
        file = parse_task_file(task)
        if file is None:
            return await super().prepare(task)
        raise_unsupported(list_absent_applications(file))
        self._sandbox.evaluator.check_supported(file)
        await super().prepare(task)
        await self._sandbox.set_up(file)
        return await self.observe(settle=True)

    async def evaluate(self, *, answer: str = "") -> Verdict:
        file = parse_task_file(self._computer.task)
        if file is None:
            return await super().evaluate(answer=answer)
        await self._computer.environment(self._fence).run(("true",))  # refuses the token of an ended lease
        return await self._sandbox.judge(file, answer)


def without_snapshots(capabilities: Capabilities) -> Capabilities:
    """The same without a way back to earlier states."""
    return capabilities.model_copy(update={"snapshots": False})
