"""A process group ends with all that is in it."""

import os
import subprocess
import sys

import pytest

from annotation_app.operations.runtime.orphan_guard import group_runs
from vm_bridge.isolation.process_group import end_process_group, running_members

PARENT = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print(child.pid, flush=True)
child.wait()
"""
LONG = 3600.0


@pytest.fixture
def parent() -> "subprocess.Popen[str]":
    """A process with a child, in a group of their own."""
    return subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True, start_new_session=True)


def test_children_end_too_and_zombies_are_not_waited_for(parent: "subprocess.Popen[str]") -> None:
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert set(running_members(parent.pid)) == {parent.pid, child}
        assert group_runs(parent.pid)
        end_process_group(parent.pid, LONG)
        os.killpg(parent.pid, 0)  # there still is the parent, which nobody has waited for
        assert running_members(parent.pid) == []
        assert not group_runs(parent.pid)


def test_a_group_that_has_ended_is_no_error(parent: "subprocess.Popen[str]") -> None:
    with parent:
        end_process_group(parent.pid, LONG)
    end_process_group(parent.pid, LONG)
