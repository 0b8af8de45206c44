"""The inside of a sandbox as a suite uses it."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

from vm_bridge.drivers.computer_link import GuestLink
from vm_bridge.errors import InvalidAction
from vm_bridge.suites import Ran
from vocabulary.base import Frozen

T = TypeVar("T", bound=BaseModel)
ANSWER_SECONDS = 30.0
"""How long a guest may take beyond the time a call names itself."""


class _Ran(Frozen):
    code: int | None
    output: str


class _Text(Frozen):
    text: str | None


class _Told(Frozen):
    failed: str | None


class _Found(Frozen):
    found: bool


class _Digest(Frozen):
    digest: str


class GuestDesk:
    """See `vm_bridge.suites.Desk`."""

    def __init__(self, link: GuestLink, fence: int) -> None:
        self._link, self._fence = link, fence

    async def run(self, argv: Sequence[str], *, timeout: float = 30.0) -> Ran:
        ran = await self._use("run", _Ran, timeout, argv=list(argv), seconds=timeout)
        return Ran(ran.code, ran.output)

    async def read(self, path: str) -> str | None:
        return (await self._use("read", _Text, path=path)).text

    async def write(self, path: str, text: str) -> None:
        _must((await self._use("write", _Told, path=path, text=text)).failed)

    async def start(self, argv: Sequence[str]) -> None:
        _must((await self._use("start", _Told, argv=list(argv))).failed)

    async def digest(self) -> str:
        """One hash over the person's files: the home folder but for what programs hide there."""
        return (await self._use("digest", _Digest)).digest

    async def wait_for_window(self, title: str, *, timeout: float = 15.0) -> bool:
        return (await self._use("window", _Found, timeout, title=title, seconds=timeout)).found

    async def _use(self, tool: str, answer: type[T], bound: float = 0.0, **arguments: Any) -> T:
        return await self._link.call(
            "tool", answer, timeout=bound + ANSWER_SECONDS, fence=self._fence, tool=tool, **arguments
        )


def _must(failed: str | None) -> None:
    if failed is not None:
        raise InvalidAction(failed)
