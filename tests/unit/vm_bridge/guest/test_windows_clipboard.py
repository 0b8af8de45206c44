"""The clipboard of Windows' agent: text goes in with Windows' line ends, once, and comes out with ours."""

import sys
from collections.abc import Iterator
from types import ModuleType
from unittest.mock import patch

import pytest

CLIPBOARD: dict[str, str] = {}


@pytest.fixture
def pyperclip() -> Iterator[ModuleType]:
    module = ModuleType("pyperclip")
    module.__dict__.update(
        copy=lambda text: CLIPBOARD.update(text=text),
        paste=lambda: CLIPBOARD["text"],
        PyperclipException=RuntimeError,
    )
    name = "vm_bridge.guest.windows.shell"
    with patch.dict(sys.modules, {"pyperclip": module}):
        sys.modules.pop(name, None)
        yield module
        sys.modules.pop(name, None)


@pytest.mark.parametrize("text", ["one\ntwo\n", "one\r\ntwo\r\n", "one\r\ntwo\n"])
def test_lines_end_as_windows_wants_them_and_come_back_as_they_were_meant(pyperclip: ModuleType, text: str) -> None:
    from vm_bridge.guest.windows import shell

    shell.set_clipboard({"text": text})
    assert CLIPBOARD["text"] == "one\r\ntwo\r\n"
    assert shell.get_clipboard({}).text == "one\ntwo\n"


def test_what_is_no_line_end_and_what_no_keyboard_has_is_kept(pyperclip: ModuleType) -> None:
    from vm_bridge.guest.windows import shell

    shell.set_clipboard({"text": "<_Ü中😀>\t$(x)"})
    assert shell.get_clipboard({}).text == "<_Ü中😀>\t$(x)"
