"""Programs of every Windows, and the shells that run command lines."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

APPS = {
    "editor": ("notepad",),
    "notepad": ("notepad",),
    "terminal": ("cmd", "/k"),
    "powershell": ("powershell",),
    "files": ("explorer",),
    "explorer": ("explorer",),
    "calculator": ("calc",),
    "browser": ("cmd", "/c", "start", "", "microsoft-edge:"),
}
"""Programs `open_app` starts, by the names people use."""


@dataclass(frozen=True)
class ShellLanguage:
    """How the file of a command line ends, is written and is run, and the command line of an interactive shell."""

    suffix: str
    script: str
    encoding: str
    run: tuple[str, ...]
    interactive: str

    def script_of(self, command: str) -> Path:
        """A file with the command line."""
        handle, path = tempfile.mkstemp(self.suffix, "pilothouse-")
        with os.fdopen(handle, "w", encoding=self.encoding, newline="\r\n") as file:
            file.write(self.script.format(command=command.replace("\r\n", "\n")))
        return Path(path)


SHELL_LANGUAGES = {
    "powershell": ShellLanguage(
        ".ps1",
        "[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false); $ProgressPreference = 'SilentlyContinue'\n"
        "{command}\n"
        "$ok = $?; if ($LASTEXITCODE) {{ exit $LASTEXITCODE }}; if (-not $ok) {{ exit 1 }}\n",
        "utf-8-sig",
        ("powershell", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"),
        "powershell -NoLogo",
    ),
    "cmd": ShellLanguage(".cmd", "@echo off\nchcp 65001 >nul\n{command}\n", "utf-8", ("cmd", "/d", "/c"), "cmd"),
}
"""PowerShell reads a file as UTF-8 where it begins with its mark, and would end with zero whatever failed in it."""
