"""Starting either server on a checkpoint."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.operations.runtime.ports import free_port
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.model_servers.vllm_environment import ensure_environment

START_TIMEOUT_SECONDS = 300
"""Seconds a server may take to be ready: vLLM compiles kernels at its first start."""
IMAGES = 5
"""Pictures a prompt may hold."""
CONTEXT = 8192
PILLOW = '{"use_fast": false}'
"""Pictures are scaled by Pillow, as the trainer does it; torchvision's are others by a step here and there."""


class ServerNotStarted(Exception):
    """A server ended, or was not ready in time; the message has the end of its log."""


@dataclass(frozen=True)
class Server:
    """A running server: its address, and what its metrics are called."""

    url: str
    metrics: str


@contextmanager
def trainer_server(checkpoint: Path, folder: Path) -> Iterator[Server]:
    """`python -m trainer.serve`."""
    python = ensure_trainer(Console())
    given = ["--max-images", str(IMAGES), "--max-model-len", str(CONTEXT), "--threads", "1", "--dev"]
    port = free_port()
    words = ["--served-model-name", "tiny", "--port", str(port), *given]
    command: list[str | Path] = [python, "-m", "trainer.serve", checkpoint, *words]
    with run_server(command, folder, environment=dict(os.environ), workdir=ROOT, port=port) as url:
        yield Server(url=url, metrics="serve")


@contextmanager
def vllm_server(checkpoint: Path, folder: Path, *more: str) -> Iterator[Server]:
    """vLLM, with log-probabilities after the temperature, so that a trainer can compare them, and `more` options.

    Raises EnvironmentUnavailable.
    """
    python = ensure_environment(ROOT / ".data" / "venvs" / "vllm")
    port = free_port()
    given = {
        "--served-model-name": "tiny",
        "--host": "127.0.0.1",
        "--port": str(port),
        "--dtype": "float32",
        "--max-model-len": str(CONTEXT),
        "--max-num-batched-tokens": str(CONTEXT),
        "--max-num-seqs": "8",
        "--limit-mm-per-prompt": f'{{"image":{IMAGES},"video":0}}',
        "--logprobs-mode": "processed_logprobs",
        "--mm-processor-kwargs": PILLOW,
    }
    words = [word for pair in given.items() for word in pair]
    # Its CPU build ends at a seeded request whose prompt is computed in parts.
    command: list[str | Path] = [
        python.with_name("vllm"),
        "serve",
        checkpoint,
        "--enforce-eager",
        "--no-enable-chunked-prefill",
        *words,
        *more,
    ]
    with run_server(command, folder, environment=vllm_environment(python), workdir=folder, port=port) as url:
        yield Server(url=url, metrics="vllm")


@contextmanager
def run_server(
    command: list[str | Path], folder: Path, *, environment: dict[str, str], workdir: Path, port: int
) -> Iterator[str]:
    """The address of a server while the block runs. Raises ServerNotStarted."""
    log = folder / "server.log"
    with open(log, "wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=workdir, start_new_session=True
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(url, process, log)
        yield url
    finally:
        stop_server(process)


def write_checkpoint(python: Path, folder: Path, *given: str) -> Path:
    """A tiny random model, written in the trainer's environment."""
    command: list[str | Path] = [python, "-m", "benchmarks.parts.model_servers.checkpoint", folder.absolute(), *given]
    subprocess.run(command, cwd=ROOT, check=True, timeout=300)
    return folder


def vllm_environment(python: Path) -> dict[str, str]:
    """No network, no usage reports, one gibibyte of cache, weights that change, and the OpenMP its kernels want."""
    preload = python.parents[1] / "lib" / "libiomp5.so"
    return {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        "VLLM_SERVER_DEV_MODE": "1",
        "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1",
        **({"LD_PRELOAD": str(preload)} if preload.exists() else {}),
    }


def wait_until_ready(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the server is healthy. Raises ServerNotStarted."""
    give_up = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < give_up and server.poll() is None:
        try:
            if httpx.get(f"{url}/health", timeout=5, trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    raise ServerNotStarted(f"the server did not start:\n{log.read_text()[-3000:]}")


def stop_server(server: subprocess.Popen[bytes]) -> None:
    """End the server and the engine it started."""
    server.terminate()
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait(20)
