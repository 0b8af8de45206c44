"""Draws the screens of the probe again, from fixed seeds: `python -m benchmarks.parts.models.probe_screens`.

The desktop screens hold buttons, links and checkboxes as office programs have them. The small ones are drawn as the
bundled policy's training data is, with words that no training sees.
"""

import json
import sys
from random import Random
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from agent_backend.probe.targets import FOLDER, TARGETS_FILE
from trainer.nano.synthetic.instructions import request_widget
from trainer.nano.synthetic.screens import draw_screen

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
DESKTOP_SIZES = ((1280, 720), (1920, 1080), (1080, 1920))
SMALL_SIZES = ((320, 240), (240, 240), (160, 210))
TARGETS_BY_SIZE = (17, 17, 16)
TARGETS_PER_SCREEN = 6
WORDS = (
    *(
        "Save",
        "Cancel",
        "Open file",
        "Print",
        "Export",
        "Undo",
        "Redo",
        "Search",
        "Settings",
        "Help",
        "Share",
        "Archive",
    ),
    *("Invoices", "Contacts", "Calendar", "Reports", "Drafts", "Trash", "Upload", "Download", "Sign out", "Refresh"),
    *("Bold", "Italic", "Insert table", "Zoom in", "Zoom out", "New folder", "Rename", "Compare", "Filter", "Sort"),
    *("Subscribe", "Remind me", "Mark as read", "Full screen", "Dark mode", "Spelling", "Word count", "Page setup"),
)
KINDS = ("button", "link", "checkbox")


def main() -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.png"):
        old.unlink()
    rows: list[dict[str, Any]] = []
    for name, sizes, draw in (("desktop", DESKTOP_SIZES, desktop_screen), ("small", SMALL_SIZES, small_screen)):
        for size, wanted in zip(sizes, TARGETS_BY_SIZE, strict=True):
            rows += screens_of(name, size, wanted, draw)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (FOLDER / TARGETS_FILE).write_text(text)
    print(f"{len(rows)} targets, {sum(file.stat().st_size for file in FOLDER.iterdir()) // 1024} KiB", file=sys.stderr)
    return 0


def screens_of(name: str, size: tuple[int, int], wanted: int, draw: Any) -> list[dict[str, Any]]:
    """The targets of one size, on as many screens as they need."""
    rows: list[dict[str, Any]] = []
    number = 0
    while len(rows) < wanted:
        seed = f"{name} {size[0]}x{size[1]} {number}"
        image, targets = draw(Random(seed), size)
        file = f"{name}-{size[0]}x{size[1]}-{number}.png"
        image.convert("P", palette=Image.Palette.ADAPTIVE, colors=128).save(FOLDER / file, optimize=True)
        number += 1
        for instruction, box in targets[: min(TARGETS_PER_SCREEN, wanted - len(rows))]:
            rows.append({"screens": name, "screen": file, "size": size, "instruction": instruction, "box": box})
    return rows


def desktop_screen(random: Random, size: tuple[int, int]) -> tuple[Image.Image, list[tuple[str, list[int]]]]:
    """A window full of controls, on a grid that leaves no two over each other."""
    width, height = size
    image = Image.new("RGB", size, (236, 238, 241))
    brush = ImageDraw.Draw(image)
    brush.rectangle((0, 0, width, 32), fill=(52, 66, 86))
    brush.text((12, 7), "Documents", font=ImageFont.truetype(FONT, 15), fill=(255, 255, 255))
    columns, rows = max(3, width // 260), max(4, height // 130)
    cells = random.sample([(column, row) for column in range(columns) for row in range(rows)], TARGETS_PER_SCREEN * 3)
    labels = random.sample(WORDS, len(cells))
    targets = []
    for (column, row), label in zip(cells, labels, strict=True):
        kind, font = random.choice(KINDS), ImageFont.truetype(FONT, random.choice((13, 14, 16)))
        left, top, right, bottom = brush.textbbox((0, 0), label, font=font)
        wide, high = right - left, bottom - top
        x = round(width * column / columns) + random.randint(12, max(13, width // columns - int(wide) - 60))
        y = 40 + round((height - 48) * row / rows) + random.randint(4, (height - 48) // rows - 44)
        if kind == "button":
            box = [x, y, x + int(wide) + 24, y + int(high) + 16]
            brush.rounded_rectangle(box, 5, fill=(250, 250, 251), outline=(150, 156, 166))
            brush.text((x + 12 - left, y + 8 - top), label, font=font, fill=(30, 34, 40))
            targets.append((f'Click the button "{label}".', box))
        elif kind == "link":
            box = [x - 2, y - 2, x + int(wide) + 2, y + int(high) + 4]
            brush.text((x - left, y - top), label, font=font, fill=(24, 84, 190))
            brush.line((x, y + high + 2, x + wide, y + high + 2), fill=(24, 84, 190))
            targets.append((f'Click the link "{label}".', box))
        else:
            box = [x, y, x + 16, y + 16]
            brush.rectangle(box, fill=(255, 255, 255), outline=(120, 126, 136))
            brush.text((x + 24 - left, y + 2 - top), label, font=font, fill=(30, 34, 40))
            targets.append((f'Tick the checkbox to the left of "{label}".', box))
    random.shuffle(targets)
    return image, targets


def small_screen(random: Random, size: tuple[int, int]) -> tuple[Image.Image, list[tuple[str, list[int]]]]:
    """A small page as the bundled policy knows them, in its own size."""
    screen = draw_screen(random, page=size, dense=False, held_out=True)
    across, down = size[0] / screen.image.width, size[1] / screen.image.height
    image = screen.image.resize(size, Image.Resampling.BICUBIC)
    labels = [widget.label for widget in screen.widgets]
    targets = []
    for widget in screen.widgets:
        if labels.count(widget.label) == 1:
            left, top, right, bottom = widget.target
            box = [round(left * across), round(top * down), round(right * across), round(bottom * down)]
            targets.append((request_widget(random, widget).sentence, box))
    return image, targets


if __name__ == "__main__":
    sys.exit(main())
