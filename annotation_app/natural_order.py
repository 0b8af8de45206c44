"""The order in which people look for names: numbers by their value, and capitals as small letters."""

import re

NUMBERS = re.compile(r"(\d+)")


def natural_key(name: str) -> tuple[list[str | int], str]:
    """What names are sorted by: `pool 2` comes before `Pool 10`."""
    parts = NUMBERS.split(name)
    return [int(part) if place % 2 else part.casefold() for place, part in enumerate(parts)], name
