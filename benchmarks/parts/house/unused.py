"""Public functions, classes and methods that no product code uses, found by vulture."""

from pathlib import Path

from vulture import Vulture

from benchmarks.parts.house.structure import PRODUCT

KINDS = {"function", "class", "method"}
# Called by a framework through a decorator …
DECORATORS = [
    "@router.*",
    "@app.*",
    "@receiver*",
    "@*.connect*",
    "@field_validator*",
    "@model_validator*",
    "@field_serializer*",
    "@admin.*",
    "@register*",
    "@*.exception_handler",
    "@*.tool",
    "@override",
]
# … or by name: Django's admin, fields and commands, Ninja's endpoints, allauth's adapters, Channels' handlers,
# http.server, transports of asyncio.
NAMES = [
    "Meta",
    "*Config",
    "ready",
    "has_*_permission",
    "is_open_for_signup",
    "add_message",
    "add_arguments",
    "from_db_value",
    "parse_body",
    "episode_*",
    "do_*",
    "log_message",
    "get_extra_info",
    "visit_*",
    "handle_*",
]


def unused_public_names(root: Path) -> list[str]:
    """`path:line name` of each, sorted; names that begin with an underscore are left out.

    Names in settings, which Django imports by a string, and in migrations are left out as well.
    """
    vulture = Vulture(ignore_names=NAMES, ignore_decorators=DECORATORS)
    vulture.scavenge([str(root / top) for top in (*PRODUCT, "benchmarks")], exclude=["*/migrations/*"])
    strings = "\n".join(file.read_text() for file in (root / "annotation_app" / "settings").glob("*.py"))
    return sorted(
        f"{Path(item.filename).relative_to(root)}:{item.first_lineno} {item.name}"
        for item in vulture.get_unused_code(min_confidence=60)
        if item.typ in KINDS and not item.name.startswith("_") and item.name not in strings
    )
