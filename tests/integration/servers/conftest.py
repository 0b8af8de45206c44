"""Both ways a model is served, each started once for all tests here: the bundled server, and vLLM on a processor."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from benchmarks.parts.model_servers.launcher import Server, trainer_server, vllm_server, write_checkpoint
from benchmarks.parts.model_servers.vllm_environment import EnvironmentUnavailable
from tests.integration.servers.likelihoods import Likelihoods


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One worker runs these: the servers are theirs together, and making their environments takes minutes."""
    here = f"{Path(__file__).parent}/"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.xdist_group("servers"))
            item.add_marker(pytest.mark.timeout(3600))


@pytest.fixture(scope="session")
def trainer_python() -> Path:
    """The interpreter of the trainer's environment."""
    return ensure_trainer(Console())


@pytest.fixture(scope="session")
def checkpoint(trainer_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the model."""
    return write_checkpoint(trainer_python, tmp_path_factory.mktemp("model") / "tiny")


@pytest.fixture(scope="session")
def other_checkpoint(trainer_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model with other weights."""
    return write_checkpoint(trainer_python, tmp_path_factory.mktemp("model") / "other", "--seed", "1")


@pytest.fixture(scope="session")
def likelihoods(trainer_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Likelihoods]:
    made = Likelihoods(trainer_python, tmp_path_factory.mktemp("likelihoods"))
    yield made
    made.close()


@pytest.fixture(scope="session", params=[pytest.param("trainer"), pytest.param("vllm", marks=pytest.mark.vllm)])
def server(
    request: pytest.FixtureRequest, checkpoint: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A running server of one kind, then of the other."""
    starts = {"trainer": trainer_server, "vllm": vllm_server}
    try:
        with starts[request.param](checkpoint, tmp_path_factory.mktemp(request.param)) as running:
            yield running
    except EnvironmentUnavailable as error:
        pytest.skip(f"missing capability: vLLM on CPU ({error})")
