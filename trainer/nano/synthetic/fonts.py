"""The type faces that screens are written in: those of a browser on Linux, as far as they are installed."""

from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from PIL import ImageFont

from trainer.errors import ConfigInvalid

FOLDER = Path("/usr/share/fonts/truetype")
FACES = (
    *(f"dejavu/DejaVuSans{style}.ttf" for style in ("", "", "", "-Bold", "-Bold", "-Oblique", "Condensed", "Mono")),
    *(f"dejavu/DejaVuSerif{style}.ttf" for style in ("", "-Bold")),
    *(f"liberation/LiberationSans-{style}.ttf" for style in ("Regular", "Regular", "Bold")),
    *(f"liberation/LiberationSerif-{style}.ttf" for style in ("Regular", "Bold")),
    *(f"roboto/unhinted/RobotoTTF/Roboto-{style}.ttf" for style in ("Regular", "Medium", "Bold")),
    "roboto/unhinted/RobotoCondensed-Regular.ttf",
)
"""An entry that is listed twice is drawn twice as often."""
SIZES = (10, 11, 12, 12, 13, 13, 14, 15, 16, 18, 20)
FEWEST = 4


@dataclass(frozen=True)
class Font:
    """A face at a size, and how high its letters stand."""

    face: ImageFont.FreeTypeFont
    ascent: int
    descent: int

    @property
    def height(self) -> int:
        """From the highest to the lowest stroke."""
        return self.ascent + self.descent

    def bounds(self, text: str) -> tuple[float, ...]:
        """Where each letter begins, and where the last one ends."""
        return _bounds(self.face, text)


@cache
def fonts() -> tuple[Font, ...]:
    """Every face at every size. Raises ConfigInvalid where too few are installed."""
    files = [FOLDER / name for name in FACES if (FOLDER / name).is_file()]
    if len(set(files)) < FEWEST:
        raise ConfigInvalid(f"of the faces screens are written in, {len(set(files))} are installed below {FOLDER}")
    return tuple(_font(file, size) for file in files for size in SIZES)


@lru_cache(maxsize=256)
def _bounds(face: ImageFont.FreeTypeFont, text: str) -> tuple[float, ...]:
    return tuple(face.getlength(text[:count]) for count in range(len(text) + 1))


@cache
def _font(file: Path, size: int) -> Font:
    face = ImageFont.truetype(str(file), size, layout_engine=ImageFont.Layout.BASIC)
    ascent, descent = face.getmetrics()
    return Font(face, ascent, descent)
