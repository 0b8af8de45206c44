"""Third-party versions of a deployment: images must have an exact version and digest, without known vulnerabilities."""

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.audit.reports import Finding
from annotation_app.operations.audit.scanners import ScannerFailed

COMPOSE_FILE = "docker/compose.yaml"
EDITOR_PACKAGE = "vm_bridge/images/editor/package.json"
OWN_IMAGE_PREFIX = "pilothouse-"
IMAGE_LINE_PATTERN = re.compile(r"^\s*image:\s*(?P<image>\S+)\s*$", re.MULTILINE)
ARGUMENT_LINE_PATTERN = re.compile(r"^ARG (?P<name>\w+)=(?P<value>\S+)$", re.MULTILINE)
FROM_LINE_PATTERN = re.compile(r"^FROM (?P<image>\S+)(?: AS (?P<stage>\S+))?$", re.MULTILINE)
REFERENCE_PATTERN = re.compile(r"(?P<name>[^:@]+)(?::(?P<tag>[^@]+))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?")
EXACT_TAG_PATTERN = re.compile(r"v?(?P<version>\d+\.\d+(?:\.\d+)?)(?:-[a-z]\w*(?:-[a-z]\w*)*)?")
"""A tag that names one version. PostgreSQL, Debian and others have two numbers."""
Version = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pin:
    """An image, or the code editor, and the files that name it."""

    reference: str
    place: str

    @property
    def name(self) -> str:
        """Its last part without the tag, such as `nginx`."""
        return self._part("name").rpartition("/")[2]

    @property
    def version(self) -> str:
        """Such as `1.30.2`; empty without an exact version."""
        match = EXACT_TAG_PATTERN.fullmatch(self._part("tag"))
        return match["version"] if match else ""

    @property
    def digest(self) -> str:
        """Such as `sha256:…`; empty without a digest."""
        return self._part("digest")

    def _part(self, name: str) -> str:
        match = REFERENCE_PATTERN.fullmatch(self.reference)
        return (match[name] or "") if match else ""


@dataclass(frozen=True, slots=True)
class PinScan:
    """Judges the pins of a tree by the versions in `known.toml`. It needs no network."""

    root: Path
    known: Path
    name: str = "pins"

    def scan(self) -> Iterator[Finding]:
        """Check every pin. Raises ScannerFailed if there are none."""
        images = find_images(self.root)
        if not images:
            raise ScannerFailed(f"no image is named in {COMPOSE_FILE}")
        for pin in images:
            if not pin.version:
                yield Finding(f"{pin.reference} no version", f"{pin.place}: {pin.reference} names no exact version")
            if not pin.digest:
                yield Finding(f"{pin.reference} no digest", f"{pin.place}: {pin.reference} names no digest")
        fixed = read_fixed_versions(self.known)
        for pin in (*images, find_editor(self.root)):
            if pin.version and is_vulnerable(pin.version, fixed.get(pin.name, ())):
                wanted = " or ".join(fixed[pin.name])
                yield Finding(
                    f"{pin.name} {pin.version} weak",
                    f"{pin.place}: {pin.name} {pin.version} has known weaknesses, mended in {wanted}",
                )


def find_images(root: Path) -> tuple[Pin, ...]:
    """Every image that the compose file or a Dockerfile takes from a registry, once each."""
    found: dict[str, str] = {}
    for match in IMAGE_LINE_PATTERN.finditer((root / COMPOSE_FILE).read_text()):
        if not match["image"].startswith(OWN_IMAGE_PREFIX):
            found.setdefault(match["image"], COMPOSE_FILE)
    for file in sorted((root / "docker").rglob("Dockerfile")):
        text, stages = file.read_text(), set[str]()
        arguments = {f"${{{match['name']}}}": match["value"] for match in ARGUMENT_LINE_PATTERN.finditer(text)}
        for match in FROM_LINE_PATTERN.finditer(text):
            image = arguments.get(match["image"], match["image"])
            if image not in stages:
                found.setdefault(image, str(file.relative_to(root)))
            if match["stage"]:
                stages.add(match["stage"])
    return tuple(Pin(image, place) for image, place in found.items())


def find_editor(root: Path) -> Pin:
    """The code editor of the desktops, which npm installs."""
    version = json.loads((root / EDITOR_PACKAGE).read_text())["dependencies"]["code-server"]
    return Pin(f"code-server:{version}", EDITOR_PACKAGE)


def read_fixed_versions(file: Path) -> dict[str, tuple[str, ...]]:
    """For each program the versions, oldest first, that fix its known vulnerabilities: one for each maintained release
    line."""
    return {each["name"]: tuple(each["fixed"]) for each in tomllib.loads(file.read_text())["known"]}


def is_vulnerable(version: str, fixed: tuple[str, ...]) -> bool:
    """Whether a version is older than the fixed one of its release line, or than the newest if its line has none."""
    if not fixed:
        return False
    own, mended = _parse_version(version), [_parse_version(each) for each in fixed]
    return not any(own >= each and (each is mended[-1] or own[:-1] == each[:-1]) for each in mended)


def _parse_version(version: str) -> Version:
    return tuple(map(int, version.split(".")))
