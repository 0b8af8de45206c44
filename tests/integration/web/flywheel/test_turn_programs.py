"""A turner that is killed: what it had running ends before another goes on."""

import signal
import subprocess
import sys
from pathlib import Path

from annotation_app.flywheel import programs
from annotation_app.settings.base import ROOT
from tests.waiting import wait_until

DYING = """
import sys
from pathlib import Path
from annotation_app.flywheel.programs import ProgramRunner, turn_lock
with turn_lock(Path(sys.argv[1])) as lock:
    say = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    ProgramRunner(lock, lambda: True, {{}}).run([sys.executable, "-c", say], log=Path(sys.argv[1]) / "program.log")
"""


def test_what_a_killed_turner_had_running_ends_before_the_next_begins(tmp_path: Path) -> None:
    folder, said = tmp_path / "turn", tmp_path / "turn" / "program.out"
    turner = subprocess.Popen([sys.executable, "-c", DYING.replace("{{}}", "{}"), str(folder)], cwd=ROOT)
    try:
        wait_until(lambda: said.exists() and said.read_text().endswith("\n"), limit=60)
        with programs.turn_lock(folder) as lock:
            assert lock is None
        turner.send_signal(signal.SIGKILL)
        turner.wait()
        with programs.turn_lock(folder, patience=60) as lock:
            assert lock is not None
        process = Path("/proc") / said.read_text().strip() / "cmdline"
        assert not process.exists() or not process.read_bytes(), "at most its name is left, until somebody reaps it"
    finally:
        turner.kill()
        turner.wait()
