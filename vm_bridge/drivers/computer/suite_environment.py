"""The inside of a sandbox as a suite uses it."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from protocol.base import FrozenModel
from vm_bridge.drivers.computer.guest_link import GuestLink
from vm_bridge.errors import InvalidAction, UnsupportedTask
from vm_bridge.suites import CommandResult
from vm_bridge.suites.container_plan import ContainerPlan

T = TypeVar("T", bound=BaseModel)
CALL_TIMEOUT_SECONDS = 30.0
"""Extra time for a guest beyond the timeout of the call itself."""
END_SECONDS = 10.0
"""Time for an attempt's processes to end."""
BUILD_QUEUE_SECONDS = 660.0
"""Maximum wait for earlier builds, and for a container to run."""


class _RunReply(FrozenModel):
    code: int | None
    output: str


class _ReadReply(FrozenModel):
    text: str | None


class _StatusReply(FrozenModel):
    failed: str | None


class _WindowReply(FrozenModel):
    found: bool


class _DigestReply(FrozenModel):
    digest: str


class GuestEnvironment:
    """See `vm_bridge.suites.SandboxEnvironment`."""

    def __init__(self, link: GuestLink, fence: int) -> None:
        self._link, self._fence = link, fence

    async def run(self, argv: Sequence[str], *, timeout: float = 30.0) -> CommandResult:
        ran = await self._use("run", _RunReply, timeout, argv=list(argv), seconds=timeout)
        return CommandResult(ran.code, ran.output)

    async def read(self, path: str) -> str | None:
        return (await self._use("read", _ReadReply, path=path)).text

    async def write(self, path: str, text: str) -> None:
        _raise_failure((await self._use("write", _StatusReply, path=path, text=text)).failed)

    async def start(self, argv: Sequence[str]) -> None:
        _raise_failure((await self._use("start", _StatusReply, argv=list(argv))).failed)

    async def mark_processes(self) -> None:
        """See `vm_bridge.suites.harbor.ProcessEnvironment`."""
        _raise_failure((await self._use("mark_processes", _StatusReply)).failed)

    async def end_processes(self) -> None:
        """See `vm_bridge.suites.harbor.ProcessEnvironment`."""
        _raise_failure((await self._use("end_processes", _StatusReply, END_SECONDS)).failed)

    async def start_container(self, plan: ContainerPlan) -> None:
        """See `vm_bridge.suites.harbor_container.ContainerEnvironment`."""
        bound = plan.build_seconds + BUILD_QUEUE_SECONDS
        started = await self._use("start_container", _StatusReply, bound, plan=plan.model_dump(mode="json"))
        if started.failed is not None:
            raise UnsupportedTask(f"harbor_build: {started.failed}")

    async def replace_folder(self, path: str, archive: bytes) -> None:
        """See `vm_bridge.suites.harbor_container.ContainerEnvironment`."""
        data = b64encode(archive).decode()
        _raise_failure((await self._use("replace_folder", _StatusReply, path=path, archive=data)).failed)

    async def digest(self) -> str:
        """One hash over the person's files: the home folder but for what programs hide there."""
        return (await self._use("digest", _DigestReply)).digest

    async def wait_for_window(self, title: str, *, timeout: float = 15.0) -> bool:
        return (await self._use("window", _WindowReply, timeout, title=title, seconds=timeout)).found

    async def _use(self, tool: str, answer: type[T], bound: float = 0.0, **arguments: Any) -> T:
        return await self._link.call(
            "tool", answer, timeout=bound + CALL_TIMEOUT_SECONDS, fence=self._fence, tool=tool, **arguments
        )


def _raise_failure(failed: str | None) -> None:
    if failed is not None:
        raise InvalidAction(failed)
