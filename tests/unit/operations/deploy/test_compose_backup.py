"""The scripts that copy a compose installation: they take the secrets that it runs with, or say that they do not."""

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from annotation_app.operations.runtime.stack import ROOT

DOCKER = ROOT / "docker"
KEYS = runpy.run_path(str(DOCKER / "keys.py"))
ENGINE = """#!/bin/sh
# An engine whose containers are this machine: `exec`, `run` and what is then to be done there.
printf '%s\\n' "$*" >> "$INSIDE/asked"
while [ "$1" != sh ] && [ "$1" != true ]; do shift; done
first=$1 flag=${2-} script=$(printf %s "${3-}" | sed "s|/run/secrets|$INSIDE/secrets|g")
[ $# -lt 3 ] || shift 3
exec "$first" "$flag" "$script" "$@"
"""
DATABASE = """#!/bin/sh
[ ! -e "$INSIDE/broken" ] || { echo "out of order" >&2; exit 1; }
case $(basename "$0") in
  pg_dump) echo a dump ;;
  pg_restore) cat > "$INSIDE/restored" ;;
esac
"""


class Installation:
    """One on this machine: the folder `docker` of its own, secrets elsewhere, an engine and a database that obey."""

    def __init__(self, folder: Path) -> None:
        self.docker, self.inside, self.data = folder / "docker", folder / "inside", folder / "data"
        self.secrets = folder / "kept"
        self.tools = tools = folder / "tools"
        for each in (self.docker, self.inside / "secrets", self.data, tools):
            each.mkdir(parents=True)
        for name in ("keys.py", "backup.sh", "restore.sh"):
            shutil.copy(DOCKER / name, self.docker)
        for path in (KEYS["REDIS_USERS"], KEYS["HOST_KEYS"]):
            copied = folder / path.relative_to(ROOT)
            copied.parent.mkdir(parents=True)
            shutil.copy(path, copied)
        for name, text in (("compose", ENGINE), *((name, DATABASE) for name in ("pg_dump", "pg_restore", "psql"))):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        (self.data / "blob").write_text("a picture")
        (self.inside / "password").write_text("word")
        self.environment = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "COMPOSE": "compose",
            "INSIDE": str(self.inside),
            "PILOTHOUSE_DATA": str(self.data),
            "POSTGRES_USER": "pilothouse",
            "POSTGRES_PASSWORD_FILE": str(self.inside / "password"),
        }

    def runs_with(self, secrets: Path) -> None:
        """Have the containers see these."""
        KEYS["secrets_make"](secrets, "pilothouse.test")
        shutil.copy(secrets / "secret_key", self.inside / "secrets")

    def asked(self) -> str:
        """What the engine was asked."""
        file = self.inside / "asked"
        return file.read_text() if file.exists() else ""

    def does(self, *words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in words],
            cwd=cwd, env=self.environment, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    """Its secrets are named in `.env`, from the folder where that is."""
    made = Installation(tmp_path / "installation")
    (made.docker / ".env").write_text("PILOTHOUSE_HOST=pilothouse.test\nPILOTHOUSE_SECRETS=../kept\n")
    made.runs_with(made.secrets)
    return made


@pytest.mark.parametrize(
    ("line", "folder"),
    [
        ("", "secrets"),
        ("PILOTHOUSE_HOST=../kept", "secrets"),
        ("#PILOTHOUSE_SECRETS=../kept", "secrets"),
        ("PILOTHOUSE_SECRETS=", "secrets"),
        ("PILOTHOUSE_SECRETS= # none", "secrets"),
        ("PILOTHOUSE_SECRETS=../kept", "../kept"),
        ("PILOTHOUSE_SECRETS=/srv/kept", "/srv/kept"),
        (" export PILOTHOUSE_SECRETS = '../two words' # where", "../two words"),
        ('PILOTHOUSE_SECRETS="../a # b"', "../a # b"),
        ("PILOTHOUSE_SECRETS=../a#b  # where", "../a#b"),
        ("PILOTHOUSE_SECRETS=first\nPILOTHOUSE_SECRETS=second", "second"),
    ],
)
def test_secrets_are_where_compose_looks_for_them(tmp_path: Path, line: str, folder: str) -> None:
    (tmp_path / ".env").write_text(f"A=1\n{line}\nB=2\n")
    assert KEYS["folder_of"](tmp_path, {}) == tmp_path / folder


