"""Secrets are made once, and only their owner reads them."""

import json
import stat
from dataclasses import astuple
from pathlib import Path

from annotation_app.operations.runtime.secrets import InstallationSecrets


def test_they_are_made_once_and_kept(tmp_path: Path) -> None:
    first = InstallationSecrets.load_or_create(tmp_path / "secrets.json")
    assert InstallationSecrets.load_or_create(tmp_path / "secrets.json") == first
    assert len(set(astuple(first))) == len(astuple(first))
    assert min(map(len, astuple(first))) >= 32


def test_only_the_owner_reads_the_file(tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    InstallationSecrets.load_or_create(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


def test_a_secret_that_is_new_is_added_to_those_that_are_there(tmp_path: Path) -> None:
    file = tmp_path / "secrets.json"
    file.write_text(json.dumps({"django": "kept"}))
    secrets = InstallationSecrets.load_or_create(file)
    assert secrets.django == "kept"
    assert json.loads(file.read_text())["bridge"] == secrets.bridge


def test_a_crash_while_writing_leaves_no_lasting_harm(tmp_path: Path) -> None:
    (tmp_path / "secrets.new").write_text("half of")
    assert InstallationSecrets.load_or_create(tmp_path / "secrets.json") == InstallationSecrets.load_or_create(
        tmp_path / "secrets.json"
    )
