"""Which user ids sandboxes get."""

import itertools
import os
import subprocess

import pytest

from vm_bridge.isolation import users
from vm_bridge.isolation.users import FIRST_USER, USERS, user_free, users_of_processes


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user starts no process of another")
def test_a_user_that_has_a_process_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    last = FIRST_USER + USERS - 1
    with subprocess.Popen(["sleep", "600"], user=last) as process:
        try:
            taken = users_of_processes()
            assert last in taken
            monkeypatch.setattr(users, "_numbers", itertools.count(USERS - 1))
            given = user_free()
            assert given not in (None, last)
            assert given not in taken
        finally:
            process.kill()


def test_where_every_user_has_processes_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(users, "users_of_processes", lambda: set(range(FIRST_USER, FIRST_USER + USERS)))
    with pytest.raises(RuntimeError, match="every user id"):
        user_free()


def test_an_ordinary_user_has_none_to_give(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert user_free() is None
