"""The built front-end: one page for every address, its files beside it, nothing outside its folder."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation_app.blobs.services import blob_write
from annotation_app.errors import Invalid, TooLarge
from protocol.blobs import BlobRef


@pytest.fixture
def built(tmp_path: Path, settings: Any) -> Path:
    """A built front-end."""
    folder = tmp_path / "dist"
    folder.mkdir()
    (folder / "index.html").write_text("<title>Pilothouse</title>")
    settings.ENV = settings.ENV.model_copy(update={"frontend": folder})
    return folder


@pytest.mark.parametrize("path", ["/", "/queue", "/episodes/abc", "/replay/abc?step=3"])
def test_every_address_of_the_front_end_gives_its_page(built: Path, path: str) -> None:
    response = Client().get(path)
    assert (response.status_code, response.content) == (200, b"<title>Pilothouse</title>")
    assert response["Cache-Control"] == "no-cache"
    assert "csrftoken" in response.cookies


def test_a_missing_build_says_what_to_do(settings: Any, tmp_path: Path) -> None:
    settings.ENV = settings.ENV.model_copy(update={"frontend": tmp_path / "nowhere"})
    response = Client().get("/")
    assert (response.status_code, b"pilothouse setup" in response.content) == (503, True)


def test_the_page_is_only_read(built: Path) -> None:
    assert Client().post("/queue").status_code == 405


def test_bytes_that_are_not_what_they_claim_are_refused(data: Path) -> None:
    ref = BlobRef.of(b"one", "image/png")
    with pytest.raises(Invalid) as refused:
        blob_write(ref=ref, data=b"two")
    assert refused.value.code == "digest_mismatch"
    assert not list(data.rglob("*.tmp"))
    assert not (data / "blobs").exists()


def test_huge_bytes_are_refused(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation_app.blobs.services.BLOB_LIMIT_BYTES", 2)
    with pytest.raises(TooLarge):
        blob_write(ref=BlobRef.of(b"three", "image/png"), data=b"three")
