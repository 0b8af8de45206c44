"""The bundled policy's server starts again with the weights that it was given last."""

from pathlib import Path

import pytest

from annotation_app.operations.runtime.secrets import InstallationSecrets
from annotation_app.operations.runtime.served_weights import (
    SERVED_WEIGHTS_FILE,
    ServedWeights,
    read_served_weights,
    record_served_weights,
)
from annotation_app.operations.runtime.stack import LOOPBACK, NANO_CHECKPOINT, PlatformStack, Ports

DEFAULT = ServedWeights(Path("/bundled"), "default")


def test_what_was_noted_last_is_read(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        record_served_weights(tmp_path, ServedWeights(tmp_path / str(number), f"main-{number}"))
    assert read_served_weights(tmp_path, DEFAULT) == ServedWeights(tmp_path / "2", "main-2")


@pytest.mark.parametrize("noted", [None, "", "[]", '{"checkpoint": "/away/for/good", "version": "main-1"}'])
def test_else_it_is_the_default(tmp_path: Path, noted: str | None) -> None:
    if noted is not None:
        (tmp_path / SERVED_WEIGHTS_FILE).write_text(noted)
    assert read_served_weights(tmp_path, DEFAULT) == DEFAULT


def test_the_stack_serves_them_and_lets_the_flywheel_change_them(tmp_path: Path) -> None:
    secrets = InstallationSecrets.load_or_create(tmp_path / "secrets.json")
    stack = PlatformStack(tmp_path, LOOPBACK, Ports(), secrets, trainer=Path("/trainer/python"))
    commands = [stack._nano()[0].command]
    (tmp_path / "weights").mkdir()
    record_served_weights(tmp_path, ServedWeights(tmp_path / "weights", "main-1"))
    commands.append(stack._nano()[0].command)
    assert [command[3] for command in commands] == [str(NANO_CHECKPOINT), str(tmp_path / "weights")]
    assert [command[-3:] for command in commands] == [
        ("--weight-version", version, "--dev") for version in ("default", "main-1")
    ]
