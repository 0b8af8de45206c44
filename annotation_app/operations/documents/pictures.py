"""The pages' pictures: screenshots of the end-to-end tests, made small enough for the repository."""

import io
from collections.abc import Sequence
from pathlib import Path

from annotation_app.operations.errors import OperationsError

COLORS = 128


def refresh_pictures(pictures: Path, screenshots: Path, more: Sequence[str] = ()) -> list[Path]:
    """Replace each picture by the screenshot of the same name, and add those that `more` names.

    A picture is a PNG of at most `COLORS` colors. Returns the changed files. Raises OperationsError where a screenshot
    is missing, and changes nothing then.
    """
    names = sorted({*(path.stem for path in pictures.glob("*.png")), *more})
    missing = [name for name in names if not (screenshots / f"{name}.png").is_file()]
    if missing:
        raise OperationsError(
            f"There are no screenshots of {', '.join(missing)}.", hint="./pilothouse test tests/e2e takes them."
        )
    made = {pictures / f"{name}.png": _reduce_colors(screenshots / f"{name}.png") for name in names}
    changed = [path for path, data in made.items() if not path.exists() or path.read_bytes() != data]
    for path in changed:
        path.write_bytes(made[path])
    return changed


def _reduce_colors(file: Path) -> bytes:
    from PIL import Image

    data = io.BytesIO()
    with Image.open(file) as image:
        image.convert("RGB").quantize(COLORS, dither=Image.Dither.NONE).save(data, "PNG", optimize=True)
    return data.getvalue()
