"""One policy to begin with, for all tests here; without torch there is nothing here to collect."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("torch") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    from trainer.toy.warm_start import create_warm_start

    @pytest.fixture(scope="session")
    def start(tmp_path_factory: pytest.TempPathFactory) -> Path:
        """A policy that knows two of four colours."""
        return create_warm_start(tmp_path_factory.mktemp("toy") / "start", seed=0)

    @pytest.fixture
    def told(start: Path, tmp_path: Path) -> Callable[..., dict[str, Any]]:
        """Settings of a run that plays by itself."""

        def settings(**more: Any) -> dict[str, Any]:
            base = {
                "checkpoint": start,
                "out": tmp_path / "run",
                "inbox": tmp_path / "inbox",
                "world": "lights",
                "learning_rate": 3e-3,
                "warmup": 2,
                "vision": True,
                "tokens": 1024,
                "sequences": 4,
            }
            return base | more

        return settings
