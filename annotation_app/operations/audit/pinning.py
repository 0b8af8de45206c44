"""`./pilothouse pin-images`: write the digest of each image after its version, as its registry reports it."""

from collections.abc import Callable, Sequence
from pathlib import Path

from annotation_app.operations.audit.pins import COMPOSE_FILE, Pin, find_images
from annotation_app.operations.audit.registry import ImageName, RegistryClient, RegistryUnavailable
from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError


def run_pinning(console: Console, root: Path, mirrors: Sequence[str] = (), *, update: bool = False) -> int:
    """Pin every image of `docker/` that has no digest yet.

    Args:
        console: Where to print.
        root: The tree.
        mirrors: `NAME=URL` for registries that have another address.
        update: Whether to replace an existing digest if the tag now names another image.

    Returns:
        The exit status: 1 if an image has no digest afterwards, or one that its tag no longer names.
    """
    client = RegistryClient(_parse_mirrors(mirrors))
    left = [pin for pin in find_images(root) if not _pin(console, root, pin, client.digest, update=update)]
    return int(bool(left))


def _pin(console: Console, root: Path, pin: Pin, ask: Callable[[ImageName], str], *, update: bool) -> bool:
    """Whether the image is pinned to what its tag names now."""
    if not pin.version:
        console.warn(f"{pin.reference} names no exact version; it is left as it is.")
        return False
    try:
        digest = ask(ImageName.parse(pin.reference))
    except RegistryUnavailable as error:
        console.warn(f"{pin.reference}: {error}")
        return False
    tagged = pin.reference.partition("@")[0]
    if pin.digest == digest:
        console.say(f"{tagged} is pinned.")
        return True
    if pin.digest and not update:
        console.warn(f"{tagged} names {digest} now, not {pin.digest}. Find out why, then use --update.")
        return False
    replace_reference(root, pin.reference, f"{tagged}@{digest}")
    console.say(f"{tagged} is pinned to {digest}.")
    return True


def replace_reference(root: Path, old: str, new: str) -> None:
    """Replace the reference of an image everywhere in the compose file and the Dockerfiles."""
    for file in (root / COMPOSE_FILE, *sorted((root / "docker").rglob("Dockerfile"))):
        text = file.read_text(encoding="utf-8")
        lines = [_replace_in_line(line, old, new) for line in text.splitlines(keepends=True)]
        if (written := "".join(lines)) != text:
            file.write_text(written, encoding="utf-8")


def _replace_in_line(line: str, old: str, new: str) -> str:
    """Lines are `image: REFERENCE`, `ARG NAME=REFERENCE` and `FROM REFERENCE AS NAME`."""
    for before in ("image: ", "=", "FROM "):
        head, found, rest = line.partition(before + old)
        if found and (not rest or rest[0].isspace()):
            return f"{head}{before}{new}{rest}"
    return line


def _parse_mirrors(mirrors: Sequence[str]) -> dict[str, str]:
    """Raises OperationsError."""
    found = {}
    for mirror in mirrors:
        name, separator, url = mirror.partition("=")
        if not (name and separator and url.startswith(("https://", "http://"))):
            raise OperationsError(f"{mirror} is no mirror.", hint="--mirror docker.io=https://mirror.example.org")
        found[name] = url
    return found
