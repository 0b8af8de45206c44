"""Reads the text of a screenshot with Tesseract: lines, and where their words are."""

import asyncio
import csv
import io
from dataclasses import dataclass

from PIL import Image

SCALE = 2
"""How much a screenshot is enlarged: letters of 14 pixels are read better at 28."""
OCR_SECONDS = 60.0
SINGLE_THREAD = {"OMP_THREAD_LIMIT": "1", "PATH": "/usr/bin:/bin"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its middle (pixels of the screenshot)."""

    text: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class Line:
    """Words of one line, from left to right."""

    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The line as text."""
        return " ".join(word.text for word in self.words)


async def read_lines(picture: bytes) -> tuple[Line, ...]:
    """The lines of a PNG, from top to bottom. Raises RuntimeError where Tesseract fails."""
    program = await asyncio.create_subprocess_exec(
        *("tesseract", "-", "-", "--psm", "6", "tsv"),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        env=SINGLE_THREAD,
    )  # fmt: skip
    out, _ = await asyncio.wait_for(program.communicate(_enlarged(picture)), OCR_SECONDS)
    if program.returncode != 0:
        raise RuntimeError(f"tesseract ended with {program.returncode}")
    lines: dict[tuple[str, ...], list[Word]] = {}
    for row in csv.DictReader(io.StringIO(out.decode()), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["text"] and row["text"].strip():
            x, y = (int(row[side]) + int(row[size]) // 2 for side, size in (("left", "width"), ("top", "height")))
            key = tuple(row[name] for name in ("block_num", "par_num", "line_num"))
            lines.setdefault(key, []).append(Word(row["text"], x // SCALE, y // SCALE))
    return tuple(Line(tuple(words)) for words in lines.values())


def _enlarged(picture: bytes) -> bytes:
    image = Image.open(io.BytesIO(picture)).convert("L")
    out = io.BytesIO()
    image.resize((image.width * SCALE, image.height * SCALE), Image.Resampling.LANCZOS).save(
        out, "PNG", compress_level=1
    )
    return out.getvalue()
