"""Model servers for weights during play and trials: one that the cycle starts, or a running one that its recipe names,
into which the weights are loaded. The server that annotators' policies use is not affected."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from annotation_app.flywheel.programs import ProgramFailed, ProgramRunner, platform_python, trainer_python
from annotation_app.flywheel.recipe import ServingSettings, server_root
from annotation_app.operations.runtime.model_server import ModelServerFailed, serve_command, wait_until_serving
from annotation_app.operations.runtime.ports import PortAllocator
from annotation_app.operations.runtime.served_weights import ServedWeights, record_served_weights

STARTUP_TIMEOUT_SECONDS = 600
"""Timeout of one server call (seconds): to finish running requests, or to read weights of many gigabytes."""
RELOAD_COMMAND = ("-m", "agent_backend.policy.reload")


class ServingUnavailable(ProgramFailed):
    """The server that the recipe names does not answer."""

    code = "serving_away"


class ServingRefused(ProgramFailed):
    """It answers, but refuses the weights."""

    code = "serving_refused"


class ServingTaken(ProgramFailed):
    """Another program loaded other weights meanwhile."""

    code = "serving_taken"


class WeightsMissing(ProgramFailed):
    """The weights are not at the expected path."""

    code = "weights_missing"


@dataclass(frozen=True)
class ModelEndpoint:
    """The address and model name of served weights."""

    url: str
    """Address with /v1."""
    model: str


@contextmanager
def serve_weights(
    programs: ProgramRunner,
    checkpoint: Path,
    *,
    name: str,
    version: str,
    threads: int,
    log: Path,
    serving: ServingSettings | None = None,
    changes: bool = False,
) -> Iterator[ModelEndpoint]:
    """Serve these weights under the name `version` while the block runs. With `changes`, other weights may be loaded.
    Raises ProgramFailed if no server answers."""
    if serving is not None:
        weights_load(programs, serving.url, checkpoint, version, log=log)
        yield ModelEndpoint(f"{_root(serving.url)}/v1", serving.model)
        return
    with PortAllocator() as allocator:  # the server binds its port only after reading the weights
        port = allocator.any_free()
        more = ("--threads", str(threads), "--weight-version", version, *(("--dev",) if changes else ()))
        command = serve_command(trainer_python(), checkpoint, name=name, port=port, more=more)
        with programs.background(command, log=log) as process:
            try:
                address = wait_until_serving(process, port)
            except ModelServerFailed as error:
                said = log.read_text(errors="replace")[-2000:]
                raise ProgramFailed(f"The candidate's server did not begin, {error}: {said}") from None
            yield ModelEndpoint(f"{address}/v1", name)


def weights_load(programs: ProgramRunner, url: str, checkpoint: Path, version: str, *, log: Path) -> None:
    """Load these weights into a running server. The bundled policy's server also loads them when it is next started.
    Raises ServingUnavailable, ServingRefused, WeightsMissing, OSError."""
    if not checkpoint.is_dir():
        raise WeightsMissing(f"There are no weights at {checkpoint}.")
    words = ["--weights", str(checkpoint), "--version", version, "--within", str(STARTUP_TIMEOUT_SECONDS)]
    try:
        programs.run([platform_python(), *RELOAD_COMMAND, "--server", _root(url), *words], log=log)
    except ProgramFailed as failed:
        raise classified_failure(failed, f"The model server at {url} did not take {checkpoint}", log) from None
    bundled = settings.ENV.nano_url
    if bundled and server_root(bundled) == server_root(url):
        record_served_weights(settings.ENV.data, ServedWeights(checkpoint, version))


def weights_verify(programs: ProgramRunner, url: str, version: str, tried: Path, *, log: Path) -> None:
    """Check that the server still has these weights; otherwise the trials are invalid. Raises ServingUnavailable,
    ServingTaken."""
    try:
        programs.run(
            [platform_python(), *RELOAD_COMMAND, "--server", _root(url), "--version", version, "--asked"], log=log
        )
    except ProgramFailed as failed:
        shutil.rmtree(tried, ignore_errors=True)  # it is unknown which attempts these weights made
        problem = classified_failure(failed, f"Who tried at {url} is not known", log)
        raise (ServingTaken(str(problem)) if isinstance(problem, ServingRefused) else problem) from None


def classified_failure(failed: ProgramFailed, what: str, log: Path) -> ProgramFailed:
    """The reason of a server failure, by the code that the program prints at its end."""
    said = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    code, _, why = (said[-1] if said else "").partition(": ")
    match code:
        case "policy_unavailable":
            return ServingUnavailable(f"{what}: {why}")
        case "policy_rejected" | "policy_misconfigured":
            return ServingRefused(f"{what}: {why}")
        case _:
            return failed


def _root(url: str) -> str:
    return url.rstrip("/").removesuffix("/v1")
