"""What a container engine is to make of a task: an image, and a container of it."""

import io
import tarfile
from base64 import b64encode
from collections.abc import Collection, Mapping
from typing import Self

from pydantic import Base64Bytes, Field

from protocol.base import FrozenModel
from protocol.harbor.task_folders import ContainerSettings, HarborTask


class ContainerPlan(FrozenModel):
    """Travels to the process that speaks to the engine."""

    context: Base64Bytes
    """The build context with its Dockerfile, as a tar archive."""
    build_seconds: float = Field(gt=0)
    env: dict[str, str] = {}
    workdir: str | None = None
    """In place of the image's own."""
    network: bool = False
    """Whether it wants the network that the operator lends to tasks."""
    cpus: float | None = None
    memory_mb: int | None = None

    @classmethod
    def of(cls, harbor: HarborTask, settings: ContainerSettings) -> Self:
        """What a task's folder asks for."""
        return cls(
            context=b64encode(_build_context(harbor, settings)),
            build_seconds=harbor.build_seconds,
            env=harbor.environment_env,
            workdir=harbor.workdir,
            network=settings.network,
            cpus=settings.cpus,
            memory_mb=settings.memory_mb,
        )


def tar_archive(files: Mapping[str, bytes], executable: Collection[str] = ()) -> bytes:
    """An archive of files that is the same for the same files; all are root's."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755 if name in executable else 0o644
            archive.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def executable_in(settings: ContainerSettings, folder: str) -> frozenset[str]:
    """The paths within a folder of the files that may be executed."""
    prefix = f"{folder}/"
    return frozenset(path.removeprefix(prefix) for path in settings.executable if path.startswith(prefix))


def _build_context(harbor: HarborTask, settings: ContainerSettings) -> bytes:
    """The folder `environment`, or in its place the one line that a ready-made image takes."""
    if settings.docker_image is not None:
        return tar_archive({"Dockerfile": f"FROM {settings.docker_image}\n".encode()})
    return tar_archive(harbor.folder("environment"), executable_in(settings, "environment"))
