"""Fields of settings and messages with their types, defaults and docstrings, read from source files.

Nothing is imported: the trainer's settings need torch, and the bridge's belong to another process.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}


@dataclass(frozen=True, slots=True)
class SourceField:
    """A field of a class."""

    name: str
    type: str
    """The annotation as written, with its bounds."""
    default: str
    """The default as written; "required" without one."""
    meaning: str
    """Its docstring; empty without one."""


@dataclass(frozen=True, slots=True)
class SourceClass:
    """A class with its docstring and its fields, those of its bases first."""

    name: str
    docstring: str
    fields: tuple[SourceField, ...]


def read_class(root: Path, module: str, name: str) -> SourceClass:
    """A class of a module of this repository. Bases from other packages have no fields.

    Args:
        root: The repository.
        module: Dotted name, such as `trainer.config`.
        name: Name of the class.

    Raises:
        KeyError: The module has no such class.
        OSError: There is no such module.
    """
    tree = ast.parse(module_file(root, module).read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    node = classes[name]
    fields: dict[str, SourceField] = {}
    for base in (one.id for one in node.bases if isinstance(one, ast.Name)):
        place = (module, base) if base in classes else imported_names(tree).get(base)
        if place is not None and module_file(root, place[0]).exists():
            fields |= {one.name: one for one in read_class(root, *place).fields}
    fields |= {one.name: one for one in _own_fields(node)}
    return SourceClass(name, ast.get_docstring(node) or "", tuple(fields.values()))


def module_file(root: Path, module: str) -> Path:
    """The source file of a module."""
    path = root.joinpath(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def imported_names(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """Names that a module imports from others, each with the module and its name there."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
    }


def _own_fields(node: ast.ClassDef) -> list[SourceField]:
    fields = []
    for place, one in enumerate(node.body):
        if not (isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)):
            continue
        annotation = ast.unparse(one.annotation)
        if one.target.id.startswith("_") or annotation.startswith("ClassVar"):
            continue
        after = node.body[place + 1] if place + 1 < len(node.body) else None
        default, bounds = _default(one.value)
        fields.append(SourceField(one.target.id, _type(one.annotation) + bounds, default, docstring_of(after)))
    return fields


def docstring_of(node: ast.stmt | None) -> str:
    """The text of a statement that is only a string; else empty."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return " ".join(node.value.value.split())
    return ""


def _type(annotation: ast.expr) -> str:
    """An annotation without pydantic constraints."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Annotated":
        inner = annotation.slice
        return _type(inner.elts[0]) if isinstance(inner, ast.Tuple) else ast.unparse(inner)
    return ast.unparse(annotation)


def _default(value: ast.expr | None) -> tuple[str, str]:
    """The default and the bounds of a field, both as text."""
    if not (isinstance(value, ast.Call) and ast.unparse(value.func) in ("Field", "field")):
        return ("required" if value is None else ast.unparse(value)), ""
    given = {one.arg: ast.unparse(one.value) for one in value.keywords if one.arg}
    default = ast.unparse(value.args[0]) if value.args else given.get("default", "required")
    if "default_factory" in given:
        default = f"made by {given['default_factory'].strip('_')}"
    bounds = ", ".join(f"{sign} {given[name]}" for name, sign in BOUNDS.items() if name in given)
    return ("required" if default == "..." else default), f", {bounds}" if bounds else ""
