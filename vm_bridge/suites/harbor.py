"""Tasks from Harbor's folders: built, solved and judged inside the machine by what the folder brings along."""

import base64
import gzip
import hashlib
import io
import json
import math
import shlex
import tarfile
from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from protocol.actions.inputs import MAX_TEXT
from protocol.actions.types import Finish, RunCommand
from protocol.harbor.dockerfile import BuildPlan, Copy
from protocol.harbor.errors import FolderError
from protocol.harbor.task_folders import HarborTask, harbor_task
from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Language, Task
from vm_bridge.errors import InvalidAction, UnknownTask, UnsupportedTask, VerifierFailed
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.suites import SandboxEnvironment

REWARD_JSON, REWARD_TEXT = "/logs/verifier/reward.json", "/logs/verifier/reward.txt"
FOLDER_SECONDS = 60.0
"""Longest that files may take to be put in place."""
PART_CHARACTERS = 48_000
"""Characters of an archive that are written at once."""
MAX_REASON_CHARACTERS = 2_000
CLEAN_SCRIPT = "find /tests /logs /solution -mindepth 1 -delete && mkdir -p /logs/verifier /logs/agent /logs/artifacts"


@runtime_checkable
class ProcessEnvironment(Protocol):
    """The inside of a machine that can end what an attempt left running."""

    async def mark_processes(self) -> None:
        """The attempt begins: what runs now is the machine's own."""
        ...

    async def end_processes(self) -> None:
        """End what began since the mark. Raises InvalidAction where something does not end."""
        ...


class HarborSuite:
    """Implements `Suite`; a task's folder is in its parameters, so it offers none itself."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """None: folders bring the tasks."""
        return ()

    def make(
        self,
        name: str,
        *,
        seed: int = 0,
        level: int = 1,
        language: Language = "en",
        size: tuple[int, int] | None = None,
    ) -> Task:
        """Raises UnknownTask."""
        raise UnknownTask(f"tasks of Harbor come from folders, so there is none called {name}")

    def check(self, task: Task) -> None:
        """Raises UnsupportedTask for a folder that these machines do not play."""
        _read(task)

    def suggest(self, task: Task, commands: tuple[str, ...]) -> ExpertSuggestion | None:
        """The folder's own solution while none of the `commands` so far was it, then the end; None where there is none.

        Raises UnsupportedTask.
        """
        harbor, plan = _read(task)
        return suggest_command(harbor, lambda files: _solution_command(harbor, plan, files), commands)

    async def prepare(self, task: Task, environment: SandboxEnvironment) -> None:
        """Do what the Dockerfile asks for. Raises UnsupportedTask where a command of it fails."""
        harbor, plan = _read(task)
        await _run(environment, plan, ("bash", "-c", CLEAN_SCRIPT), FOLDER_SECONDS)
        context = harbor.folder("environment")
        for step in plan.steps:
            if isinstance(step, Copy):
                placed = {place.lstrip("/"): context[name] for name, place in step.files.items()}
                await _unpack(environment, "/", placed)
            else:
                command = _in_folder(step.workdir, step.env, step.argv)
                await _run(environment, plan, command, harbor.build_seconds)
        await _run(environment, plan, ("mkdir", "-p", plan.workdir), FOLDER_SECONDS)
        if isinstance(environment, ProcessEnvironment) and not harbor.keep_processes:
            await environment.mark_processes()

    async def evaluate(self, task: Task, environment: SandboxEnvironment, answer: str) -> Verdict:
        """Run the folder's tests and read the reward that they write.

        What the attempt left running is ended before, unless the folder wants it kept. Raises VerifierFailed where the
        tests write no reward, or what is none: that is no failure of the policy.
        """
        harbor, plan = _read(task)
        tests = harbor.folder("tests")
        await end_processes(environment, harbor)
        try:
            await _run(environment, plan, ("bash", "-c", CLEAN_SCRIPT), FOLDER_SECONDS)
            await _unpack(environment, "/tests", tests)
            if answer:
                await environment.write("/logs/agent/answer.txt", answer)
        except (InvalidAction, UnsupportedTask) as error:
            raise VerifierFailed(f"the tests could not be put in place: {error}") from None
        command = _in_folder(plan.workdir, plan.env | harbor.verifier_env, ("bash", "/tests/test.sh"))
        return await run_tests(environment, command, harbor, tests)


async def end_processes(environment: SandboxEnvironment, harbor: HarborTask) -> None:
    """End what the attempt left running, unless the folder wants it kept. Raises VerifierFailed."""
    if harbor.keep_processes or not isinstance(environment, ProcessEnvironment):
        return
    try:
        await environment.end_processes()
    except InvalidAction as error:
        raise VerifierFailed(f"the tests could not begin: {error}") from None


async def run_tests(
    environment: SandboxEnvironment, command: tuple[str, ...], harbor: HarborTask, tests: Mapping[str, bytes]
) -> Verdict:
    """What the tests say that this command runs. Raises VerifierFailed."""
    ran = await environment.run(command, timeout=harbor.verifier_seconds)
    if ran.code is None:
        raise VerifierFailed(f"the tests did not end within {harbor.verifier_seconds:g} s")
    reward = await _read_reward(environment, ran.output)
    return Verdict(
        success=reward >= 1,
        score=min(1.0, max(0.0, reward)),
        reason="" if reward >= 1 else ran.output[-MAX_REASON_CHARACTERS:],
        verifier=_checksum(tests),
    )


def suggest_command(
    harbor: HarborTask, command: Callable[[Mapping[str, bytes]], str], commands: tuple[str, ...]
) -> ExpertSuggestion | None:
    """The command that the solution's files make, unless it is one of `commands`, then the end; None where the folder
    has no solution."""
    files = harbor.folder("solution")
    if "solve.sh" not in files:
        return None
    text = command(files)
    if len(text) > MAX_TEXT:
        return None
    if text in commands:
        return ExpertSuggestion(thought="The solution has run.", action=Finish())
    run = RunCommand(command=text, timeout=harbor.agent_seconds)
    return ExpertSuggestion(thought="I run the solution that the task brings along.", action=run)


def _solution_command(harbor: HarborTask, plan: BuildPlan, files: Mapping[str, bytes]) -> str:
    """One command line that runs the solution: its text, or where it has several files, an archive of them."""
    variables = "".join(
        f"export {name}={shlex.quote(value)}\n" for name, value in (plan.env | harbor.solution_env).items()
    )
    begin = f"{variables}cd {shlex.quote(plan.workdir)}\n"
    if len(files) == 1:
        return begin + files["solve.sh"].decode()
    return f"{unpack_command(files)}\n{begin}bash /solution/solve.sh"


def unpack_command(files: Mapping[str, bytes]) -> str:
    """A command line that puts files into /solution."""
    archive = base64.b64encode(_archive(files)).decode()
    return f"printf %s {archive} | base64 -d | tar -xz -C /solution"


def _read(task: Task) -> tuple[HarborTask, BuildPlan]:
    """Raises UnsupportedTask."""
    harbor = read_harbor(task)
    try:
        return harbor, harbor.build_plan()
    except FolderError as error:
        raise UnsupportedTask(f"{error.code}: {error}") from None


def read_harbor(task: Task) -> HarborTask:
    """What the task's folder brings. Raises UnsupportedTask."""
    try:
        harbor = harbor_task(task)
        if harbor is None:
            raise UnsupportedTask("the task came from no folder of Harbor")
        return harbor
    except FolderError as error:
        raise UnsupportedTask(f"{error.code}: {error}") from None


