"""The trainer's log-probabilities, which those of servers are held against."""

import json
import subprocess
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.stack import ROOT

TEMPERATURE = 0.7
ANSWER_TIMEOUT_SECONDS = 600.0


class Likelihoods:
    """The trainer's log-probabilities: one process for each checkpoint, since its start takes longest."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._python, self._folder = python, folder
        self._processes: dict[Path, subprocess.Popen[str]] = {}

    def of(self, checkpoint: Path, requests: list[dict[str, object]]) -> list[list[float]]:
        """Those of each reply's tokens. Raises AssertionError where the process ends before its answer."""
        process = self._processes.get(checkpoint) or self._start(checkpoint)
        assert process.stdin is not None
        assert process.stdout is not None
        found = []
        for request in requests:
            print(json.dumps(request), file=process.stdin, flush=True)
            line = process.stdout.readline()
            assert line, self._log(checkpoint).read_text()
            found.append(json.loads(line)["logprobs"])
        return found

    def close(self) -> None:
        for process in self._processes.values():
            process.communicate(timeout=ANSWER_TIMEOUT_SECONDS)

    def _start(self, checkpoint: Path) -> "subprocess.Popen[str]":
        command: list[str | Path] = [self._python, "-m", "trainer.likelihood", checkpoint]
        with self._log(checkpoint).open("w") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, cwd=ROOT
            )
        self._processes[checkpoint] = process
        return process

    def _log(self, checkpoint: Path) -> Path:
        return self._folder / f"{checkpoint.name}.log"


def difference(likelihoods: Likelihoods, checkpoint: Path, answer: dict[str, Any], images: tuple[str, ...]) -> float:
    """The largest between the server's log-probabilities and the trainer's."""
    prompt = {"prompt_token_ids": answer["prompt_token_ids"], "images": images, "temperature": TEMPERATURE}
    found = likelihoods.of(checkpoint, [{**prompt, "token_ids": choice["token_ids"]} for choice in answer["choices"]])
    said: list[list[float]] = [
        [token["logprob"] for token in choice["logprobs"]["content"]] for choice in answer["choices"]
    ]
    assert [len(one) for one in found] == [len(one) for one in said]
    return max(abs(a - b) for one, other in zip(found, said, strict=True) for a, b in zip(one, other, strict=True))
