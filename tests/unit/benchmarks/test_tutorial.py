"""The tutorials' commands exist, with the options that they are given; the bench runs them."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from annotation_app.operations.__main__ import parse
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.tutorial.page import read_blocks
from benchmarks.tutorial import PAGES

COMMANDS = [
    pytest.param(shlex.split(command), id=f"{page.stem}-{block.line}-{place}")
    for page in PAGES.values()
    for block in read_blocks(page)
    for place, command in enumerate(block.commands)
]
PROGRAMS = {"benchmark": "agent_backend.benchmark", "evaluate": "agent_backend.evaluation"}


def help_of(*words: str) -> str:
    """What a program says of its options."""
    done = subprocess.run([sys.executable, *words, "--help"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_and_its_options_exist(words: list[str]) -> None:
    assert words[0] == "./pilothouse"
    _, rest = parse(words[1:])
    options = {word.partition("=")[0] for word in rest if word.startswith("--")}
    known: str | None
    match words[1]:
        case "manage":
            known = help_of("manage.py", rest[0], "--settings", "annotation_app.settings.local")
        case "trainer":
            known = None  # its programs need torch; what they are given is read below
        case name if name in PROGRAMS:
            known = help_of("-m", PROGRAMS[name])
        case _:
            assert not rest
            known = ""
    assert known is None or all(option in known.replace(",", " ").split() for option in options), options
    for file in (Path(word) for word in words if word.startswith("docs/")):
        assert isinstance(json.loads((ROOT / file).read_text()), dict)


@pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.stem)
def test_what_runs_on_says_when_it_is_ready(page: Path) -> None:
    servers = ("./pilothouse demo", "./pilothouse trainer serve")
    for block in read_blocks(page):
        assert bool(block.ready) == block.body.startswith(servers), block.line
        assert page.read_text().count(f"*{block.ready}*") or not block.ready, "the reader is told too"
