"""How each model family writes screens and actions: one file a family, found by its name."""

import pkgutil
from importlib import import_module

from vocabulary.dialect import Dialect


def dialect_names() -> tuple[str, ...]:
    """Every dialect there is: the names of this folder's files."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def dialect_named(name: str) -> Dialect:
    """The dialect of this name. Raises ValueError for an unknown one."""
    if name not in dialect_names():
        raise ValueError(f"unknown dialect {name!r}: there are {', '.join(dialect_names())}")
    dialect: Dialect = import_module(f"{__name__}.{name}").DIALECT
    return dialect
