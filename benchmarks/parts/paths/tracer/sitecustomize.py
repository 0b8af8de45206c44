"""Records which project files a process enters. Python loads it at the start of every process that has this folder on
its path; it uses the standard library alone.

`PATHS_OUT` is the folder for records. SIGUSR1 begins a record and SIGUSR2 writes it. With `PATHS_ALWAYS` the whole life
of the process is one record, written at its end.
"""

import atexit
import importlib
import inspect
import json
import os
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
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
BACKGROUND = frozenset({"MachinePool._run_periodically", "MachinePool._work", "LeaseManager._run_forever"})
"""Loops of the bridge that run whether or not somebody acts: what they call does not count."""
GUEST_RECORDS = "/tmp"  # noqa: S108 - of the guest, not of this machine
"""Where the guest of a desktop writes, in its own file system."""
FOLDER = str(Path(__file__).parent)

files: set[str] = set()
frames: set[FrameType] = set()
"""The calls that are counted: a coroutine is called once and entered again after every wait."""
calls: Counter[str] = Counter()
known: dict[CodeType, tuple[str, str]] = {}
recording = False
awaited = ""
"""The function whose first call begins the record."""


def trace(frame: FrameType, event: str, argument: object) -> None:
    """Hear of every call of a Python function."""
    code = frame.f_code
    if not recording:
        if not (awaited and code.co_qualname == awaited):
            return
        begin()
    file, key = known[code] if code in known else classify(code)
    if file and file not in files and not is_background(frame):
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


def is_background(frame: FrameType | None) -> bool:
    """Whether a call comes from a loop that runs without acts too."""
    while frame is not None:
        if frame.f_code.co_qualname in BACKGROUND:
            return True
        frame = frame.f_back
    return False


def record_file() -> Path:
    """The file of this process's record."""
    return Path(os.environ[OUT_VARIABLE], f"paths-{os.getpid()}.json")


def begin(*_: object) -> None:
    """Forget what was recorded and record from now on."""
    global recording, awaited
    awaited = ""
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


def install() -> None:
    """Trace every thread of this process."""
    global awaited
    if ALWAYS_VARIABLE in os.environ:
        atexit.register(write)
        if CYCLE_COMMAND in sys.orig_argv:
            awaited = CYCLE_FUNCTION
        else:
            begin()
    else:
        signal.signal(signal.SIGUSR1, begin)
        signal.signal(signal.SIGUSR2, write)
    if sys.orig_argv[1:3] == ["-m", "vm_bridge"]:
        reach_guests()
    elif CYCLE_COMMAND in sys.orig_argv:
        reach_children()
    threading.settrace(trace)
    sys.settrace(trace)


if OUT_VARIABLE in os.environ:
    install()
