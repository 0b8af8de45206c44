"""The process of a run: when it is pending no more, and weights that are served for it."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from annotation_app.benchmark_runs import program, run_folder
from annotation_app.operations.runtime.stack import ROOT

MAIN = "annotation_app.benchmark_runs.program.benchmark.main"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    request = run_folder.RunRequest(benchmark="games", policy="m", revision="r", words=(), at=datetime.now(UTC))
    (tmp_path / run_folder.REQUEST_FILE).write_text(request.model_dump_json())
    run_folder.set_pending(tmp_path, 1)
    return tmp_path


@pytest.mark.parametrize(("code", "pending"), [(0, False), (1, False), (program.INTERRUPTED, True)])
def test_only_a_run_that_was_ended_from_outside_stays_pending(
    run: Path, monkeypatch: pytest.MonkeyPatch, code: int, pending: bool
) -> None:
    given: list[list[str]] = []

    def benchmark(words: list[str]) -> int:
        given.append(words)
        return code

    monkeypatch.setattr(MAIN, benchmark)
    assert program.main([str(run), "--suite", "games"]) == code
    assert given == [["--suite", "games", "--out", str(run)]]
    assert run_folder.is_pending(run) is pending


def test_a_run_that_was_cancelled_meanwhile_makes_no_attempt(
    run: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(MAIN, lambda words: pytest.fail("it was cancelled"))
    run_folder.cancel_pending(run)
    assert program.main([str(run)]) == 0
    assert run_folder.CANCELLED in capfd.readouterr().err
    assert run_folder.last_line(run) == run_folder.CANCELLED


def test_its_process_starts_with_nothing_but_the_environment_of_a_command(tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin", "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "annotation_app.benchmark_runs.program", str(tmp_path)]
    subprocess.run(words, env=environment, cwd=ROOT, check=True, timeout=60)


@pytest.fixture
def trainer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment of the trainer whose server answers with the files of the folder of weights."""
    python = tmp_path / "trainer" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} -m http.server --bind 127.0.0.1 -d "$3" "$7"\n')
    python.chmod(0o755)
    monkeypatch.setattr(program, "TRAINER_FOLDER", tmp_path / "trainer")
    return python


def test_weights_answer_while_the_attempts_are_made(run: Path, trainer: Path, tmp_path: Path) -> None:
    models = tmp_path / "weights" / "v1" / "models"
    models.parent.mkdir(parents=True)
    models.write_text("{}")
    with program.served_checkpoint(str(tmp_path / "weights"), run) as words:
        address = words[1]
        assert words == ("--model-url", address, "--model", program.SERVED_MODEL)
        assert httpx.get(f"{address}/models").text == "{}"
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}/models")


def test_weights_that_are_not_served_end_the_run_with_a_reason(
    run: Path, trainer: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    trainer.write_text("#!/bin/sh\necho no weights >&2\nexit 3\n")
    request = run_folder.read_request(run)
    assert request is not None
    (run / run_folder.REQUEST_FILE).write_text(request.model_copy(update={"checkpoint": "/w"}).model_dump_json())
    monkeypatch.setattr(MAIN, lambda words: pytest.fail("nothing answers"))
    assert program.main([str(run)]) == 1
    assert "model_server_failed: the model server ended with 3: no weights" in capfd.readouterr().err
    assert not run_folder.is_pending(run)
