"""Programs start and end without long searches for garbage."""

import subprocess
import sys

import pytest

CYCLE = """
class Found:
    def __del__(self):
        print("found")

one = Found()
one.itself = one
del one
"""
"""Garbage that only a search finds."""


@pytest.mark.parametrize(("first", "found"), [("", "found\n"), ("import protocol.program_start", "")])
def test_what_is_there_at_the_end_is_not_searched(first: str, found: str) -> None:
    done = subprocess.run([sys.executable, "-c", first + CYCLE], capture_output=True, text=True, check=True, timeout=60)
    assert (done.stdout, done.stderr) == (found, "")
