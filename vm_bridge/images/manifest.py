"""What an image says of itself in its `image.json`: its screen, its programs and what it may use."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, ValidationError, model_validator

from protocol.base import FrozenModel
from protocol.trajectory.observations import Platform
from vm_bridge.errors import NoMachine

MANIFEST_FILE = "image.json"
MIB = 1024 * 1024
PROGRAM_FOLDERS = "/usr/bin:/usr/games"
"""Where sandboxes find the host's programs; they do not see /usr/local."""


class Application(FrozenModel):
    """A program that an image is made of: its name, what starts it, and the Debian package that brings it."""

    name: str
    program: str
    package: str

    @property
    def installed(self) -> bool:
        """Whether the host has it where sandboxes see it."""
        return shutil.which(self.program, path=PROGRAM_FOLDERS) is not None


class ImageManifest(FrozenModel):
    """One image. A width and height of zero mean that it has no screen."""

    platform: Platform = "desktop"
    base: str | None = None
    """Another image whose home folder, but for its Desktop, and `etc` lie under its own."""
    width: Annotated[int, Field(ge=0, le=2560)] = 0
    height: Annotated[int, Field(ge=0, le=1600)] = 0
    icons: bool = False
    """Whether a file manager draws the background and the files of ~/Desktop."""
    start: tuple[tuple[str, ...], ...] = ()
    """Programs started with the desktop, each a command line."""
    modules: tuple[str, ...] = ()
    """Packages of `vm_bridge` that its programs come from, beside the guest's."""
    tools: bool = False
    """Whether it has Jupyter, the MCP SDK and the code editor at /image/tools."""
    environment: Mapping[str, str] = {}
    """Variables of all its programs, beside those that every sandbox has."""
    applications: tuple[Application, ...] = ()
    """Programs of the host's /usr without which the image is not offered."""
    osworld: bool = False
    """Whether OSWorld's in-guest interface runs in it, by which its task files are set up and judged."""
    user_namespaces: bool = False
    """Whether its programs may make user namespaces: Chromium's own sandbox needs them."""
    cores: Annotated[float, Field(gt=0, le=256)] = 2.0
    memory: Annotated[int, Field(ge=64 * MIB)] = 3072 * MIB
    """Most that programs and written files take together (bytes)."""
    processes: Annotated[int, Field(ge=32, le=32_768)] = 768
    """Most threads."""

    @model_validator(mode="after")
    def _whole_screen(self) -> Self:
        if (self.width == 0) != (self.height == 0):
            raise ValueError("a screen has a width and a height")
        return self


def read_manifest(folder: Path) -> ImageManifest:
    """The manifest of a prepared image. Raises NoMachine."""
    try:
        return ImageManifest.model_validate_json((folder / MANIFEST_FILE).read_bytes())
    except (OSError, ValidationError) as error:
        raise NoMachine(f"the image {folder.name} has no usable {MANIFEST_FILE}: {error}") from error


def missing_applications(manifest: ImageManifest) -> tuple[Application, ...]:
    """The applications of an image that this host does not have."""
    return tuple(each for each in manifest.applications if not each.installed)
