"""The script that installs the agent, run by Wine's cmd; programs that Wine lacks are left out of it."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.integration.windows.wine import MACHINE, MARKS, Provided, wine64_command
from vm_bridge.windows_image.guest_files import setup_script
from vm_bridge.windows_image.settings import ImageSettings

pytestmark = list(MARKS)
ABSENT = ("mode", "tar", "icacls", r"C:\pilothouse\python\python.exe", "netsh", "schtasks", "powercfg", "shutdown")


def run(provided: Provided, folder: Path, *absent: str) -> list[str]:
    """What the script says on its serial line, here a file."""
    script = setup_script(ImageSettings(Path("iso"), Path("python"), Path("out"))).decode()
    for program in absent:
        script = script.replace(f"\r\n{program} ", f"\r\nrem {program} ")
    said = folder / "said.txt"
    (folder / "setup.cmd").write_bytes(script.replace(">COM1", f">>Z:{said}").encode())
    environment = json.loads((provided.folder / MACHINE).read_text())["environment"]
    words = (*wine64_command(), "cmd", "/c", f"Z:{folder / 'setup.cmd'}")
    subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=120)
    return [line.strip().removeprefix("pilothouse ") for line in said.read_text().splitlines()]


def test_every_step_is_told_and_the_last_is_ready(provided: Provided, tmp_path: Path) -> None:
    said = run(provided, tmp_path, *ABSENT)
    steps = ("files", "rights", "python", "firewall", "task", "power", "logon", "user")
    assert said == ["begin", *steps, "ready"]
    environment = json.loads((provided.folder / MACHINE).read_text())["environment"]
    query = ("reg", "query", r"HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion\Winlogon", "/v", "DefaultUserName")
    told = subprocess.run((*wine64_command(), *query), env=environment, capture_output=True, text=True, check=True)
    assert "annotator" in told.stdout


@pytest.mark.parametrize(("missing", "last"), [("tar", "failed files"), ("powercfg", "failed power")])
def test_the_first_step_that_fails_ends_it(provided: Provided, tmp_path: Path, missing: str, last: str) -> None:
    said = run(provided, tmp_path, *(program for program in ABSENT if program != missing))
    assert said[-1] == last
    assert "ready" not in said
