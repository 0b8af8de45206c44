"""A Wayland desktop is refused, however it shows itself."""

from types import SimpleNamespace
from typing import Any

import pytest
from Xlib.error import DisplayNameError

from recorder.pilothouse_recorder import x11
from recorder.pilothouse_recorder.errors import RecorderError

VARIABLES = ("XDG_SESSION_TYPE", "WAYLAND_DISPLAY")


def no_display() -> Any:
    raise DisplayNameError(":9")


def display(*extensions: str) -> Any:
    return lambda: SimpleNamespace(has_extension=lambda name: name in extensions, close=lambda: None)


@pytest.mark.parametrize(
    ("variables", "opened", "code"),
    [
        ({"XDG_SESSION_TYPE": "wayland"}, display(), "wayland"),
        ({"WAYLAND_DISPLAY": "wayland-0"}, no_display, "wayland"),
        ({}, display("XWAYLAND"), "wayland"),
        ({}, no_display, "no_display"),
    ],
)
def test_what_cannot_be_recorded_has_a_code(
    variables: dict[str, str], opened: Any, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(x11, "Display", opened)
    with pytest.raises(RecorderError) as caught:
        x11.open_display()
    assert caught.value.code == code
    assert code != "wayland" or "Xorg" in str(caught.value)


def test_an_x_server_beside_a_wayland_desktop_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_SESSION_TYPE", raising=False)
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    monkeypatch.setattr(x11, "Display", display("RECORD"))
    assert x11.open_display().has_extension("RECORD")
