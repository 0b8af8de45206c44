"""The tools of an image's own MCP servers are listed once, by a machine on which nothing was done."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

import pytest

from protocol.actions.tools import Tool
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.computer import tool_catalog
from vm_bridge.drivers.computer.driver import ComputerDriver
from vm_bridge.drivers.computer.guest_link import EmptyReply, GuestLink, ObserveReply
from vm_bridge.drivers.computer.machine_io import Reply
from vm_bridge.drivers.computer.tool_catalog import ToolCatalog
from vm_bridge.errors import MachineGone, StaleLease
from vm_bridge.guest.linux.machine_io import TOOLBOX
from vm_bridge.suites import SandboxEnvironment, Suite
from vm_bridge.suites.table_suite import TableSuite, TableTask

TOOL = {"name": "notes.add", "description": "", "parameters": {}}
INVENTED = {**TOOL, "name": "notes.invented"}
PLAIN = Task(id="t", instruction="x")
HARBOR_TASK = Task(id="t", instruction="x", parameters={"harbor": "folder"})


class Guest(GuestLink):
    """Notes which calls it gets; `failures` are of its servers."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.listed: list[dict[str, Any]] = [TOOL]
        self.failures: dict[str, str] = {}
        self.pristine = True
        self.has_ended = False

    @property
    def gone(self) -> bool:
        return self.has_ended

    async def call(self, op: str, answer: type[Any], *, timeout: float, **arguments: Any) -> Any:
        call = arguments.get("call", op)
        self.calls.append(call)
        if answer is ObserveReply:
            return ObserveReply(after=None, text="$", rest="rested", settle_ms=0.0)
        listed = {"tools": self.listed, "failures": self.failures}
        return Reply(failed=None, answer=listed if call == "tools.list" else {})


class Harbor:
    """A suite for folders, whose preparation only says that it was done."""

    def __init__(self, note: Callable[[], None]) -> None:
        self._note = note

    async def prepare(self, task: Task, environment: SandboxEnvironment) -> None:
        self._note()


def machine(guest: Guest, catalog: ToolCatalog | None, suites: dict[str, Suite] | None = None) -> ComputerDriver:
    """One machine of an image whose tools are kept there."""
    driver = ComputerDriver(suites or {})
    driver.image_tools = catalog
    driver.attach(guest, None, 1)
    return driver


@pytest.fixture
def filled() -> ToolCatalog:
    catalog = ToolCatalog()
    catalog.tools = (Tool.model_validate(TOOL),)
    return catalog


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_catalog, "WARM_UP_SECONDS", 0.0)


async def warmed_up(driver: ComputerDriver) -> None:
    assert driver._warm_up is not None
    await driver._warm_up


async def test_a_new_machine_lists_the_tools_before_its_task_brings_files() -> None:
    guest, catalog = Guest(), ToolCatalog()
    suite = cast(Suite, Harbor(lambda: guest.calls.append("prepare")))
    await machine(guest, catalog, {"harbor": suite}).set_up(1, HARBOR_TASK)
    assert guest.calls[:2] == ["tools.list", "prepare"]
    assert [tool.name for tool in catalog.tools] == ["notes.add"]


async def test_a_used_machine_fills_no_catalog() -> None:
    guest, catalog = Guest(), ToolCatalog()
    guest.listed, guest.pristine = [INVENTED], False
    driver = machine(guest, catalog)
    await driver.set_up(1, PLAIN)
    assert [tool.name for tool in await driver.tools(1)] == ["notes.invented"]
    assert catalog.tools == ()


async def test_what_is_done_while_the_tools_are_listed_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    guest, catalog = Guest(), ToolCatalog()
    call = guest.call

    async def disturbed(*arguments: Any, **named: Any) -> Any:
        guest.pristine = False
        return await call(*arguments, **named)

    monkeypatch.setattr(guest, "call", disturbed)
    await catalog.fill(guest, 1)
    assert catalog.tools == ()


