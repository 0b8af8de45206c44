"""A tiny checkpoint for all tests here; without torch there is nothing here to collect."""

from importlib.util import find_spec

import pytest

if find_spec("torch") is None:
    collect_ignore_glob = ["*test_*.py"]  # in the folders below as well
else:
    import torch

    from benchmarks.parts.model_servers.checkpoint import write
    from trainer.model.checkpoints import Checkpoint, load_checkpoint
    from trainer.serve.prompt_encoder import PromptEncoder

    torch.set_num_threads(1)  # side by side with other tests, more of them only wait for each other

    @pytest.fixture(scope="session")
    def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
        """A random model in single precision."""
        folder = tmp_path_factory.mktemp("model") / "tiny"
        write(folder, seed=0)
        return load_checkpoint(folder)

    @pytest.fixture
    def reader(checkpoint: Checkpoint) -> PromptEncoder:
        """What reads conversations for it."""
        return PromptEncoder(checkpoint, max_images=5, context=2048)