def test_what_is_exported_goes_before_the_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("PILOTHOUSE_SECRETS=../kept\n")
    assert KEYS["folder_of"](tmp_path, {"PILOTHOUSE_SECRETS": "other"}) == tmp_path / "other"
    assert KEYS["folder_of"](tmp_path, {"PILOTHOUSE_SECRETS": ""}) == tmp_path / "secrets"
    assert KEYS["folder_of"](tmp_path, {"PILOTHOUSE_SECRETS": "~/it"}) == Path.home() / "it"


@pytest.mark.parametrize("value", ["$HOME/kept", '"${HOME}/kept"', '"../kept', "'a' b", r"..\kept"])
def test_what_only_compose_understands_is_told(installation: Installation, tmp_path: Path, value: str) -> None:
    (installation.docker / ".env").write_text(f"PILOTHOUSE_SECRETS={value}\n")
    said = installation.does(sys.executable, installation.docker / "keys.py", "pilothouse.test", cwd=tmp_path)
    assert said.returncode == 2
    assert f"PILOTHOUSE_SECRETS={value} in .env" in said.stderr
    assert not (installation.docker / "secrets").exists()


@pytest.mark.skipif(shutil.which("docker-compose") is None, reason="docker-compose is not installed")
@pytest.mark.parametrize("line", ["", " export PILOTHOUSE_SECRETS = '../kept' # where", "PILOTHOUSE_SECRETS=../ke#pt"])
def test_compose_looks_there(tmp_path: Path, line: str) -> None:
    docker = shutil.copytree(DOCKER, tmp_path / "docker", ignore=shutil.ignore_patterns("secrets", ".env"))
    (docker / ".env").write_text(f"PILOTHOUSE_HOST=pilothouse.test\n{line}\n")
    folder = KEYS["folder_of"](docker, {})
    KEYS["secrets_make"](folder, "pilothouse.test")
    # docker-compose 1.29 looks for this one file in the present folder.
    environment = {"PATH": os.environ["PATH"], "PILOTHOUSE_BRIDGE_SECCOMP": str(docker / "bridge-seccomp.json")}
    said = subprocess.run(
        ["docker-compose", "-f", str(docker / "compose.yaml"), "config"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert f"file: {folder.resolve()}/secret_key\n" in said.stdout, said.stderr


def test_new_secrets_lie_where_those_before_them_do(installation: Installation, tmp_path: Path) -> None:
    said = installation.does(sys.executable, installation.docker / "keys.py", "pilothouse.test", cwd=tmp_path)
    assert "made nothing, all were there" in said.stdout
    assert not (installation.docker / "secrets").exists()


def test_a_backup_has_the_secrets_that_run(installation: Installation, tmp_path: Path) -> None:
    """From any folder, though beside the compose file there are others."""
    KEYS["secrets_make"](installation.docker / "secrets", "pilothouse.test")
    copy = tmp_path / "backups" / "monday"
    said = installation.does(installation.docker / "backup.sh", copy, cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert (copy / "secrets" / "secret_key").read_text() == (installation.secrets / "secret_key").read_text()
    assert (copy / "database.dump").read_text() == "a dump\n"
    assert [each.name for each in copy.parent.iterdir()] == ["monday"]
    assert (installation.data / "last-backup.json").exists()


@pytest.mark.parametrize("linked", ["", "secret_key"])
def test_a_backup_has_secrets_that_are_linked(installation: Installation, tmp_path: Path, linked: str) -> None:
    """The folder, or a file of it: where what a link leads to is lost, the copy has it."""
    link, vault = installation.secrets / linked, tmp_path / "vault"
    key = (installation.secrets / "secret_key").read_text()
    link.rename(vault)
    link.symlink_to(vault)
    copy = tmp_path / "monday"
    said = installation.does(installation.docker / "backup.sh", copy, cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert [each for each in (copy / "secrets", *(copy / "secrets").rglob("*")) if each.is_symlink()] == []
    (shutil.rmtree if vault.is_dir() else os.remove)(vault)
    link.unlink()
    shutil.rmtree(installation.secrets, ignore_errors=True)
    said = installation.does(installation.docker / "restore.sh", copy, cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert (installation.secrets / "secret_key").read_text() == key


def test_secrets_that_change_meanwhile_are_no_backup(installation: Installation, tmp_path: Path) -> None:
    (installation.tools / "pg_dump").write_text(f"#!/bin/sh\necho other > {installation.secrets}/secret_key\n")
    said = installation.does(installation.docker / "backup.sh", tmp_path / "backups" / "monday", cwd=tmp_path)
    assert said.returncode == 1
    assert "changed while they were copied" in said.stderr
    assert list((tmp_path / "backups").iterdir()) == []


def test_without_secrets_there_is_no_backup(installation: Installation, tmp_path: Path) -> None:
    installation.environment["PILOTHOUSE_SECRETS"] = "nowhere"
    said = installation.does(installation.docker / "backup.sh", tmp_path / "backups" / "monday", cwd=tmp_path)
    assert said.returncode == 1
    assert f"no secrets in {installation.docker}/nowhere" in said.stderr
    assert installation.asked() == ""
    assert not (tmp_path / "backups").exists()


def test_other_secrets_than_those_that_run_are_no_backup(installation: Installation, tmp_path: Path) -> None:
    KEYS["secrets_make"](installation.docker / "secrets", "pilothouse.test")
    (installation.docker / ".env").unlink()
    said = installation.does(installation.docker / "backup.sh", tmp_path / "backups" / "monday", cwd=tmp_path)
    assert said.returncode == 1
    assert "not what the worker runs with" in said.stderr
    assert "pg_dump" not in installation.asked()
    assert not (tmp_path / "backups").exists()


def test_a_backup_that_fails_leaves_nothing(installation: Installation, tmp_path: Path) -> None:
    (installation.inside / "broken").touch()
    said = installation.does(installation.docker / "backup.sh", tmp_path / "backups" / "monday", cwd=tmp_path)
    assert said.returncode == 1
    assert "out of order" in said.stderr
    assert list((tmp_path / "backups").iterdir()) == []


@pytest.fixture
def copy(installation: Installation, tmp_path: Path) -> Path:
    """A backup of it."""
    folder = tmp_path / "backups" / "monday"
    assert installation.does(installation.docker / "backup.sh", folder, cwd=tmp_path).returncode == 0
    return folder


def test_restored_secrets_lie_where_compose_looks(installation: Installation, copy: Path, tmp_path: Path) -> None:
    shutil.rmtree(installation.secrets)
    (installation.data / "blob").unlink()
    said = installation.does(installation.docker / "restore.sh", copy, cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert (installation.secrets / "secret_key").read_text() == (copy / "secrets" / "secret_key").read_text()
    assert not (installation.docker / "secrets").exists()
    assert (installation.inside / "restored").read_text() == "a dump\n"
    assert (installation.data / "blob").read_text() == "a picture"


def test_where_compose_takes_other_secrets_nothing_is_restored(
    installation: Installation, copy: Path, tmp_path: Path
) -> None:
    installation.runs_with(tmp_path / "others")
    said = installation.does(installation.docker / "restore.sh", copy, cwd=tmp_path)
    assert said.returncode == 1
    assert "compose takes other secrets than" in said.stderr
    assert not (installation.inside / "restored").exists()


def test_a_backup_without_secrets_is_not_restored(installation: Installation, copy: Path, tmp_path: Path) -> None:
    """Such as one that has a link to where they were."""
    shutil.rmtree(copy / "secrets")
    (copy / "secrets").symlink_to("nowhere")
    shutil.rmtree(installation.secrets)
    said = installation.does(installation.docker / "restore.sh", copy, cwd=tmp_path)
    assert said.returncode == 1
    assert f"no secrets in {copy}" in said.stderr
    assert not installation.secrets.is_symlink()
    assert not (installation.inside / "restored").exists()


def test_secrets_are_not_restored_through_a_link_to_nowhere(
    installation: Installation, copy: Path, tmp_path: Path
) -> None:
    shutil.rmtree(installation.secrets)
    installation.secrets.symlink_to(tmp_path / "vault")
    said = installation.does(installation.docker / "restore.sh", copy, cwd=tmp_path)
    assert said.returncode == 1
    assert "is a link to where nothing is" in said.stderr
    assert not (installation.inside / "restored").exists()
