"""One real vLLM server on a CPU for all tests here, serving a tiny random Qwen2.5-VL."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.integration.vllm.environment import EnvironmentUnavailable, prepare

ROOT = Path(__file__).resolve().parents[3]
STARTING = 300
"""Seconds a server may take to be ready: it compiles kernels at its first start."""
IMAGES = 5
"""Pictures a prompt may hold."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker runs these: the server is theirs together, and making its environment takes minutes."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.vllm)
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.xdist_group("vllm"))
            item.add_marker(pytest.mark.timeout(3600))


@pytest.fixture(scope="session")
def vllm_python() -> Path:
    """The interpreter of an environment that has vLLM."""
    try:
        return prepare(ROOT / ".data" / "venvs" / "vllm")
    except EnvironmentUnavailable as error:
        pytest.skip(f"missing capability: vLLM on CPU ({error})")


@pytest.fixture(scope="session")
def checkpoint(vllm_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model."""
    folder = tmp_path_factory.mktemp("model") / "tiny"
    subprocess.run([vllm_python, Path(__file__).with_name("checkpoint.py"), folder], check=True, timeout=300)
    return folder


@pytest.fixture(scope="session")
def vllm_url(vllm_python: Path, checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running server."""
    port = free_port()
    log = tmp_path_factory.mktemp("vllm") / "server.log"
    with open(log, "wb") as output:
        server = subprocess.Popen(
            [vllm_python.with_name("vllm"), "serve", checkpoint, *options(port)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment(vllm_python),
            cwd=log.parent,
            start_new_session=True,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_until_ready(url, server, log)
        yield url
    finally:
        end(server)


def options(port: int) -> list[str]:
    """The command line: log-probabilities after the temperature, so that a trainer can compare them."""
    given = {
        "--served-model-name": "tiny",
        "--host": "127.0.0.1",
        "--port": str(port),
        "--dtype": "float32",
        "--max-model-len": "8192",
        "--max-num-seqs": "8",
        "--limit-mm-per-prompt": f'{{"image":{IMAGES},"video":0}}',
        "--logprobs-mode": "processed_logprobs",
    }
    return ["--enforce-eager", *(word for pair in given.items() for word in pair)]


def environment(python: Path) -> dict[str, str]:
    """No network, no usage reports, one gibibyte of cache, and the OpenMP library the kernels were built with."""
    preload = python.parents[1] / "lib" / "libiomp5.so"
    return {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_CPU_KVCACHE_SPACE": "1",
        **({"LD_PRELOAD": str(preload)} if preload.exists() else {}),
    }


def free_port() -> int:
    """A port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_ready(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the server is healthy; fail with the end of its log when it ends or the bound runs out."""
    give_up = time.monotonic() + STARTING
    while time.monotonic() < give_up and server.poll() is None:
        try:
            if httpx.get(f"{url}/health", timeout=5, trust_env=False).is_success:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    pytest.fail(f"vLLM did not start:\n{log.read_text()[-3000:]}")


def end(server: subprocess.Popen[bytes]) -> None:
    """End the server and the engine it started."""
    server.terminate()
    try:
        server.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait(20)
