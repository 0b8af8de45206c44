"""Ray's environment: what tests and benchmarks place hosts with."""

import sysconfig
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.environments import ENVIRONMENTS, Environment
from annotation_app.operations.requirement_locks import CLUSTER

FOLDER = ENVIRONMENTS / "ray"


def ensure_ray(console: Console, *, folder: Path = FOLDER) -> Path:
    """The interpreter of Ray's environment, made whole if it is not; it sees the platform's packages behind its own.

    Raises CommandFailed when it cannot be made.
    """
    platform = sysconfig.get_paths()["purelib"]

    def fill(environment: Environment) -> None:
        environment.install_locked("Ray (70 MB)", CLUSTER)
        library = sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)})
        Path(library, "platform.pth").write_text(f"{platform}\n")

    return Environment("Ray", console, folder).ensure([CLUSTER.path], fill, salt=platform)
