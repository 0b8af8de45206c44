"""Where the package keeps its tasks' pages, and what they are called here."""

import hashlib
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

HOST = "miniwob.test"
INSTRUCTIONS = Path(__file__).with_name("instructions.json")
FLIGHT = "flight-"
"""How the names of the package's flight pages begin here."""
PLAIN, FLIGHTS, BARE = (332, 214), (600, 700), (160, 210)
"""A task takes 160x210 pixels (`BARE`; flights 375x667), the package's own display lies beside it. In a narrower window
some pages lay themselves out wrongly: the dialog of click-dialog would begin left of it."""


@cache
def pages_folder() -> Path:
    """The folder of the pages. The package itself is not imported: it would bring Selenium."""
    spec = find_spec("miniwob")
    assert spec is not None, "miniwob is in requirements.txt"
    assert spec.submodule_search_locations, "it is a package"
    return Path(spec.submodule_search_locations[0]) / "html"


@cache
def page_paths() -> dict[str, str]:
    """The path of each task's page, by the task's name."""
    plain = {page.stem: f"/miniwob/{page.name}" for page in sorted(pages_folder().glob("miniwob/*.html"))}
    flights = {page.parent.name: page for page in sorted(pages_folder().glob("flight/*/wrapper.html"))}
    return plain | {f"{FLIGHT}{name.lower()}": f"/flight/{name}/wrapper.html" for name in flights}


@cache
def read_instructions() -> dict[str, tuple[str, ...]]:
    """What each page said was to be done, by seed from 0; a single one is the same for all seeds."""
    return {name: tuple(said) for name, said in json.loads(INSTRUCTIONS.read_text("utf-8")).items()}


@cache
def checksum(name: str) -> str:
    """SHA-256 of what judges a task: its page and the package's core script."""
    files = (pages_folder() / page_paths()[name][1:], pages_folder() / "core" / "core.js")
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def minimum_size(name: str) -> tuple[int, int]:
    """The least size at which a page shows all of its task."""
    return FLIGHTS if name.startswith(FLIGHT) else PLAIN
