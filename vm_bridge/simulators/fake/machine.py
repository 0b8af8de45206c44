"""A painted machine as one lease sees it."""

from dataclasses import replace

from protocol.actions.tools import Tool
from protocol.actions.types import Action
from protocol.blobs import BlobRef
from protocol.trajectory.observations import MachineSnapshot, Observation, Transition, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.errors import UnknownBlob, UnknownTask, UnsupportedAction
from vm_bridge.machine import Capabilities, ExpertSuggestion
from vm_bridge.machine_io import ScreenTexts
from vm_bridge.simulators.fake.browser import FakeBrowser
from vm_bridge.simulators.fake.computer import FakeComputer
from vm_bridge.simulators.fake.machine_io import TOOLS, FakeFiles, FakeTerminals

SUITE = "fake"
"""The suite this driver knows: `type` wants `parameters["text"]` typed, `answer` wants it as the answer."""


class FakeMachine:
    """A painted computer seen through one lease."""

    def __init__(self, computer: FakeComputer, fencing_token: int) -> None:
        self._computer = computer
        self._token = fencing_token

    @property
    def capabilities(self) -> Capabilities:
        return self._computer.capabilities

    async def prepare(self, task: Task) -> Observation:
        self._computer.admit(self._token)
        if task.suite is not None and (task.suite != SUITE or task.name not in ("type", "answer")):
            raise UnknownTask(f"no task {task.name} in suite {task.suite}")
        self._computer.restart()
        self._computer.task = task
        if self._computer.browser is not None:
            self._computer.browser = FakeBrowser.started(task)
        return await self._computer.look(settle=True)

    async def observe(self, *, settle: bool = False) -> Observation:
        self._computer.admit(self._token)
        return await self._computer.observe(settle=settle)

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
        self._computer.admit(self._token)
        self._computer.expected.append(expected)
        return await self._computer.perform(
            command_id, action, settle=settle, snapshot=snapshot, wait_for_timers=wait_for_timers
        )

    async def snapshot(self) -> MachineSnapshot:
        self._computer.admit(self._token)
        return self._computer.snapshot()

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        self._computer.admit(self._token)
        return await self._computer.restore(snapshot)

    async def skip_settle(self) -> None:
        self._computer.admit(self._token)
        self._computer.skip_settle()

    async def evaluate(self, *, answer: str = "") -> Verdict:
        self._computer.admit(self._token)
        task = self._computer.task
        if task is None or task.suite is None:
            return Verdict(success=None, score=0.0, reason="nothing can judge this task")
        given = {"type": self._computer.typed, "answer": answer}[task.name or ""]
        solved = given == task.parameters.get("text")
        return Verdict(success=solved, score=float(solved), reason=f"got {given!r}")

    async def suggest_expert_action(self) -> ExpertSuggestion | None:
        self._computer.admit(self._token)
        browser = self._computer.browser
        return None if browser is None else browser.suggest_expert_action()

    async def set_time_scale(self, rate: float) -> None:
        self._computer.admit(self._token)
        if self._computer.browser is None:
            raise UnsupportedAction("this machine's time is everybody's")
        self._computer.browser = replace(self._computer.browser, pace=rate)

    async def blob(self, ref: BlobRef) -> bytes:
        self._computer.admit(self._token)
        data = self._computer.blobs.get(ref.sha256) or self._computer.inside.file_staging.find(ref)
        if data is None:
            raise UnknownBlob(f"blob {ref.sha256} is no longer kept")
        return data

    @property
    def files(self) -> FakeFiles:
        self._computer.admit(self._token)
        return FakeFiles(self._computer.inside)

    @property
    def terminals(self) -> FakeTerminals:
        self._computer.admit(self._token)
        return FakeTerminals(self._computer.inside)

    async def screen_texts(self) -> ScreenTexts:
        self._computer.admit(self._token)
        return ScreenTexts(titles=("Painted desktop",), words=("Painted", "buttons"))

    async def tools(self) -> tuple[Tool, ...]:
        self._computer.admit(self._token)
        return TOOLS

    async def stage_upload(self, data: bytes, media_type: str) -> BlobRef:
        return self._computer.inside.file_staging.keep(data, media_type)

    async def close(self) -> None:
        """Nothing is held."""
