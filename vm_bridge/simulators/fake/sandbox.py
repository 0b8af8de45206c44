"""Painted machines and their host: the whole `Machine` contract without a desktop, for tests."""

import secrets
from collections.abc import Collection
from pathlib import Path

from vm_bridge.errors import NoMachine
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Sandbox
from vm_bridge.simulators.fake.call_log import CallLog
from vm_bridge.simulators.fake.computer import FakeComputer
from vm_bridge.simulators.fake.machine import FakeMachine


class FakeSandbox(FakeComputer):
    """A painted computer that leases can be bound to."""

    def bind(self, fencing_token: int) -> Machine:
        return FakeMachine(self, fencing_token)


class FakeHost:
    """Makes `FakeSandbox`es; `made` lists them all, `capacity` bounds those alive."""

    def __init__(
        self, images: tuple[str, ...] = ("desktop",), *, capacity: int = 8, call_log: Path | None = None
    ) -> None:
        self.images = images
        self.capacity = capacity
        self.made: list[FakeSandbox] = []
        self._call_log = None if call_log is None else CallLog(call_log)

    async def create(self, image: str) -> Sandbox:
        if image not in self.images:
            raise NoMachine(f"no image {image}")
        full = len(self.made) >= self.capacity
        if full and len([sandbox for sandbox in self.made if await sandbox.healthy()]) >= self.capacity:
            raise NoMachine(f"all {self.capacity} machines are in use")
        sandbox = FakeSandbox(image, name=f"fake-{secrets.token_hex(4)}", call_log=self._call_log)
        self.made.append(sandbox)
        return sandbox

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        left = [sandbox for sandbox in self.made if await sandbox.healthy()]
        for sandbox in left:
            if sandbox.id not in ids:
                await sandbox.destroy()
        return [sandbox for sandbox in left if sandbox.id in ids]

    async def close(self) -> None:
        for sandbox in self.made:
            await sandbox.destroy()
