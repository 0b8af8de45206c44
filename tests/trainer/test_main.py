"""Every command says what it takes, and refuses what it does not."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from trainer.__main__ import COMMANDS, main
from trainer.model.checkpoints import Checkpoint


def test_commands_are_listed_without_torch() -> None:
    code = "import sys; from trainer.__main__ import main; main([]); assert 'torch' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for command in COMMANDS:
        assert f"\n  {command} " in done.stdout


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_every_setting_means(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    for name, field in import_module(COMMANDS[command]).Config.model_fields.items():
        assert field.description, f"{name} has no docstring"
        assert f"  {name}: " in told
        assert field.description.splitlines()[0] in told


def test_an_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sift"]) == 2
    assert "command_unknown: there is no sift" in capsys.readouterr().err


def test_errors_have_codes(checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"checkpoint={checkpoint.path}", f"out={tmp_path / 'run'}", f'folders=["{tmp_path / "nothing"}"]']
    told = ["sft", *(word for one in words for word in ("--set", one))]
    assert main(told) == 1
    assert "folder_unknown: " in capsys.readouterr().err
    assert main([*told, "--set", "updates=0"]) == 1
    assert "config_invalid: updates: " in capsys.readouterr().err
    assert main([*told, "--set", "update=1"]) == 1
    assert "config_unknown: there is no setting update; updates is one" in capsys.readouterr().err
