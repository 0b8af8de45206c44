"""The lines of an export's parts as one file, and the files of its shards."""

import hashlib
from pathlib import Path
from tarfile import USTAR_FORMAT, TarInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation_app.exports.part_writers import join_lines, part_path, tar_header

EMPTY, TEXT, PICTURED = '{"images":[]}', '{"text":"\\"images\\":[\\"a"}', '{"images":["a.png"]}'


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([[EMPTY, TEXT], [TEXT, PICTURED, EMPTY], [PICTURED]], [PICTURED, EMPTY, TEXT, TEXT, EMPTY, PICTURED]),
        ([[PICTURED, EMPTY]], [PICTURED, EMPTY]),
        ([[EMPTY], [TEXT]], [EMPTY, TEXT]),
    ],
)
def test_a_row_with_pictures_comes_first(tmp_path: Path, parts: list[list[str]], expected: list[str]) -> None:
    for number, lines in enumerate(parts):
        path = part_path(tmp_path, "train", "rows.jsonl", number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
    name, sha256, size = join_lines(
        tmp_path, "train", "rows.jsonl", "rows.jsonl", len(parts), first_line_marker=b'"images":["'
    )
    data = (tmp_path / name).read_bytes()
    assert data.decode().splitlines() == expected
    assert (sha256, size) == (hashlib.sha256(data).hexdigest(), len(data))


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=140), st.integers(0, 2**33 - 1)
)
def test_a_tar_header_is_what_tarfile_writes(name: str, size: int) -> None:
    entry = TarInfo(name)
    entry.size = size
    try:
        expected = entry.tobuf(USTAR_FORMAT)
    except ValueError:
        with pytest.raises(ValueError, match="name is too long"):
            tar_header(name, size)
        return
    assert tar_header(name, size) == expected
