"""The adapters for Windows and macOS are type-checked as on these systems: nothing else runs them here."""

import sys
from pathlib import Path

import pytest
from mypy import api

from annotation_app.operations.runtime.stack import ROOT

PROGRAM = ROOT / "recorder" / "pilothouse_recorder"


@pytest.mark.parametrize(("system", "folder"), [("win32", "win32"), ("darwin", "macos")])
def test_the_adapter_of_another_system_is_typed(
    system: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    settings = tmp_path / "mypy.ini"
    settings.write_text("[mypy]\nstrict = true\nignore_missing_imports = true\n")
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    options = ["--config-file", str(settings), "--platform", system, "--python-version", version]
    files = [str(PROGRAM / "__main__.py")]
    files += [str(file) for part in (folder, "audio") for file in sorted((PROGRAM / part).glob("*.py"))]
    output, errors, status = api.run([*options, "--cache-dir", str(tmp_path / "cache"), *files])
    assert (status, errors) == (0, ""), output
