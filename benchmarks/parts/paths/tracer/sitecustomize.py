"""Records which project files a process enters. Python loads it at the start of every process that has this folder on
its path; it uses the standard library alone.

`PATHS_OUT` is the folder for records. SIGUSR1 begins a record and SIGUSR2 writes it. With `PATHS_ALWAYS` the whole life
of the process is one record, written at its end; then no call is traced, since a trainer makes millions of them: each
function of the project notes its file itself, by a line that is put in front of its body when its module is loaded.
"""

import ast
import atexit
import builtins
import importlib
import inspect
import json
import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

OUT_VARIABLE, ALWAYS_VARIABLE = "PATHS_OUT", "PATHS_ALWAYS"
PROJECT = re.compile(r"(?:^|/)((?:protocol|vm_bridge|agent_backend|annotation_app|trainer)/(?!.*site-packages).*\.py)$")
COUNTED = {
    ("httpx/_client.py", "AsyncClient.send"): "http_requests",
    ("django/db/backends/utils.py", "CursorWrapper._execute"): "queries",
    ("django/db/backends/utils.py", "CursorWrapper._executemany"): "queries",
    ("django/db/backends/base/base.py", "BaseDatabaseWrapper._commit"): "transactions",
    ("protocol/messages/state.py", "apply_event"): "folds",
    ("vm_bridge/drivers/computer/driver.py", "ComputerDriver._observation"): "observations",
}
"""Functions whose calls are counted, by the end of their file's path and their qualified name."""
CYCLE_COMMAND, CYCLE_FUNCTION = "run_flywheel", "turn_run"
"""The command of a cycle, and the function whose first call begins the record: Django loads everything before."""
BACKGROUND = frozenset(
    {
        *("MachinePool._run_periodically", "MachinePool._work", "LeaseManager._run_forever"),
        *("RoomRegistry._run_heartbeat", "RoomRegistry._maintain"),
        *("runners_renew", "lease_renew", "policy_server_of", "_revocation_code"),
    }
)
"""Loops that run whether or not somebody acts, and what those of the web process call in other threads: what is below
them does not count."""
LOADING = ("_load_unlocked",)
"""What runs a module that is imported (importlib)."""
GUEST_RECORDS = "/tmp"  # noqa: S108 - of the guest, not of this machine
"""Where the guest of a desktop writes, in its own file system."""
NOTE_NAME, BEGIN_NAME = "_paths_note", "_paths_begin"
"""Builtins by which a function notes its file, and the first one begins the record."""
FOLDER = str(Path(__file__).parent)

files: set[str] = set()
frames: set[FrameType] = set()
"""The calls that are counted: a coroutine is called once and entered again after every wait."""
calls: Counter[str] = Counter()
known: dict[CodeType, tuple[str, str]] = {}
recording = False


def trace(frame: FrameType, event: str, argument: object) -> None:
    """Hear of every call of a Python function."""
    code = frame.f_code
    if not recording:
        return
    file, key = known[code] if code in known else classify(code)
    if file and file not in files and not is_below(frame, BACKGROUND):
        files.add(file)
    if key and frame not in frames:
        frames.add(frame)
        calls[key] += 1


def classify(code: CodeType) -> tuple[str, str]:
    """The project file of a function and what its calls count as; empty where they do not matter. Kept, since a
    process calls some functions millions of times."""
    found = PROJECT.search(code.co_filename)
    is_function = code.co_flags & inspect.CO_OPTIMIZED  # a module and the body of a class are none
    ends = (end for end, name in COUNTED if name == code.co_qualname and code.co_filename.endswith(end))
    key = COUNTED.get((next(ends, ""), code.co_qualname), "")
    known[code] = (found[1] if found and is_function else "", key)
    return known[code]


def is_below(frame: FrameType | None, callers: Collection[str]) -> bool:
    """Whether a call comes from one of these functions, at whatever depth."""
    while frame is not None:
        if frame.f_code.co_qualname in callers:
            return True
        frame = frame.f_back
    return False


