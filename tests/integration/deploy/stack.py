"""The compose file's whole installation, for tests: started, asked, taken away with all it stored."""

import os
import runpy
import shutil
import socket
import subprocess
from functools import cache
from pathlib import Path

import pytest

from annotation_app.operations.runtime.stack import ROOT

DOCKER = ROOT / "docker"
PROJECT = "pilothouse-test"
HOST = "localhost"
PORTS = (80, 443, 8010, 8011)
"""What the proxy listens on, as everywhere: the origin that pages come from has no port."""
IMAGES = tuple(f"pilothouse-{name}" for name in ("app", "bridge", "pooler", "turn", "postgres", "redis", "proxy"))
SENDER = "installation@localhost"
"""A setting of this installation's own."""
PATIENCE = 900.0
"""Longest until every part has said that it works (seconds)."""


@cache
def compose() -> tuple[str, ...] | None:
    """The command there is: Compose 2, or docker-compose."""
    for words in (("docker", "compose"), ("docker-compose",)):
        if shutil.which(words[0]) and _rc(*words, "version") == 0:
            return words
    return None


@cache
def _missing() -> str | None:
    """Why no stack can be started here; None when one can."""
    if shutil.which("docker") is None or _rc("docker", "version") != 0:
        return "needs a container engine"
    if compose() is None:
        return "needs docker compose or docker-compose"
    if any(_rc("docker", "image", "inspect", image) != 0 for image in IMAGES):
        return "needs its images: docker compose -f docker/compose.yaml -f docker/debian.yaml build"
    for port in PORTS:
        with socket.socket() as one:
            if one.connect_ex((HOST, port)) == 0:
                return f"port {port} is in use"
    return None


def need_stack() -> None:
    """Skip the test where none can be had."""
    reason = _missing()
    if reason is not None:
        pytest.skip(reason)


def _rc(*words: str) -> int:
    return subprocess.run(words, capture_output=True, timeout=120, check=False).returncode


class Stack:
    """One installation, with secrets and a certificate of its own below `folder`."""

    def __init__(self, folder: Path) -> None:
        self._certificates, self._secrets = folder / "certificates", folder / "secrets"
        self.authority = self._certificates / "fullchain.pem"
        """What clients must trust."""
        runpy.run_path(str(DOCKER / "keys.py"))["secrets_make"](self._secrets, HOST)
        with (self._secrets / "environment").open("a") as settings:
            settings.write(f"PILOTHOUSE_EMAIL_FROM={SENDER}\n")
        self._certificates.mkdir()
        key = self._certificates / "privkey.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", self.authority,
             "-days", "2", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"],
            capture_output=True, timeout=120, check=True,
        )  # fmt: skip
        key.chmod(0o644)  # the proxy's user is another one

    def start(self) -> None:
        """Return when every part works. Nothing is built or fetched."""
        self._compose("up", "--detach", "--no-build", patience=PATIENCE)

    def stop(self) -> None:
        """Take it away, with what it stored."""
        self._compose("down", "--volumes", "--timeout", "30", patience=300)

    def run(self, service: str, *words: str, **environment: str) -> str:
        """What a program says that is run in a service's container. Raises AssertionError with its complaint."""
        given = [word for name, value in environment.items() for word in ("-e", f"{name}={value}")]
        return self._compose("exec", "-T", *given, service, *words, patience=300)

    def manage(self, *words: str, **environment: str) -> str:
        """The same of `manage.py`, as docs/guides/operator/deploy.md has it."""
        return self.run("worker", "entrypoint", "python3", "manage.py", *words, **environment)

    def query(self, statement: str) -> str:
        """What PostgreSQL answers, asked by itself."""
        shell = 'PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE") exec psql -U "$POSTGRES_USER" -tAc "$1"'
        return self.run("postgres", "sh", "-c", shell, "psql", statement).strip()

    def kill(self, service: str) -> None:
        """End a service's program without a word. Nothing starts it again."""
        self._compose("kill", "-s", "SIGKILL", service, patience=120)

    def log_tails(self) -> str:
        """The ends of all logs, for who has to find out what went wrong."""
        return self._compose("logs", "--no-color", "--tail", "40", patience=120)

    def backup(self, folder: Path) -> None:
        """As docs/guides/operator/deploy.md has it."""
        self._script("backup.sh", folder)

    def restore(self, folder: Path) -> None:
        """The same, where nothing runs and nothing is stored."""
        self._script("restore.sh", folder)

    def _script(self, name: str, folder: Path) -> None:
        self._run(str(DOCKER / name), str(folder), patience=PATIENCE, COMPOSE=" ".join(self._command))

    def _compose(self, *words: str, patience: float) -> str:
        return self._run(*self._command, *words, patience=patience)

    @property
    def _command(self) -> tuple[str, ...]:
        command = compose()
        assert command is not None, "asked for a stack without need_stack"
        files = [word for name in ("compose.yaml", "debian.yaml") for word in ("-f", str(DOCKER / name))]
        return (*command, "--project-name", PROJECT, *files, "--profile", "demo")

    def _run(self, *words: str, patience: float, **environment: str) -> str:
        done = subprocess.run(
            words,
            env={
                **os.environ,
                "PILOTHOUSE_HOST": HOST,
                "PILOTHOUSE_SECRETS": str(self._secrets),
                "PILOTHOUSE_BRIDGE_SECCOMP": str(DOCKER / "bridge-seccomp.json"),
                "PILOTHOUSE_CERTIFICATES": str(self._certificates),
                "PILOTHOUSE_MAX_MACHINES": "2",
                **environment,
            },
            capture_output=True, text=True, timeout=patience, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{' '.join(words)}:\n{done.stderr[-8000:]}"
        return done.stdout
