"""Looks for what must not have been stored: texts in every byte and in what was typed, colors in every frame."""

import io
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from PIL import Image

COLOR_TOLERANCE = 24
"""How far JPEG may move each channel of a plain area."""
CELL = 8
"""Every so many pixels one is looked at; an area that is searched for is larger."""


def found_canaries(folder: Path, texts: Iterable[str], colors: Mapping[str, int]) -> Iterator[str]:
    """The texts and the colors' names that a folder holds, each once for every file."""
    wanted = tuple(texts)
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        content = path.read_bytes()
        typed = "".join(_typed(content)) if path.suffix == ".jsonl" else ""
        for text in wanted:
            if text.encode() in content or text in typed:
                yield f"{text} in {path.name}"
        if content.startswith(b"\xff\xd8"):
            yield from (f"{name} in {path.name}" for name in _shown(content, colors))


def _typed(content: bytes) -> Iterator[str]:
    for line in content.split(b"\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event["kind"] == "key.down":
            yield event["text"] or event["key"]


def _shown(jpeg: bytes, colors: Mapping[str, int]) -> Iterator[str]:
    try:
        picture = Image.open(io.BytesIO(jpeg)).convert("RGB")
    except OSError:  # a crash cut it off
        return
    seen = {
        picture.getpixel((x, y))
        for x in range(CELL // 2, picture.width, CELL)
        for y in range(CELL // 2, picture.height, CELL)
    }
    for name, color in colors.items():
        channels = (color >> 16, color >> 8 & 0xFF, color & 0xFF)
        if any(_is_near(pixel, channels) for pixel in seen):
            yield name


def _is_near(pixel: object, channels: tuple[int, int, int]) -> bool:
    assert isinstance(pixel, tuple)
    return all(abs(one - other) <= COLOR_TOLERANCE for one, other in zip(pixel, channels, strict=True))
