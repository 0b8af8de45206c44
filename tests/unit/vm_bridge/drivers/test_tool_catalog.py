"""The tools of an image's own MCP servers are listed once; those of a task each time."""

from typing import Any, cast

import pytest

from protocol.trajectory.tasks import Task
from vm_bridge.drivers.computer.driver import ComputerDriver
from vm_bridge.drivers.computer.guest_link import GuestLink
from vm_bridge.drivers.computer.machine_io import Reply, ToolCatalog
from vm_bridge.errors import StaleLease

TOOL = {"name": "notes.add", "description": "", "parameters": {}}


class Guest:
    """Notes which calls it gets; `failures` are of its servers."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.failures: dict[str, str] = {}
        self.fence = 1

    async def call(self, op: str, answer: type[Reply], *, call: str, fence: int, **given: Any) -> Reply:
        if fence < self.fence:
            raise StaleLease("behind")
        self.calls.append(call)
        listed = {"tools": [TOOL], "failures": self.failures}
        return answer(failed=None, answer=listed if call == "tools.list" else {})


def machine(guest: Guest, catalog: ToolCatalog) -> ComputerDriver:
    """One machine of an image whose tools are kept there."""
    driver = ComputerDriver({})
    driver.image_tools = catalog
    driver.attach(cast(GuestLink, guest), None, 1)
    return driver


async def test_the_next_machine_of_the_image_waits_for_no_server() -> None:
    guest, catalog = Guest(), ToolCatalog()
    first = await machine(guest, catalog).tools(1)
    assert [tool.name for tool in first] == ["notes.add"]
    assert await machine(guest, catalog).tools(1) == first
    assert guest.calls == ["tools.list", "tools.warm_up"]
    guest.fence = 2
    with pytest.raises(StaleLease):
        await machine(guest, catalog).tools(1)


async def test_a_server_that_did_not_start_is_asked_again() -> None:
    guest, catalog = Guest(), ToolCatalog()
    guest.failures = {"broken": "it did not start"}
    for _ in range(2):
        await machine(guest, catalog).tools(1)
    assert guest.calls == ["tools.list", "tools.list"]


async def test_servers_of_a_task_are_asked_each_time() -> None:
    guest, catalog = Guest(), ToolCatalog()
    driver = machine(guest, catalog)
    await driver.tools(1)
    servers = {"mine": {"command": "/bin/mine", "args": []}}
    driver.restored(Task(id="t", instruction="x", parameters={"mcp_servers": servers}))
    for _ in range(2):
        await driver.tools(1)
    assert guest.calls == ["tools.list"] * 3
    driver.restored(None)
    await driver.tools(1)
    assert guest.calls[-1] == "tools.warm_up"
