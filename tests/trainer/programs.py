"""Programs of the trainer as processes, forked from one that has loaded torch and the trainer already.

Loading them takes four seconds of a processor, for each process that torchrun starts. Forked processes are otherwise
the same: of their own, with the arguments and the variables that torchrun gives, and killed like any other.
"""

import contextlib
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WITHIN = 1500.0
LOADED = ("trainer.algorithms.ct", "trainer.algorithms.ppo", "trainer.toy.__main__")
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(list(LOADED))


class Program:
    """`python -m MODULE WORDS…`, begun; what it says goes to files in `folder`."""

    def __init__(self, folder: Path, module: str, *words: str, **environment: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._out, self._error = folder / "stdout", folder / "stderr"
        target, given = _become, (module, words, environment, str(self._out), str(self._error))
        self._process = FORKS.Process(target=target, args=given, daemon=True)
        self._process.start()

    @property
    def returncode(self) -> int | None:
        """Its exit status; None while it runs."""
        return self._process.exitcode

    def kill(self) -> None:
        """Kill it, if it still runs."""
        self._process.kill()

    def wait(self, seconds: float = WITHIN) -> int:
        """Its exit status. Raises TimeoutExpired, with the process killed."""
        self._process.join(seconds)
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()
            raise subprocess.TimeoutExpired(str(self._out), seconds, self.stdout, self.stderr)
        return self._process.exitcode

    @property
    def stdout(self) -> str:
        return _text(self._out)

    @property
    def stderr(self) -> str:
        return _text(self._error)


def run_trainer(
    command: str, settings: dict[str, Any], *, processes: int = 1, torchrun: bool = False
) -> "subprocess.CompletedProcess[str]":
    """A command of the trainer to its end, by so many processes that share a model.

    Args:
        torchrun: Whether torchrun itself starts them, as it does for a person.
    """
    out = Path(settings["out"])
    config = out.with_name(f"{out.name}.json")
    config.write_text(json.dumps(settings))
    words = (command, "--config", str(config))
    if torchrun:
        launcher = ("torch.distributed.run", "--standalone", "--local-addr=127.0.0.1")
        return subprocess.run(
            [sys.executable, "-m", *launcher, f"--nproc-per-node={processes}", "--module", "trainer", *words],
            cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=WITHIN,
            check=False,
        )  # fmt: skip
    shared = {"WORLD_SIZE": str(processes), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port())}
    begun = []
    try:
        for rank in range(processes):
            ranked = {**shared, "RANK": str(rank), "LOCAL_RANK": str(rank)} if processes > 1 else {}
            begun.append(Program(out.with_name(f"{out.name}-said-{rank}"), "trainer", *words, **ranked))
        statuses = [program.wait() for program in begun]
    finally:
        for program in begun:
            program.kill()
    said = ["".join(texts) for texts in zip(*((one.stdout, one.stderr) for one in begun), strict=True)]
    return subprocess.CompletedProcess(words, max(statuses, key=abs), *said)


def _become(module: str, words: tuple[str, ...], environment: dict[str, str], out: str, error: str) -> None:
    """In the forked process: the program itself."""
    for number, path in ((1, out), (2, error)):
        with open(path, "wb") as file:
            os.dup2(file.fileno(), number)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(ROOT)
    os.environ.update(environment)
    import_module("torch").set_num_threads(1)
    main: Callable[[list[str]], int] = import_module(f"{module}.__main__").main
    sys.exit(main(list(words)))


def _text(file: Path) -> str:
    with contextlib.suppress(FileNotFoundError):
        return file.read_text()
    return ""


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port