def _in_folder(folder: str, variables: Mapping[str, str], argv: tuple[str, ...]) -> tuple[str, ...]:
    """A command that runs in a folder, which is made, with these variables."""
    make = ("bash", "-c", 'mkdir -p "$0" && cd "$0" && exec env "$@"', folder)
    return (*make, *(f"{name}={value}" for name, value in variables.items()), *argv)


async def _run(environment: SandboxEnvironment, plan: BuildPlan, argv: tuple[str, ...], seconds: float) -> None:
    """Raises UnsupportedTask where the command fails or does not end."""
    ran = await environment.run(argv, timeout=seconds)
    if ran.code is None:
        raise UnsupportedTask(f"harbor_build: a command of the {plan.platform}'s set-up did not end in {seconds:g} s")
    if ran.code != 0:
        raise UnsupportedTask(f"harbor_build: exit status {ran.code}: {ran.output[-MAX_REASON_CHARACTERS:]}")


def _archive(files: Mapping[str, bytes]) -> bytes:
    """A compressed archive of files, the same for the same files; none may be executed."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), mtime=0)


async def _unpack(environment: SandboxEnvironment, target: str, files: Mapping[str, bytes]) -> None:
    """Put files in place. Raises UnsupportedTask, InvalidAction."""
    text = base64.b64encode(_archive(files)).decode()
    folder = "/run/harbor-files"
    for number, start in enumerate(range(0, len(text), PART_CHARACTERS)):
        await environment.write(f"{folder}/part-{number:04}", text[start : start + PART_CHARACTERS])
    script = 'set -o pipefail; mkdir -p "$1" && cat "$0"/part-* | base64 -d | tar -xz --no-same-owner -C "$1"'
    ran = await environment.run(("bash", "-c", script, folder, target), timeout=FOLDER_SECONDS)
    await environment.run(("rm", "-rf", folder), timeout=FOLDER_SECONDS)
    if ran.code != 0:
        raise UnsupportedTask(f"harbor_build: files could not be put in place: {ran.output[-MAX_REASON_CHARACTERS:]}")


async def _read_reward(environment: SandboxEnvironment, output: str) -> float:
    """The reward; `reward.json` comes first, as in Harbor's runner. Raises VerifierFailed."""
    text = await environment.read(REWARD_JSON)
    source = text if text is not None else await environment.read(REWARD_TEXT)
    if source is None:
        raise VerifierFailed(f"the tests wrote no reward: {output[-MAX_REASON_CHARACTERS:]}")
    try:
        value = json.loads(source) if text is not None else float(source)
    except (ValueError, RecursionError):
        raise VerifierFailed("the reward that the tests wrote cannot be read") from None
    if isinstance(value, dict):
        value = value.get("reward", next(iter(value.values())) if len(value) == 1 else None)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise VerifierFailed("the reward that the tests wrote is no finite number called reward")
    return float(value)


def _checksum(tests: Mapping[str, bytes]) -> str:
    """The sha256 of all that judges."""
    whole = hashlib.sha256()
    for name, data in sorted(tests.items()):
        whole.update(f"{name}\0{len(data)}\0".encode() + data)
    return whole.hexdigest()
