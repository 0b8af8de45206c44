"""What the tutorials give the trainer's commands exists: their options, and the settings of their files."""

import re
import shlex
import sys
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.parts.tutorial.page import read_blocks
from trainer import __main__ as trainer
from trainer.config import read_config

DOCS = Path(__file__).parents[2] / "docs"
PROGRAMS = {"nano": "trainer.nano.__main__", "serve": "trainer.serve.__main__", "toy": "trainer.toy.__main__"}
COMMANDS = [
    pytest.param(words[2:], id=" ".join(words[2:4]))
    for page in ("tutorial/annotation-to-policy.md", "tutorial/ppo.md")
    for block in read_blocks(DOCS / page)
    for words in map(shlex.split, block.commands)
    if words[:2] == ["./pilothouse", "trainer"]
]


@pytest.mark.parametrize("words", COMMANDS)
def test_the_trainers_options_and_settings_exist(
    words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = PROGRAMS.get(words[0])
    positional = [word for word in words[1:] if re.fullmatch("[a-z]+", word)][:1] if words[0] in ("nano", "toy") else []
    main = import_module(program).main if program else trainer.main
    monkeypatch.setattr(sys, "argv", ["program", *([] if program else words[:1]), *positional, "--help"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    known = capsys.readouterr().out.replace(",", " ").split()
    assert {word for word in words if word.startswith("--")} <= set(known)
    if "--config" in words:
        module = f"trainer.nano.{words[1]}" if words[0] == "nano" else trainer.COMMANDS[words[0]]
        read_config(import_module(module).Config, DOCS.parent / words[words.index("--config") + 1], [])
