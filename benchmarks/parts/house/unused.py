"""Public functions, classes and methods that no product code uses, found by vulture."""

from pathlib import Path

from vulture import Vulture

from benchmarks.parts.house.structure import PRODUCT

KINDS = {"function", "class", "method"}
# Called by a framework through a decorator …
DECORATORS = [
    "@*router.*",
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
# asyncio's protocols, http.server, websockify, Gymnasium, operations that a guest gets over its socket.
NAMES = [
    "Meta",
    "*Config",
    "ready",
    "has_*_permission",
    "is_open_for_signup",
    "get_login_stages",
    "respond_user_inactive",
    "pre_social_login",
    "on_authentication_error",
    "add_message",
    "add_arguments",
    "from_db_value",
    "get_prep_value",
    "parse_body",
    "get_openapi_operation_id",
    "episode_*",
    "data_received",
    "validate_connection",
    "close_extras",
    "do_*",
    "log_message",
    "get_extra_info",
    "visit_*",
    "handle_*",
    "hurry",
]
PUBLIC_API = ("docs/reference/wire.md", "docs/guides/researcher/client.md", "docs/guides/researcher/gym.md")
"""Pages whose code is called from outside the repository."""


def unused_public_names(root: Path) -> list[str]:
    """`path:line name` of each in product code, sorted; names that begin with an underscore are left out.

    Benchmarks, migrations and `manage.py` count as users, tests do not. Names in strings of settings and names that the
    pages of `PUBLIC_API` document are used from elsewhere.
    """
    vulture = Vulture(ignore_names=NAMES, ignore_decorators=DECORATORS)
    vulture.scavenge([str(root / path) for path in (*PRODUCT, "benchmarks", "manage.py")])
    settings = (root / "annotation_app" / "settings").glob("*.py")
    elsewhere = "\n".join(file.read_text() for file in (*settings, *(root / page for page in PUBLIC_API)))
    found = []
    for item in vulture.get_unused_code(min_confidence=60):
        path = Path(item.filename).relative_to(root)
        product = path.parts[0] in PRODUCT and "migrations" not in path.parts
        if product and item.typ in KINDS and not item.name.startswith("_") and item.name not in elsewhere:
            found.append(f"{path}:{item.first_lineno} {item.name}")
    return sorted(found)
