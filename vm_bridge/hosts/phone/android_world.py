"""Sets tasks of AndroidWorld up and scores them with a lab's copy of its package: a program behind walls, one a task.

The program reaches one phone through a gateway to the adb server, and no network.
"""

import asyncio
import json
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from protocol.actions.types import Action
from protocol.blobs import BlobRef
from protocol.trajectory.observations import Observation, Transition, Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.phone.adb import AdbRequestFailed, AdbServer, Device
from vm_bridge.drivers.phone.adb_gateway import AdbGateway
from vm_bridge.drivers.phone.android_world_tasks import AndroidWorldTask, parse_android_world, reject_shell
from vm_bridge.drivers.remote.driver import RemoteDriver, RemoteMachine
from vm_bridge.errors import MachineGone, UnsupportedTask, VerifierFailed
from vm_bridge.hosts.lifecycle import OperationGroup
from vm_bridge.hosts.phone import android_world_program as program
from vm_bridge.isolation.bubblewrap import MIB
from vm_bridge.isolation.cgroups import ControlGroups, ResourceLimits
from vm_bridge.isolation.isolated_program import IsolatedProgram, end_isolated, isolated_command, start_isolated
from vm_bridge.isolation.start_errors import explain_start_failure
from vm_bridge.isolation.users import user_free
from vm_bridge.machine import Capabilities

RUN_TIMEOUT_SECONDS = 300.0
"""Longest that setting up, or scoring, may take."""
TEAR_DOWN_TIMEOUT_SECONDS = 60.0
MAX_ANSWER_BYTES = 16 * MIB
ERROR_LINES = 20
HOME, VENV, GATEWAY = "/home/user", "/run/android-world", "/run/adb"
SOCKET = "adb.sock"
WRITABLE = {HOME: 512 * MIB, "/tmp": 512 * MIB, "/run": MIB, "/dev/shm": 64 * MIB}  # noqa: S108 - in memory
"""What can be written, in memory, and how much (bytes)."""
RESOURCE_LIMITS = ResourceLimits(cores=2, memory=4 * 1024 * MIB, processes=256)


class ProgramFailed(Exception):
    """The program ended, or did not answer in time; the text is for people."""


class AndroidWorldProgram:
    """A running program; it ends with this process."""

    def __init__(self, python: Path, gateway: Path | None, serial: str) -> None:
        self._python, self._gateway, self._serial = python, gateway, serial
        self._user = user_free()
        self._process: asyncio.subprocess.Process | None = None
        self._groups: ControlGroups | None = None
        self._errors: deque[str] = deque(maxlen=ERROR_LINES)
        self._reading: asyncio.Task[None] | None = None
        self._asking = asyncio.Lock()
        self._number = 0
        """Of the last question."""

    async def start(self) -> None:
        """Raises MachineGone where bubblewrap is missing."""
        self._groups = ControlGroups.create(f"android-world-{os.urandom(6).hex()}", RESOURCE_LIMITS)
        self._process = await start_isolated(self._command, self._groups, MAX_ANSWER_BYTES)
        self._reading = asyncio.create_task(self._keep_errors())

    async def ask(self, question: Mapping[str, Any], timeout: float = RUN_TIMEOUT_SECONDS) -> dict[str, Any]:
        """What it answers, one question after another. Raises ProgramFailed, and ends a program that stays silent."""
        async with self._asking:
            process, self._number = self._process, self._number + 1
            if process is None or process.stdin is None or process.stdout is None:
                raise ProgramFailed("it has ended")
            try:
                async with asyncio.timeout(timeout):
                    process.stdin.write(json.dumps({**question, "number": self._number}).encode() + b"\n")
                    await process.stdin.drain()
                    return await self._read_answer(process.stdout)
            except TimeoutError:
                await self.end()
                raise ProgramFailed(f"it did not answer within {timeout:g} s") from None
            except (ValueError, ConnectionError):
                await self.end()
                errors = "\n".join(self._errors)
                raise ProgramFailed(explain_start_failure(errors) or "it said nothing") from None

    async def _read_answer(self, stream: asyncio.StreamReader) -> dict[str, Any]:
        """The answer to the last question; those to questions that were given up are passed over. Raises ValueError."""
        while True:
            answer = json.loads(await stream.readline())
            if not isinstance(answer, dict):
                raise ValueError("an answer is an object")
            if answer.pop("number", None) == self._number:
                return answer

    async def end(self) -> None:
        """End it with all that it started. Idempotent."""
        process, self._process = self._process, None
        if process is not None:
            await end_isolated(process)
        if self._reading is not None:
            await self._reading
        if self._groups is not None:
            self._groups.remove()
            self._groups = None

    async def _keep_errors(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        with suppress(ValueError):  # a line without an end
            while line := await self._process.stderr.readline():
                self._errors.append(line.decode("utf-8", "replace").strip()[:500])

    def _command(self, seccomp: int) -> list[str]:
        gateway = [] if self._gateway is None else ["--ro-bind", str(self._gateway), GATEWAY]
        isolated = IsolatedProgram(
            python=self._python,
            venv=VENV,
            program=program.__file__,
            user=self._user,
            writable=WRITABLE,
            environment=self._environment,
            mounts=[*gateway, "--chdir", HOME],
        )
        return isolated_command(isolated, seccomp)

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "HOME": HOME,
            "USER": "user",
            "PATH": f"{VENV}/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "MPLCONFIGDIR": HOME,
            "PYTHONDONTWRITEBYTECODE": "1",
            "ANDROID_SERIAL": self._serial,
            "ADB_SERVER_SOCKET": f"localfilesystem:{GATEWAY}/{SOCKET}",
        }


