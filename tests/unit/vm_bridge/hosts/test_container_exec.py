"""Commands, files and terminals of a container, over the exchange that an engine really has."""

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.vm_bridge.hosts.container_engine import FakeContainerEngine
from tests.waiting import wait_until
from vm_bridge.errors import MachineGone
from vm_bridge.guest.common import files
from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.linux.shell import InterruptFlag
from vm_bridge.guest.linux.terminals.client import TerminalClient
from vm_bridge.hosts.docker.container_exec import ContainerExec
from vm_bridge.hosts.docker.container_files import ContainerFiles
from vm_bridge.hosts.docker.engine import ContainerEngine
from vm_bridge.hosts.docker.task_io import TaskIO


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeContainerEngine]:
    folder = tmp_path / "work"
    folder.mkdir()
    with FakeContainerEngine(folder, tmp_path / "engine.sock").serving() as fake:
        yield fake


@pytest.fixture
def engine(fake: FakeContainerEngine) -> ContainerEngine:
    return ContainerEngine(fake.address)


@pytest.fixture
def container(engine: ContainerEngine) -> ContainerExec:
    return ContainerExec(engine, "one")


def test_a_command_gives_its_output_and_how_it_ended(container: ContainerExec, fake: FakeContainerEngine) -> None:
    ran = container.run(("sh", "-c", "echo out; sleep 0.05; echo err >&2; pwd; exit 4"), timeout=20)
    assert (ran.code, ran.stdout, ran.stderr) == (4, f"out\n{fake.folder}\n".encode(), b"err\n")
    assert ran.output.splitlines()[0] == b"out"
    assert "User" not in fake.execs["e0"].plan, "it is the image's user"
    container.run(("false",), timeout=20, user="0:0")
    assert fake.execs["e1"].plan["User"] == "0:0"


def test_what_goes_in_comes_out_whole_and_a_command_need_not_read_it(container: ContainerExec) -> None:
    data = bytes(range(256)) * 20_000
    assert container.run(("cat",), timeout=20, stdin=data, most=len(data)).stdout == data
    assert container.run(("cat",), timeout=20, stdin=b"").code == 0
    assert container.run(("sh", "-c", "exit 3"), timeout=20, stdin=data).code == 3


def test_output_is_kept_as_far_as_its_bound(container: ContainerExec) -> None:
    ran = container.run(("head", "-c", "300000", "/dev/zero"), timeout=20, most=1000)
    assert (ran.code, len(ran.output), len(ran.stdout)) == (0, 1000, 1000)


def test_a_command_that_takes_too_long_is_killed_with_what_it_started(
    container: ContainerExec, fake: FakeContainerEngine
) -> None:
    ran = container.run(("sh", "-c", "sleep 600 & echo $! > child; wait"), timeout=0.5)
    assert (ran.code, ran.cut_short) == (None, False)
    child = int((fake.folder / "child").read_text())
    wait_until(lambda: _has_ended(child))


def test_a_command_is_cut_short(container: ContainerExec, fake: FakeContainerEngine) -> None:
    interrupt = InterruptFlag()
    began = fake.folder / "began"

    def cut() -> None:
        wait_until(began.exists)
        interrupt.set()

    threading.Thread(target=cut).start()
    ran = container.run(("sh", "-c", "touch began; sleep 600"), timeout=60, interrupt=interrupt)
    assert (ran.code, ran.cut_short) == (None, True)


def test_without_a_container_nothing_is_done_and_one_that_ended_is_gone(
    container: ContainerExec, fake: FakeContainerEngine
) -> None:
    fake.state = "missing"
    with pytest.raises(ActionFailed) as failed:
        container.run(("true",), timeout=20)
    assert failed.value.code == "no_container"
    fake.state = "ended"
    with pytest.raises(MachineGone, match="has ended"):
        container.run(("true",), timeout=20)


