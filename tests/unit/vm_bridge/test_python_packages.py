"""Packages are installed by uv from where pip would take them."""

import importlib.util
import sys
from pathlib import Path

import pytest

from vm_bridge.python_packages import parse_pip_config, pip_install, pip_uninstall, uv_environment

LISTED = """\
:env:.find-links='/wheels /more'
global.cert='/certificates.pem'
global.constraint='/bounds.txt'
global.extra-index-url='file:///one file:///two'
global.find-links='/ignored'
global.index-url='https://mirror.example/simple'
global.no-cache-dir='true'
"""


def test_settings_of_pip_are_given_to_uv() -> None:
    assert parse_pip_config(LISTED) == {
        "UV_CONSTRAINT": "/bounds.txt",
        "UV_DEFAULT_INDEX": "https://mirror.example/simple",
        "UV_FIND_LINKS": "/wheels,/more",
        "UV_INDEX": "file:///one file:///two",
        "SSL_CERT_FILE": "/certificates.pem",
    }
    assert parse_pip_config("") == {}


def test_a_setting_of_uv_wins_over_pips(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/from-pip")
    monkeypatch.setenv("UV_FIND_LINKS", "/from-uv")
    uv_environment.cache_clear()
    try:
        assert "UV_FIND_LINKS" not in uv_environment()
        monkeypatch.delenv("UV_FIND_LINKS")
        uv_environment.cache_clear()
        assert uv_environment()["UV_FIND_LINKS"] == "/from-pip"
    finally:
        uv_environment.cache_clear()


@pytest.mark.parametrize("there", [True, False])
def test_pip_installs_where_uv_is_missing(there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda name: find_spec("json") if there else None)
    install, uninstall = pip_install(Path("/other/python"), "--no-deps", "six"), pip_uninstall("/other/python", "six")
    for command in (install, uninstall):
        assert command.words[:3] == (sys.executable, "-m", "uv" if there else "pip")
        assert command.words[command.words.index("--python") + 1] == "/other/python"
    assert install.words[-2:] == ("--no-deps", "six")
    assert ("--compile-bytecode" in install.words) is False
    assert ("--no-compile" in install.words) is not there