@dataclass(slots=True)
class _Work:
    """A task that is set up."""

    program: AndroidWorldProgram
    gateway: AdbGateway
    folder: Path
    task: AndroidWorldTask

    async def end(self) -> None:
        await self.program.end()
        await self.gateway.close()
        await asyncio.to_thread(shutil.rmtree, self.folder, ignore_errors=True)


@dataclass(slots=True)
class AndroidWorldEvaluator:
    """Of one phone, which this server of adb knows."""

    adb: AdbServer
    serial: str
    python: Path | None
    """The interpreter that has AndroidWorld's package; None where the operator named none."""
    _work: _Work | None = None
    _ongoing: OperationGroup = field(default_factory=OperationGroup)

    def check_supported(self, task: Task | None) -> AndroidWorldTask | None:
        """The task, None where it is none of AndroidWorld. Raises UnsupportedTask; changes nothing."""
        found = parse_android_world(task)
        if found is not None and (self.python is None or not self.python.exists()):
            raise UnsupportedTask("AndroidWorld is not installed on this host (PILOTHOUSE_ANDROID_WORLD_PYTHON)")
        return found

    async def initialize(self, task: AndroidWorldTask, goal: str) -> None:
        """Restore the snapshots of the task's apps and make its start state, by the package itself.

        Raises UnsupportedTask where the package has no such task with this goal, and MachineGone where a step failed:
        then the phone's state is unknown.
        """
        await self.forget()
        assert self.python is not None
        async with self._ongoing.work():
            work = self._work = await self._start(task)
            try:
                answer = await work.program.ask({"do": "initialize", "goal": goal, **task.model_dump()})
            except ProgramFailed as error:
                answer = {"failed": str(error)}
        if "unsupported" in answer:
            await self.forget()
            raise UnsupportedTask(f"AndroidWorld: {answer['unsupported']}")
        if "failed" in answer:
            await self.forget()
            raise MachineGone(f"AndroidWorld could not set {task.task} up: {answer['failed']}")

    async def score(self, answer: str) -> Verdict:
        """The package's own reward for the current state. Raises VerifierFailed if it cannot be determined."""
        work = self._work
        if work is None:
            raise VerifierFailed("the task is not set up any more: the bridge was started meanwhile")
        lost = work.gateway.lost
        try:
            async with self._ongoing.work():
                reply = await work.program.ask({"do": "score", "answer": answer})
        except ProgramFailed as error:
            raise VerifierFailed(f"AndroidWorld: {error}") from None
        if "score" in reply and "broken" not in reply:
            score = min(1.0, max(0.0, float(reply["score"])))
            return Verdict(success=score == 1.0, score=score, reason=work.task.task)
        if "score" not in reply or work.gateway.lost != lost or not await self._answers():
            raise VerifierFailed(f"AndroidWorld: {reply.get('broken') or reply.get('failed')}")
        return Verdict(success=False, score=0.0, reason=f"{work.task.task}: the attempt broke it: {reply['broken']}")

    async def tear_down(self) -> None:
        """Let the package undo the task, as far as it can, and forget it."""
        if self._work is not None:
            with suppress(ProgramFailed, MachineGone):
                async with self._ongoing.work():
                    await self._work.program.ask({"do": "tear_down"}, TEAR_DOWN_TIMEOUT_SECONDS)
        await self.forget()

    async def forget(self) -> None:
        """End what is being done, and the program. Idempotent."""
        await self._ongoing.end()
        work, self._work = self._work, None
        if work is not None:
            await work.end()

    async def _start(self, task: AndroidWorldTask) -> _Work:
        assert self.python is not None
        folder = await asyncio.to_thread(_make_folder)
        gateway = AdbGateway(self.adb, self.serial)
        work = _Work(AndroidWorldProgram(self.python, folder, self.serial), gateway, folder, task)
        try:
            await gateway.open(folder / SOCKET)
            await work.program.start()
        except BaseException:
            await work.end()
            raise
        return work

    async def _answers(self) -> bool:
        try:
            return (await Device(self.adb, self.serial).run("true")).code == 0
        except AdbRequestFailed:
            return False


def _make_folder() -> Path:
    """A new folder that the program's user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="pilothouse-android-world-"))
    folder.chmod(0o711)
    return folder


class PhoneMachine(RemoteMachine):
    """A phone seen through one lease. AndroidWorld's tasks are done on its screen alone, and scored by the package."""

    def __init__(
        self, driver: RemoteDriver, fence: int, capabilities: Capabilities, evaluator: AndroidWorldEvaluator
    ) -> None:
        super().__init__(driver, fence, capabilities)
        self._evaluator = evaluator

    async def prepare(self, task: Task) -> Observation:
        self._evaluator.check_supported(task)  # refused before anything is thrown away
        return await super().prepare(task)

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
        reject_shell(self._driver.task, action)
        return await self._driver.perform(self._fence, command_id, action, settle=settle, expected=expected)

    async def evaluate(self, *, answer: str = "") -> Verdict:
        if parse_android_world(self._driver.task) is None:
            return await super().evaluate(answer=answer)
        await self._driver.admit(self._fence)
        return await self._evaluator.score(answer)
