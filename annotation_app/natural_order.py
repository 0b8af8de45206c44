"""Natural sort order of names: numbers by value, ignoring case."""

import re

NUMBERS = re.compile(r"(\d+)")


def natural_key(name: str) -> tuple[list[str | int], str]:
    """Sort key for names: `pool 2` comes before `Pool 10`."""
    parts = NUMBERS.split(name)
    return [int(part) if place % 2 else part.casefold() for place, part in enumerate(parts)], name
