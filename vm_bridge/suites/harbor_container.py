"""Tasks from Harbor's folders in containers of their own images: built by an engine, judged inside by their tests."""

import shlex
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from protocol.harbor.dockerfile import CONTAINER_IMAGE
from protocol.harbor.task_folders import ContainerSettings, HarborTask
from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.errors import InvalidAction, UnsupportedTask, VerifierFailed
from vm_bridge.machine import ExpertSuggestion
from vm_bridge.suites import SandboxEnvironment
from vm_bridge.suites.container_plan import ContainerPlan, executable_in, tar_archive
from vm_bridge.suites.harbor import HarborSuite, end_processes, read_harbor, run_tests, suggest_command, unpack_command


@runtime_checkable
class ContainerEnvironment(SandboxEnvironment, Protocol):
    """The inside of a machine that is a container."""

    async def start_container(self, plan: ContainerPlan) -> None:
        """Build the image where it is not there, and start the container. Raises UnsupportedTask."""
        ...

    async def replace_folder(self, path: str, archive: bytes) -> None:
        """Empty a folder as root, then unpack a tar archive over the file system. Raises InvalidAction."""
        ...


class ContainerHarborSuite(HarborSuite):
    """Commands run as the image's user, in its WORKDIR, with its ENV and what `task.toml` adds to them."""

    def check(self, task: Task) -> None:
        _read(task)

    def suggest(self, task: Task, commands: tuple[str, ...]) -> ExpertSuggestion | None:
        harbor, _ = _read(task)
        return suggest_command(harbor, lambda files: _solution_command(harbor, files), commands)

    async def prepare(self, task: Task, environment: SandboxEnvironment) -> None:
        await _container(environment).start_container(ContainerPlan.of(*_read(task)))

    async def evaluate(self, task: Task, environment: SandboxEnvironment, answer: str) -> Verdict:
        """See `HarborSuite.evaluate`; what lies in the folders of the tests is removed as root first."""
        harbor, settings = _read(task)
        await end_processes(environment, harbor)
        tests, container = harbor.folder("tests"), _container(environment)
        files = {f"tests/{path}": data for path, data in tests.items()}
        executable = {f"tests/{path}" for path in {"test.sh", *executable_in(settings, "tests")}}
        try:
            await container.replace_folder("/solution", tar_archive({}))
            await container.replace_folder("/logs/verifier", tar_archive({}))
            await container.replace_folder("/tests", tar_archive(files, executable))
            if answer:
                await environment.write("/logs/agent/answer.txt", answer)
        except InvalidAction as error:
            raise VerifierFailed(f"the tests could not be put in place: {error}") from None
        variables = [f"{name}={value}" for name, value in harbor.verifier_env.items()]
        command = (*(("env", *variables) if variables else ()), "/tests/test.sh")
        return await run_tests(environment, command, harbor, tests)


def _read(task: Task) -> tuple[HarborTask, ContainerSettings]:
    """Raises UnsupportedTask."""
    harbor = read_harbor(task)
    if harbor.container is None:
        message = f"the folder was read for machines of ours; read it again for the image {CONTAINER_IMAGE}"
        raise UnsupportedTask(f"harbor_unsupported: {message}")
    return harbor, harbor.container


def _container(environment: SandboxEnvironment) -> ContainerEnvironment:
    if not isinstance(environment, ContainerEnvironment):
        raise UnsupportedTask("this machine is no container")
    return environment


def _solution_command(harbor: HarborTask, files: Mapping[str, bytes]) -> str:
    """One command line that runs the solution: its text, or where it has several files, an archive of them."""
    begin = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in harbor.solution_env.items())
    if len(files) == 1:
        return begin + files["solve.sh"].decode()
    return f"{unpack_command(files)}\n{begin}chmod +x /solution/solve.sh && /solution/solve.sh"
