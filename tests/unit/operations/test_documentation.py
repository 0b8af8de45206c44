"""The documentation's site names every page once, and is served to this machine."""

import re
import socket
from collections import Counter
from pathlib import Path

import httpx
import pytest
from PIL import Image

from annotation_app.operations.documentation import GENERATED, SOURCE, served_site
from annotation_app.operations.documents.pictures import refresh_pictures
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.runtime.stack import ROOT

ENTRY = re.compile(r"^[\w/-]+$", re.MULTILINE)


def test_every_page_has_its_place_in_the_navigation() -> None:
    files = [path.relative_to(SOURCE) for path in SOURCE.rglob("*.md")]
    pages = {path.with_suffix(""): (SOURCE / path).read_text() for path in files if GENERATED not in path.parents}
    named = Counter(
        (page.parent / entry).as_posix()
        for page, text in pages.items()
        for tree in re.findall(r"```\{toctree\}(.*?)```", text, re.DOTALL)
        for entry in ENTRY.findall(tree)
    )
    # The index of the generated pages is written when the site is built.
    listed = [page.as_posix() for page in pages if page.as_posix() != "index"]
    assert named == Counter([*listed, (GENERATED / "index").as_posix()])


def test_the_site_is_served_and_a_taken_port_is_told(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("Pilothouse")
    with served_site(tmp_path, 0) as address:
        assert httpx.get(address).text == "Pilothouse"
        assert httpx.get(f"{address}/../conf.py").status_code == 404
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(OperationsError, match="cannot be used"),
        served_site(tmp_path, taken.getsockname()[1]),
    ):
        pass


def test_pictures_are_replaced_by_the_screenshots_of_their_names(tmp_path: Path) -> None:
    pictures, screenshots = tmp_path / "images", tmp_path / "screenshots"
    for folder in (pictures, screenshots):
        folder.mkdir()
    for name, color in (("desk", "red"), ("queue", "blue"), ("unused", "green")):
        Image.new("RGB", (40, 30), color).save(screenshots / f"{name}.png")
    Image.new("RGB", (40, 30), "white").save(pictures / "desk.png")
    assert refresh_pictures(pictures, screenshots, ["queue"]) == [pictures / "desk.png", pictures / "queue.png"]
    with Image.open(pictures / "desk.png") as desk:
        assert (desk.mode, desk.convert("RGB").getpixel((5, 5))) == ("P", (255, 0, 0))
    assert not refresh_pictures(pictures, screenshots)
    with pytest.raises(OperationsError, match="screenshots of gone"):
        refresh_pictures(pictures, screenshots, ["gone"])
    assert len(list(pictures.iterdir())) == 2


def test_each_picture_of_a_page_is_small_and_shown() -> None:
    pictures = set((SOURCE / "images").glob("*.png"))
    pages = [*SOURCE.rglob("*.md"), ROOT / "README.md"]
    shown = {
        (page.parent / link).resolve()
        for page in pages
        for link in re.findall(r"!\[[^\]]+\]\(([^)]+\.png)\)", page.read_text())
    }
    assert shown == pictures
    assert max(path.stat().st_size for path in pictures) <= 80_000
