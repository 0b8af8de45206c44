"""A painted machine as one lease sees it."""

from dataclasses import replace
from typing import TYPE_CHECKING

from vm_bridge.errors import UnknownBlob, UnknownTask, UnsupportedAction
from vm_bridge.machine import Capabilities, ExpertSuggestion, Snapshot
from vm_bridge.simulators.fake.browser import FakeBrowser
from vm_bridge.simulators.fake.machine_io import TOOLS, FakeFiles, FakeTerminals
from vocabulary.actions import Action
from vocabulary.blobs import BlobRef
from vocabulary.observations import Observation, Transition, Verdict
from vocabulary.tasks import Task
from vocabulary.tools import Tool

if TYPE_CHECKING:
    from vm_bridge.simulators.fake.sandbox import FakeSandbox

SUITE = "fake"
"""The suite this driver knows: `type` wants `parameters["text"]` typed, `answer` wants it as the answer."""


class FakeMachine:
    """`FakeSandbox` seen through one lease."""

    def __init__(self, sandbox: "FakeSandbox", fencing_token: int) -> None:
        self._sandbox = sandbox
        self._token = fencing_token

    @property
    def capabilities(self) -> Capabilities:
        return self._sandbox.capabilities

    async def prepare(self, task: Task) -> Observation:
        self._sandbox.admit(self._token)
        if task.suite is not None and (task.suite != SUITE or task.name not in ("type", "answer")):
            raise UnknownTask(f"no task {task.name} in suite {task.suite}")
        self._sandbox.restart()
        self._sandbox.task = task
        if self._sandbox.browser is not None:
            self._sandbox.browser = FakeBrowser.started(task)
        return await self._sandbox.look(settle=True)

    async def observe(self, *, settle: bool = False) -> Observation:
        self._sandbox.admit(self._token)
        return await self._sandbox.observe(settle=settle)

    async def perform(self, command_id: str, action: Action, *, settle: bool = True) -> Transition:
        self._sandbox.admit(self._token)
        return await self._sandbox.perform(command_id, action, settle=settle)

    async def snapshot(self) -> Snapshot:
        self._sandbox.admit(self._token)
        return self._sandbox.snapshot()

    async def restore(self, snapshot: Snapshot) -> Observation:
        self._sandbox.admit(self._token)
        return await self._sandbox.restore(snapshot)

    async def skip_settle(self) -> None:
        self._sandbox.admit(self._token)
        self._sandbox.skip_settle()

    async def evaluate(self, *, answer: str = "") -> Verdict:
        self._sandbox.admit(self._token)
        task = self._sandbox.task
        if task is None or task.suite is None:
            return Verdict(success=None, score=0.0, reason="nothing can judge this task")
        given = {"type": self._sandbox.typed, "answer": answer}[task.name or ""]
        solved = given == task.parameters.get("text")
        return Verdict(success=solved, score=float(solved), reason=f"got {given!r}")

    async def suggest_expert_action(self) -> ExpertSuggestion | None:
        self._sandbox.admit(self._token)
        browser = self._sandbox.browser
        return None if browser is None else browser.suggest_expert_action()

    async def set_time_scale(self, rate: float) -> None:
        self._sandbox.admit(self._token)
        if self._sandbox.browser is None:
            raise UnsupportedAction("this machine's time is everybody's")
        self._sandbox.browser = replace(self._sandbox.browser, pace=rate)

    async def blob(self, ref: BlobRef) -> bytes:
        self._sandbox.admit(self._token)
        data = self._sandbox.blobs.get(ref.sha256) or self._sandbox.inside.file_staging.find(ref)
        if data is None:
            raise UnknownBlob(f"blob {ref.sha256} is no longer kept")
        return data

    @property
    def files(self) -> FakeFiles:
        self._sandbox.admit(self._token)
        return FakeFiles(self._sandbox.inside)

    @property
    def terminals(self) -> FakeTerminals:
        self._sandbox.admit(self._token)
        return FakeTerminals(self._sandbox.inside)

    async def tools(self) -> tuple[Tool, ...]:
        self._sandbox.admit(self._token)
        return TOOLS

    async def stage_upload(self, data: bytes, media_type: str) -> BlobRef:
        return self._sandbox.inside.file_staging.keep(data, media_type)

    async def close(self) -> None:
        """Nothing is held."""