def record_file() -> Path:
    """The file of this process's record."""
    return Path(os.environ[OUT_VARIABLE], f"paths-{os.getpid()}.json")


def begin(*_: object) -> None:
    """Forget what was recorded and record from now on."""
    global recording
    record_file().unlink(missing_ok=True)
    files.clear()
    frames.clear()
    calls.clear()
    recording = True


def write(*_: object) -> None:
    """Write the record, whole or not at all, and record no more."""
    global recording
    recording = False
    frames.clear()
    record = {"command": sys.orig_argv[1:4], "files": sorted(files), "calls": dict(calls)}
    aside = record_file().with_suffix(".writing")
    aside.write_text(json.dumps(record))
    aside.replace(record_file())


def reach_guests() -> None:
    """Let the desktops of this bridge load the tracer too: they see only what the bridge shows them."""
    bubblewrap: Any = importlib.import_module("vm_bridge.isolation.bubblewrap")
    bubblewrap.HOST_FOLDERS += (FOLDER,)
    bubblewrap.ENVIRONMENT["PYTHONPATH"] += f":{FOLDER}"
    bubblewrap.ENVIRONMENT[OUT_VARIABLE] = GUEST_RECORDS


def reach_children() -> None:
    """Let the programs that a cycle starts load the tracer too: their path is made from the project's root."""
    programs: Any = importlib.import_module("annotation_app.operations.runtime.child_processes")
    start = programs.child_process

    def start_traced(command: Sequence[str], *, environment: Mapping[str, str], **options: Any) -> Any:
        path = environment.get("PYTHONPATH", str(programs.ROOT))
        return start(command, environment={**environment, "PYTHONPATH": f"{path}:{FOLDER}"}, **options)

    programs.child_process = start_traced


class NotingLoader(SourceFileLoader):
    """Loads the project's modules with functions that note their file."""

    def get_code(self, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        found = PROJECT.search(path)
        if found is None:
            return super().get_code(fullname)
        return compile(noting(ast.parse(self.get_data(path)), found[1]), path, "exec", dont_inherit=True)


def noting(module: ast.Module, file: str) -> ast.Module:
    """The module, each of whose functions first notes `file`."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            name = BEGIN_NAME if node.name == CYCLE_FUNCTION and CYCLE_COMMAND in sys.orig_argv else NOTE_NAME
            note = ast.parse(f"{name}({file!r})").body[0]
            for part in ast.walk(note):
                ast.copy_location(part, first)
            node.body.insert(int(ast.get_docstring(node, clean=False) is not None), note)
    return module


def note_file(file: str) -> None:
    """Note a file while a record is made, unless a module that is being loaded calls it."""
    if recording and file not in files and not is_below(sys._getframe(1), LOADING):
        files.add(file)


def begin_once(file: str) -> None:
    """Begin the record with the first call."""
    if not recording:
        begin()
    files.add(file)


def note_files() -> None:
    """Record the whole life of this process, or all of it from the cycle on."""
    setattr(builtins, NOTE_NAME, note_file)
    setattr(builtins, BEGIN_NAME, begin_once)
    loaders = (
        (ExtensionFileLoader, EXTENSION_SUFFIXES),
        (NotingLoader, SOURCE_SUFFIXES),
        (SourcelessFileLoader, BYTECODE_SUFFIXES),
    )
    sys.path_hooks.insert(0, FileFinder.path_hook(*loaders))
    sys.path_importer_cache.clear()
    atexit.register(write)
    if CYCLE_COMMAND in sys.orig_argv:
        reach_children()
    else:
        begin()


def install() -> None:
    """Make this process record what it enters."""
    if ALWAYS_VARIABLE in os.environ:
        return note_files()
    signal.signal(signal.SIGUSR1, begin)
    signal.signal(signal.SIGUSR2, write)
    if sys.orig_argv[1:3] == ["-m", "vm_bridge"]:
        reach_guests()
    threading.settrace(trace)
    sys.settrace(trace)


if OUT_VARIABLE in os.environ:
    install()
