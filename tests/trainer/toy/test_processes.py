"""A trainer and those who play for it are processes of their own; killed at any moment, all goes on from disk."""

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from protocol.training.inbox import PROCESSED_FOLDER
from tests.trainer.programs import Program
from trainer.algorithms.ppo import Config
from trainer.toy.worker import OPEN

WITHIN = 600.0
UPDATES, ATTEMPTS = 4, 6


class Running:
    """What was started here, and is ended here."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[Program] = []

    def begin(self, module: str, *words: str) -> Program:
        process = Program(self.folder / str(len(self.processes)), module, *words)
        self.processes.append(process)
        return process


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """Processes that do not outlive their test."""
    made = Running(tmp_path / "said")
    yield made
    for process in made.processes:
        process.kill()
        process.wait()


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait for something others do."""
    end = time.monotonic() + WITHIN
    while not holds():
        assert time.monotonic() < end, what
        time.sleep(0.02)


@pytest.mark.timeout(1800)
def test_any_of_them_may_be_killed(told: Callable[..., dict[str, Any]], tmp_path: Path, running: Running) -> None:
    settings = Config(
        **told(
            world="inbox", updates=UPDATES, attempts=ATTEMPTS, critic_learning_rate=3e-3, staleness=20, patience=WITHIN
        )
    )
    run, inbox = settings.out, settings.inbox
    (tmp_path / "ppo.json").write_text(settings.model_dump_json())
    train = ("trainer", "ppo", "--config", str(tmp_path / "ppo.json"))
    play = ("trainer.toy", "play", "--run", str(run), "--inbox", str(inbox), "--parallel", "4", "--ahead", "12")
    trainer, player = running.begin(*train), running.begin(*play)
    until((run / "update-000002").exists, "two updates were not done")
    unfinished = inbox / OPEN / "worker"
    until(lambda: any(unfinished.glob("*.json")) or len(list(inbox.glob("[0-9]*"))) >= 12, "nobody plays")
    for process in (trainer, player):
        process.kill()
        process.wait()
    left = {file.stem.split("-")[1] for file in unfinished.glob("*.json")}
    done = {folder.name.split("-")[0] for folder in [*inbox.glob("[0-9]*"), *(inbox / PROCESSED_FOLDER).iterdir()]}
    trainer, player = running.begin(*train), running.begin(*play)
    assert trainer.wait(WITHIN) == 0, trainer.stderr
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [line["update"] for line in lines] == list(range(1, UPDATES + 1))
    taken = {folder.name.split("-")[0] for folder in (inbox / PROCESSED_FOLDER).iterdir()}
    assert len(taken) == sum(line["attempts"] for line in lines), "each attempt was learned from once"
    waiting = {folder.name.split("-")[0] for folder in inbox.glob("[0-9]*")}
    still_open = {file.stem.split("-")[1] for file in unfinished.glob("*.json")}
    assert left | done <= taken | waiting | still_open, "nothing that was begun is lost"
    assert any(line["versions"] > 1 for line in lines), "attempts of several versions meet in one update"