async def test_the_next_machine_of_the_image_waits_for_no_server(filled: ToolCatalog) -> None:
    guest = Guest()
    driver = machine(guest, filled)
    for _ in range(3):
        assert [tool.name for tool in await driver.tools(1)] == ["notes.add"]
    assert guest.calls == []
    await warmed_up(driver)
    assert guest.calls == ["tools.list"], "the servers start once"
    driver.fence = 2
    with pytest.raises(StaleLease):
        await driver.tools(1)
    guest.has_ended = True
    with pytest.raises(MachineGone):
        await driver.tools(2)


@pytest.mark.parametrize("changed", ["failure", "other tools"])
async def test_servers_that_offer_something_else_empty_the_catalog(
    filled: ToolCatalog, changed: str, caplog: pytest.LogCaptureFixture
) -> None:
    guest = Guest()
    guest.listed = [] if changed == "failure" else [INVENTED]
    guest.failures = {"notes": "it did not start"} if changed == "failure" else {}
    driver = machine(guest, filled)
    await driver.tools(1)
    await warmed_up(driver)
    assert filled.tools == ()
    assert "differ" in caplog.text
    assert ("it did not start" in caplog.text) == (changed == "failure")


async def test_another_guest_ends_the_start_of_the_servers(filled: ToolCatalog) -> None:
    guest = Guest()
    driver = machine(guest, filled)
    await driver.tools(1)
    driver.attach(Guest(), None, 1)
    await asyncio.sleep(0.01)
    assert guest.calls == []


async def test_where_a_server_fails_each_machine_lists_its_own() -> None:
    guest, catalog = Guest(), ToolCatalog()
    guest.failures = {"broken": "it did not start"}
    driver = machine(guest, catalog)
    for _ in range(2):
        await driver.set_up(1, PLAIN)
    assert guest.calls.count("tools.list") == 1
    await driver.tools(1)
    assert guest.calls.count("tools.list") == 2


async def test_servers_of_a_task_are_asked_each_time(filled: ToolCatalog) -> None:
    guest = Guest()
    driver = machine(guest, filled)
    servers = {"mine": {"command": "/bin/mine", "args": []}}
    driver.restored(Task(id="t", instruction="x", parameters={"mcp_servers": servers}))
    for _ in range(2):
        await driver.tools(1)
    assert guest.calls == ["tools.list"] * 2


async def test_a_host_that_shares_nothing_lists_each_time() -> None:
    guest = Guest()
    driver = machine(guest, None)
    await driver.set_up(1, PLAIN)
    for _ in range(2):
        await driver.tools(1)
    assert guest.calls.count("tools.list") == 2


def test_the_toolbox_imports_nothing_from_the_home_folder() -> None:
    assert {"-P", "-s"} < set(TOOLBOX[: TOOLBOX.index("-m")])


async def test_a_shell_that_was_opened_before_the_files_of_a_folder_is_replaced() -> None:
    guest = Guest()
    suite = cast(Suite, Harbor(lambda: guest.calls.append("prepare")))
    await machine(guest, None, {"harbor": suite}).set_up(1, HARBOR_TASK)
    assert guest.calls == ["prepare", "terminals.close", "observe"]


async def test_a_shell_stays_where_a_bundled_table_prepares_the_task() -> None:
    guest = Guest()
    suite = TableSuite("table", "terminal", (TableTask("a", "x", ()),))
    await machine(guest, None, {"table": suite}).set_up(1, suite.make("a"))
    assert guest.calls == ["observe"]


async def test_only_reading_leaves_a_machine_as_it_was() -> None:
    ours, theirs = socket.socketpair()
    link = await GuestLink.open(ours)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("observe", {}),
        ("ping", {}),
        ("inside", {"call": "tools.list"}),
        ("inside", {"call": "files.write"}),
    ]
    kept = []
    with theirs:
        for op, arguments in calls:
            pending = asyncio.create_task(link.call(op, EmptyReply, timeout=5.0, **arguments))
            await asyncio.sleep(0)
            kept.append(link.pristine)
            pending.cancel()
    link.close()
    assert kept == [True, True, True, False]
