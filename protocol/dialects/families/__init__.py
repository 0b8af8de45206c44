"""The screens and actions of each model family: one file per family, found by its name."""

import pkgutil
from functools import cache
from importlib import import_module

from protocol.dialects.dialect import Dialect
from protocol.dialects.prompt_template import PromptTemplate


@cache
def list_dialects() -> tuple[str, ...]:
    """Every dialect there is: the names of this folder's files."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def get_dialect(name: str, prompt: PromptTemplate | None = None) -> Dialect:
    """The dialect of this name, with another prompt where one is given. Raises ValueError for an unknown one."""
    if name not in list_dialects():
        raise ValueError(f"unknown dialect {name!r}: there are {', '.join(list_dialects())}")
    dialect: Dialect = import_module(f"{__name__}.{name}").DIALECT
    return dialect.with_template(prompt)