def test_an_engine_that_breaks_off_says_nothing_of_the_command(
    container: ContainerExec, fake: FakeContainerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vm_bridge.hosts.docker.container_exec.EXIT_SECONDS", 0)
    fake.hang_up = True
    with pytest.raises(MachineGone, match="does not say"):
        container.run(("true",), timeout=20)


def test_files_are_those_of_the_container_and_told_as_every_guest_tells_them(
    container: ContainerExec, fake: FakeContainerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(fake.folder))
    inside = ContainerFiles(container)
    inside.write_bytes("new/a b\n'.txt", b"\0\xff" * 1000)
    inside.write_bytes("~/new/-n", b"n")
    (fake.folder / "new" / "link").symlink_to("nowhere")
    (fake.folder / "new" / ".hidden").mkdir()
    os.mkfifo(fake.folder / "new" / "pipe")
    listed = [{**entry, "modified": int(entry["modified"])} for entry in files.entries("new")]
    assert inside.entries("new") == listed
    assert inside.entries("~/new/.hidden") == []
    one = files.entry_of("new/-n")
    assert inside.entry_of("new/-n") == {**one, "modified": int(one["modified"])}
    assert inside.read_bytes("new/a b\n'.txt", 4, 3) == b"\xff\0\xff\0"
    assert (fake.folder / "new" / "-n").read_bytes() == b"n"


def test_a_rewritten_file_keeps_its_permissions_and_nothing_is_written_through_a_link(
    container: ContainerExec, fake: FakeContainerEngine
) -> None:
    script, kept = fake.folder / "run.sh", fake.folder / "kept"
    script.write_text("old")
    script.chmod(0o755)
    kept.write_text("kept")
    (fake.folder / ".run.sh.writing").symlink_to("kept")
    ContainerFiles(container).write_bytes("run.sh", b"new")
    assert (script.read_text(), script.stat().st_mode & 0o777, kept.read_text()) == ("new", 0o755, "kept")
    assert {path.name for path in fake.folder.iterdir()} == {"run.sh", "kept"}


def test_what_cannot_be_done_to_a_file_is_said(container: ContainerExec, fake: FakeContainerEngine) -> None:
    inside = ContainerFiles(container)
    os.mkfifo(fake.folder / "pipe")
    (fake.folder / "full").mkdir()
    (fake.folder / "full" / "a").touch()
    (fake.folder / "link").symlink_to("full")
    for code, call in (
        ("cannot_read", lambda: inside.read_bytes("none", 9)),
        ("cannot_read", lambda: inside.read_bytes("pipe", 9)),
        ("cannot_read", lambda: inside.read_bytes("/dev/zero", 9)),
        ("cannot_read", lambda: inside.entry_of("none")),
        ("cannot_list", lambda: inside.entries("none")),
        ("cannot_list", lambda: inside.entries("pipe")),
        ("cannot_write", lambda: inside.write_bytes("full", b"")),
        ("cannot_write", lambda: inside.write_bytes("full/a/b", b"")),
        ("cannot_delete", lambda: inside.delete("none", recursive=True)),
        ("cannot_delete", lambda: inside.delete("full", recursive=False)),
    ):
        with pytest.raises(ActionFailed) as failed:
            call()
        assert failed.value.code == code
    inside.delete("link", recursive=True)
    assert (fake.folder / "full" / "a").exists()
    inside.delete("full", recursive=True)
    assert [path.name for path in fake.folder.iterdir()] == ["pipe"]


def test_acts_happen_in_the_container(engine: ContainerEngine, fake: FakeContainerEngine) -> None:
    inside = TaskIO(engine, "one")
    handlers = inside.action_handlers

    def do(kind: str, **fields: object) -> str | None:
        return handlers[kind]({"kind": kind, **fields}).text

    do("write_file", path="a.txt", text="hello")
    do("edit_file", path="a.txt", old="hell", new="y")
    assert (fake.folder / "a.txt").read_text() == "yo"
    assert do("run_command", command="cat a.txt; exit 3", timeout=20) == "yo\n[exit status 3]"
    assert (do("list_files", path=".") or "").startswith("a.txt\tfile\t2\t")
    with pytest.raises(ActionFailed) as failed:
        do("run_command", command="sleep 600", timeout=0.3)
    assert failed.value.code == "timed_out"
    ran = inside.run({"argv": ["sh", "-c", "exit 2"], "seconds": 20})
    assert (ran["code"], inside.read({"path": "none"})) == (2, {"text": None})


def test_nothing_is_left_of_what_would_happen_on_the_bridge(engine: ContainerEngine, fake: FakeContainerEngine) -> None:
    """Every handler is the container's: without one, each says so or has nothing to do with a machine."""
    fake.state = "missing"
    inside = TaskIO(engine, "one")
    assert {"run_code", "call_tool", "open_app"}.isdisjoint(inside.action_handlers)
    fields = {"path": "x", "text": "", "old": "a", "new": "b", "command": "true", "timeout": 5, "session": "main"}
    for kind in inside.action_handlers.keys() - {"upload_file", "type_terminal"}:
        with pytest.raises(ActionFailed) as failed:
            inside.action_handlers[kind]({"kind": kind, **fields})
        assert failed.value.code == "no_container", kind
    for call in ("files.list", "files.stat", "files.read", "files.delete"):
        with pytest.raises(ActionFailed) as failed:
            inside.call_handlers[call]({"path": "x", "offset": 0, "recursive": True})
        assert failed.value.code == "no_container", call
    for call in ("files.watch", "tools.configure"):
        with pytest.raises(ActionFailed) as failed:
            inside.call_handlers[call]({"servers": {}, "path": "."})
        assert failed.value.code == "unsupported_action"


def test_a_terminal_is_a_shell_in_the_container(fake: FakeContainerEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", fake.address)
    monkeypatch.setenv("PYTHONPATH", str(Path(files.__file__).parents[3]))
    terminals = TerminalClient((sys.executable, "-m", "vm_bridge.hosts.docker.task_terminals", "one"))

    def shown(text: str = "") -> str:
        return terminals.type({"session": "main", "text": text}).text or ""

    shown('stty size; echo $$ > session; tty > /dev/null && echo ter""minal\n')
    wait_until(lambda: "terminal" in shown())
    assert "30 100" in shown()
    terminals.call_handlers["terminals.resize"]({"told": {"session": "main", "columns": 70, "rows": 20}})
    wait_until(lambda: ("POST", "/exec/e0/resize", {"h": ["20"], "w": ["70"]}) in fake.asked)
    session = int((fake.folder / "session").read_text())
    terminals.call_handlers["terminals.close"]({"told": {"session": "main"}})
    wait_until(lambda: _has_ended(session))
    fake.state = "missing"
    assert "no task has been prepared" in shown()


def _has_ended(pid: int) -> bool:
    """Whether a process has ended; one that nobody waits for has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
