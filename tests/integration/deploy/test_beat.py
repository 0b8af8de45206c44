"""The beat of the compose file answers its check while it works, and only then: its command and its check, in full."""

import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from annotation_app.settings.base import ROOT
from tests.integration.deploy.stack import DOCKER
from tests.waiting import wait_until

BEAT = yaml.safe_load((DOCKER / "compose.yaml").read_text())["services"]["beat"]
ENTRYPOINT = """#!/bin/sh
exec "$@"
"""
PATIENCE = 120.0
"""Seconds it may take to begin on a busy machine."""


@pytest.fixture
def environment(redis_url: str, tmp_path: Path) -> dict[str, str]:
    """As in its container, where the entrypoint has read the secrets."""
    (tmp_path / "entrypoint").write_text(ENTRYPOINT)
    (tmp_path / "entrypoint").chmod(0o755)
    return {
        **os.environ,
        "PATH": f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOSTNAME": socket.gethostname(),
        "DJANGO_SETTINGS_MODULE": "annotation_app.settings.local",
        "PILOTHOUSE_REDIS_URL": redis_url,
    }


@pytest.fixture
def beat(environment: dict[str, str], tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Its command, its schedule in a folder of the test's."""
    words = shlex.split(BEAT["command"].replace("/tmp/", f"{tmp_path}/"))
    process = subprocess.Popen(words, cwd=ROOT, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait(30)


@pytest.mark.slow
def test_the_check_tells_a_beat_that_works_from_one_that_does_not(
    beat: "subprocess.Popen[bytes]", environment: dict[str, str]
) -> None:
    kind, check = BEAT["healthcheck"]["test"]
    assert kind == "CMD-SHELL"

    def well() -> bool:
        words = ["sh", "-c", check.replace("$$", "$")]
        return (
            subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, timeout=PATIENCE, check=False)
        ).returncode == 0

    wait_until(well, limit=PATIENCE)
    beat.send_signal(signal.SIGSTOP)
    assert not well()
    beat.send_signal(signal.SIGCONT)
    wait_until(well, limit=PATIENCE)
