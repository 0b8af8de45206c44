"""Downloads that break off: gone on with for as long as they get further."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from annotation_app.client import folders
from annotation_app.client.connection import Connection
from annotation_app.client.errors import Unreachable

CONTENT = bytes(range(100))


class Breaking(Connection):
    """A server that breaks every answer off after so many bytes."""

    def __init__(self, most: int) -> None:
        self._most, self.asked = most, 0

    @contextmanager
    def stream(self, path: str, headers: Mapping[str, str] | None = None) -> Iterator[httpx.Response]:
        self.asked += 1
        begin = int((headers or {}).get("Range", "bytes=0-")[6:-1])
        rest = CONTENT[begin:]

        def chunks() -> Iterator[bytes]:
            if self._most:
                yield rest[: self._most]
            if len(rest) > self._most:
                raise Unreachable("it broke off")

        yield httpx.Response(206 if begin else 200, headers={"ETag": '"one"'}, content=chunks())


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "RETRY_PAUSES_SECONDS", (0.0, 0.0))


def test_a_download_that_gets_further_may_break_off_any_number_of_times(tmp_path: Path) -> None:
    server = Breaking(7)
    assert folders.download(server, "/it", tmp_path / "it.zip") == '"one"'
    assert (tmp_path / "it.zip").read_bytes() == CONTENT
    assert server.asked == 15


def test_one_that_does_not_is_given_up(tmp_path: Path) -> None:
    server = Breaking(0)
    with pytest.raises(Unreachable):
        folders.download(server, "/it", tmp_path / "it.zip")
    assert server.asked == 3
    assert not (tmp_path / "it.zip").exists()
