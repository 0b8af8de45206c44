"""placeholder"""

from pathlib import Path


def adapt_game(folder: Path, about: Path, out: Path) -> Path:
    raise ValueError("no")
