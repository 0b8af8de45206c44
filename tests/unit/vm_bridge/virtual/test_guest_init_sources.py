"""The disk of a virtual machine: its first program starts from the files that are copied, and from nothing else."""

import shutil
import subprocess
import sys
from pathlib import Path

from vm_bridge.hosts.qemu.states import SOURCES
from vm_bridge.images.build import GUEST_SOURCES, PACKAGE

MODULE = "vm_bridge.virtual.guest_init"


def test_the_first_program_of_a_virtual_machine_needs_only_the_copied_files(tmp_path: Path) -> None:
    for file in (*SOURCES, *(PACKAGE / name for name in GUEST_SOURCES)):
        copy = tmp_path / PACKAGE.name / file.relative_to(PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    start = f"import sys; sys.path.insert(0, sys.argv[1]); import {MODULE}; print({MODULE}.__file__)"
    command = [sys.executable, "-I", "-S", "-c", start, str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path))
