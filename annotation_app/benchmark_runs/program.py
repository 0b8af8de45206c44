"""The process of a run that was started in the web app: `RUN WORDS…`, the words being those of a benchmark run.

It serves the checkpoint of the run's request while the attempts are made. A run that it ends by itself is pending no
more; one that is killed, or ended with the machine, is begun again.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from agent_backend.benchmark import __main__ as benchmark
from annotation_app.benchmark_runs import run_folder
from annotation_app.operations.install.extra_environments import TRAINER_FOLDER
from annotation_app.operations.runtime.child_processes import child_process
from annotation_app.operations.runtime.model_server import ModelServerFailed, serve_command, wait_until_serving
from annotation_app.operations.runtime.ports import PortAllocator

INTERRUPTED = 130
"""What a benchmark run ends with that a signal ended."""
SERVED_MODEL = "checkpoint"
"""What the weights that are served for a run are called."""


def main(argv: Sequence[str]) -> int:
    """Make or resume the run. Returns what the benchmark run returns, and 1 where its weights are not served."""
    run, words = Path(argv[0]), argv[1:]
    request = run_folder.read_request(run)
    if request is None or not run_folder.is_pending(run):
        print(run_folder.CANCELLED, file=sys.stderr)
        return 0
    try:
        with served_checkpoint(request.checkpoint, run) as served:
            code = benchmark.main([*words, *served, "--out", str(run)])
    except ModelServerFailed as error:
        print(f"model_server_failed: {error}", file=sys.stderr)
        code = 1
    if code != INTERRUPTED:
        (run / run_folder.PENDING_FILE).unlink(missing_ok=True)
    return code


@contextlib.contextmanager
def served_checkpoint(checkpoint: str, run: Path) -> Iterator[tuple[str, ...]]:
    """The options that lead to these weights, which answer while the block runs; none without a checkpoint.

    Raises ModelServerFailed.
    """
    if not checkpoint:
        yield ()
        return
    python = TRAINER_FOLDER / "bin" / "python"
    if not python.exists():
        raise ModelServerFailed("the trainer's environment is not there; `./pilothouse trainer serve --help` makes it")
    log = run / "server.log"
    with PortAllocator() as allocator, log.open("ab") as output:
        port = allocator.any_free()
        command = serve_command(python, checkpoint, name=SERVED_MODEL, port=port, more=())
        with child_process(command, environment=os.environ, stdout=output, stderr=output) as server:
            try:
                address = wait_until_serving(server, port)
            except ModelServerFailed as error:
                tail = log.read_text(errors="replace").strip().splitlines()[-1:]
                raise ModelServerFailed(f"{error}: {' '.join(tail)}") from None
            yield ("--model-url", f"{address}/v1", "--model", SERVED_MODEL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
