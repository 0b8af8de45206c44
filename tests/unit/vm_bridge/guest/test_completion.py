"""What bash completes a command line with, in a terminal's own process and with a real bash."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.unit.vm_bridge.guest.test_terminals import BOUND, start_helper, typed, until
from vm_bridge.guest.linux.helper_process import HelperProcess
from vm_bridge.guest.linux.terminals import completion
from vm_bridge.guest.linux.terminals.command_line import read_command_line
from vm_bridge.guest.linux.terminals.completion import complete
from vm_bridge.guest.linux.terminals.server import Terminals

LIBRARY = """
_fruit() {
  COMPREPLY=($(compgen -W "apple apricot" -- "$2"))
  [[ $2 == d* ]] && { compopt -o filenames; COMPREPLY=(dir); }
}
_slow() { sleep 600; }
_completion_loader() { complete -F "_$1" "$1"; return 124; }
"""
"""A completion library as bash-completion's version 2 has it: it loads what a command needs when it is first asked."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(completion, "SECONDS", BOUND)
    for name in ("src/main.py", "src/my file.txt", "dir/a", ".hidden"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    (tmp_path / "library").write_text(LIBRARY)
    return tmp_path


@pytest.fixture
def terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HelperProcess]:
    with start_helper(monkeypatch, tmp_path) as helper:
        yield helper


@pytest.mark.parametrize(
    ("line", "start", "options"),
    [
        ("cat s", 4, ("src/",)),
        ("cat src/m", 4, ("src/main.py", r"src/my\ file.txt")),
        ('cat "src/my f', 4, ('"src/my file.txt',)),
        (r"cat src/my\ f", 4, (r"src/my\ file.txt",)),
        ("cat ~/src/ma", 4, ("~/src/main.py",)),
        ("cat .h", 4, (".hidden",)),
        ("dd if=src/ma", 6, ("src/main.py",)),
        ("grep x | tee > src/ma", 15, ("src/main.py",)),
        ("A=1 sudo ./sr", 9, ("./src/",)),
        ("base64 x; mapfi", 10, ("mapfile",)),
        ('echo "$HOM', 6, ("$HOME",)),
        ("echo ${HOM", 5, ("${HOME}",)),
        ("echo '$HOM", 5, ()),
        ("cat nothing", 4, ()),
        ("", 0, ()),
        ("fruit ap", 6, ("apple", "apricot")),
        ("fruit d", 6, ("dir/",)),
    ],
)
def test_a_line_is_completed_as_bash_does(folder: Path, line: str, start: int, options: tuple[str, ...]) -> None:
    found = complete(line, folder, library=folder / "library")
    assert (found.start, found.options, found.more) == (start, options, False)


@pytest.mark.parametrize(
    "line",
    [
        "$(touch owned) ",
        "fruit $(touch owned)",
        "fruit `touch owned` a",
        "fruit '$(touch owned)' a",
        "fruit a[$(touch owned)]",
        "; touch owned; touch ",
        "touch owned\n",
        "fruit >(touch owned) a",
        "$(touch owned",
        "${x:=$(touch owned)}",
        "-A touch owned",
    ],
)
def test_no_part_of_a_line_is_run(folder: Path, line: str) -> None:
    (folder / "library").write_text(LIBRARY.replace("_fruit() {", '_fruit() { eval "x=\\"${COMP_WORDS[*]}\\"";'))
    complete(line, folder, library=folder / "library")
    assert not (folder / "owned").exists()


def test_options_are_bounded_and_so_is_the_time(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(120):
        (folder / "dir" / f"entry-{number:03}").touch()
    found = complete("cat dir/e", folder)
    assert (len(found.options), found.options[0], found.more) == (100, "dir/entry-000", True)
    assert complete("x" * 5_000, folder).options == ()
    monkeypatch.setattr(completion, "MAX_ENTRIES", 50)
    assert complete("cat dir/e", folder).more, "some entries were not looked at"
    assert complete("cat dir/entry-1000", folder).more
    monkeypatch.setattr(completion, "SECONDS", 0.3)
    assert complete("slow sr", folder, library=folder / "library").options == ("src/",), "paths, without its function"


def test_words_are_read_without_what_stands_before_the_command() -> None:
    read = read_command_line("a | sudo B=2 git commit -m 'two words' 2> log \"fi")
    assert (read.words, read.text, read.quote) == (("git", "commit", "-m", "two words"), "fi", '"')


def test_a_terminal_is_asked_where_its_shell_stands(terminals: HelperProcess, tmp_path: Path) -> None:
    (tmp_path / "deep" / "deeper").mkdir(parents=True)

    def asked(line: str, session: str | None) -> Any:
        return terminals.call("complete", timeout=BOUND, session=session, line=line)

    answer = {"offered": True, "start": 3, "options": ["deep/"], "more": False}
    assert asked("cd d", "main") == answer, "at home before it begins"
    assert terminals.call("list", timeout=BOUND) == {"terminals": []}
    typed(terminals, "cd deep; echo mo''ved\n")
    until(terminals, "moved")
    assert asked("cd d", "main")["options"] == ["deeper/"]
    assert asked("cd d", None) == answer


def test_the_shells_of_another_machine_are_not_asked() -> None:
    answer = Terminals(("sh",)).complete({"session": "main", "line": "cat /etc/pass"})
    assert answer == {"offered": False, "start": 0, "options": [], "more": False}
