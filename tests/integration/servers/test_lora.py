"""LoRA adapters swapped on a running vLLM: each is asked for by its name, and says what its folded weights say."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from agent_backend.policy.reload import main
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.model_servers.launcher import vllm_server
from benchmarks.parts.model_servers.vllm_environment import EnvironmentUnavailable
from tests.integration.servers.likelihoods import Likelihoods, difference
from tests.integration.servers.test_parity import picture, request_completion

CLOSE = 1e-4
"""Largest difference of a log-probability in single precision: an adapter adds beside the weights, not into them."""
BOUND = 120.0
RANK = "8"

pytestmark = pytest.mark.vllm


def adapter_write(python: Path, checkpoint: Path, folder: Path, seed: int) -> tuple[Path, Path]:
    """A random adapter, and the checkpoint it is folded into."""
    adapter, folded = folder / f"lora-{seed}", folder / f"folded-{seed}"
    words: list[str | Path] = [checkpoint, adapter, folded, "--seed", str(seed)]
    subprocess.run([python, "-m", "tests.integration.servers.adapter", *words], cwd=ROOT, check=True, timeout=300)
    return adapter, folded


@pytest.fixture
def client(checkpoint: Path, tmp_path: Path) -> Iterator[httpx.Client]:
    """A server that takes adapters."""
    lora = ("--enable-lora", "--max-lora-rank", RANK, "--max-loras", "2")
    try:
        with (
            vllm_server(checkpoint, tmp_path, *lora) as server,
            httpx.Client(base_url=server.url, timeout=BOUND, trust_env=False) as made,
        ):
            yield made
    except EnvironmentUnavailable as error:
        pytest.skip(f"missing capability: vLLM on CPU ({error})")


def adapt(client: httpx.Client, adapter: Path, name: str) -> int:
    """Another adapter under this name, as `agent_backend.policy.reload` loads it."""
    return main(["--server", str(client.base_url), "--adapter", str(adapter), "--version", name])


def test_adapters_are_swapped_while_it_runs(
    client: httpx.Client,
    trainer_python: Path,
    likelihoods: Likelihoods,
    checkpoint: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    images = (picture(7),)
    before = request_completion(client, images)
    for seed in range(2):
        adapter, folded = adapter_write(trainer_python, checkpoint, tmp_path, seed)
        assert adapt(client, adapter, "r12") == 0, capfd.readouterr().err
        assert {card["id"] for card in client.get("/v1/models").json()["data"]} == {"tiny", "r12"}
        answer = request_completion(client, images, model="r12")
        assert difference(likelihoods, folded, answer, images) <= CLOSE
        assert difference(likelihoods, checkpoint, answer, images) > 100 * CLOSE, "it is another model indeed"
    again = request_completion(client, images)
    assert [c["token_ids"] for c in again["choices"]] == [c["token_ids"] for c in before["choices"]], "the base stays"
    assert adapt(client, tmp_path / "nowhere", "r13") == 1
    assert client.get("/health").is_success, "an adapter that is not there ends nothing"
