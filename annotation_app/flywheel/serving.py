"""A candidate's own server while it is tried: the one that people's desks ask goes on as it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from annotation_app.flywheel.programs import ProgramFailed, Programs, trainer_python
from annotation_app.operations.model_server import NotServing, serve_command, until_serving
from annotation_app.operations.ports import free_port


@contextmanager
def served(
    programs: Programs, checkpoint: Path, *, name: str, threads: int, log: Path, version: str = ""
) -> Iterator[str]:
    """The address (with /v1) of a server of these weights. With a `version`, which they are called, others may
    be given to it. Raises ProgramFailed where it does not begin."""
    port = free_port()
    more = ("--threads", str(threads), *(("--weight-version", version, "--dev") if version else ()))
    command = serve_command(trainer_python(), checkpoint, name=name, port=port, more=more)
    with programs.beside(command, log=log) as process:
        try:
            address = until_serving(process, port)
        except NotServing as error:
            said = log.read_text(errors="replace")[-2000:]
            raise ProgramFailed(f"The candidate's server did not begin, {error}: {said}") from None
        yield f"{address}/v1"
