"""Checks of important docstrings: `docs/docstrings.toml` lists their objects, and `gaps` compares signature and text.

The rule reads source files only; nothing is imported. An object is a public class, function or method. It is complete
where

* it has a docstring
* each parameter, field and return value that is a tensor has its shape in brackets, such as `[batch, tokens]`
* each number is explained by name, or carries its unit in its name (`timeout_seconds`)
* each exception class that its body raises is named after "Raises"
* each name under `Args:` is a parameter
* the source of a listed formula is named with its year
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

LIST = Path("docs", "docstrings.toml")
SHAPE = re.compile(r"\[[^\[\]]*\]")
ENTRY = re.compile(r"^ *(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: \([^)]*\))?: ")
SECTION = re.compile(r"^ *(Args|Attributes|Returns|Yields|Raises):\s*$")
RAISES = re.compile(r"\bRaises?\b")
TIME_AND_SIZE = {"seconds", "second", "milliseconds", "ms", "ns", "bytes", "pixels", "px", "width", "height"}
COUNTS = {
    "tokens",
    "token",
    "characters",
    "columns",
    "rows",
    "attempts",
    "steps",
    "step",
    "updates",
    "update",
    "sequences",
}
NUMBERS = {"port", "seed", "count", "number", "index"}
UNITS = TIME_AND_SIZE | COUNTS | NUMBERS
"""Last words of a name that state what it counts."""
NUMBER = re.compile(r"\b(?:int|float)\b")
CONTAINER = re.compile(r"\b(?:Sequence|Mapping|Iterable|Iterator|Callable|Collection|dict|list|set|tuple|Literal)\b")
TENSOR = re.compile(r"\bTensor\b")
SOURCE = re.compile(r"\b(?:19|20)\d\d\b")
"""The year of a paper or of code."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class ListedObject:
    """A class, function or method of the list."""

    path: str
    """Path of its file from the repository's root."""
    name: str
    """Its qualified name in the module."""
    line: int
    gaps: tuple[str, ...]
    """What its docstring lacks, one phrase each."""


@dataclass(frozen=True, slots=True)
class Text:
    """A parsed docstring."""

    entries: dict[str, str]
    """The entries of `Args` or `Attributes`, by name."""
    rest: str
    """The remaining text."""
    raised: frozenset[str]
    """The words after "Raises"."""

    def explains(self, name: str) -> bool:
        """Whether a name occurs at all."""
        return name in self.entries or re.search(rf"\b{re.escape(name)}\b", self.rest) is not None

    def has_shape(self, name: str) -> bool:
        """Whether a name has a shape in brackets: in its entry, or after it in the same sentence."""
        if SHAPE.search(self.entries.get(name, "")):
            return True
        return re.search(rf"`{re.escape(name)}`[^.]*?{SHAPE.pattern}", self.rest) is not None


def listed_objects(root: Path) -> list[ListedObject]:
    """Every listed object with its gaps.

    Raises:
        KeyError: The list names an object that its file does not have.
        OSError: The list names a file that is not there.
    """
    listed = tomllib.loads((root / LIST).read_text())
    found: list[ListedObject] = []
    for path in (path for area in listed["area"] for path in area["files"]):
        objects = dict(public_objects(ast.parse((root / path).read_text())))
        formulas = {name: objects[name] for name in listed["formulas"].get(path, ())}
        for name, node in objects.items():
            unsourced = name in formulas and not SOURCE.search(ast.get_docstring(node) or "")
            found.append(ListedObject(path, name, node.lineno, (*gaps(node), *(["names no source"] * unsourced))))
    return found


def public_objects(module: ast.Module) -> Iterator[tuple[str, ast.ClassDef | Function]]:
    """Public classes, functions and methods with their qualified names, in the order of the file.

    Leaves out plain properties, which say what they are in a line, and special methods, which belong to their class.
    """
    for node in module.body:
        if isinstance(node, ast.ClassDef | Function) and not node.name.startswith("_"):
            yield node.name, node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for method in node.body:
                if isinstance(method, Function) and not method.name.startswith("_") and not _is_property(method):
                    yield f"{node.name}.{method.name}", method


def gaps(node: ast.ClassDef | Function) -> Iterator[str]:
    """What the docstring of an object lacks, one phrase each."""
    docstring = ast.get_docstring(node)
    if not docstring:
        yield "has no docstring"
        return
    yield from _class_gaps(node, docstring) if isinstance(node, ast.ClassDef) else _function_gaps(node, docstring)


def _function_gaps(node: Function, docstring: str) -> Iterator[str]:
    text = read_docstring(docstring)
    parameters = {one.arg: _annotation(one.annotation) for one in _parameters(node)}
    yield from (f"Args names {name}, which is no parameter" for name in text.entries if name not in parameters)
    for name, annotation in parameters.items():
        yield from _value_gaps(name, annotation, text)
    if TENSOR.search(_annotation(node.returns)) and not SHAPE.search(text.rest):
        yield "the returned tensor has no shape"
    yield from (f"Raises does not name {name}" for name in sorted(raised(node) - text.raised))


def _class_gaps(node: ast.ClassDef, docstring: str) -> Iterator[str]:
    own = [one for one in node.body if isinstance(one, Function) and one.name in ("__init__", "__post_init__")]
    text = read_docstring("\n".join([docstring, *(ast.get_docstring(one) or "" for one in own)]))
    fields = {name: (annotation, explanation) for name, annotation, explanation in _fields(node)}
    parameters = {one.arg: _annotation(one.annotation) for function in own for one in _parameters(function)}
    known = parameters.keys() | fields.keys()
    yield from (f"Args names {name}, which is no parameter" for name in text.entries if name not in known)
    for name, annotation in parameters.items():
        yield from _value_gaps(name, annotation, text)
    for name, (annotation, explanation) in fields.items():
        about = Text({**text.entries, name: f"{text.entries.get(name, '')} {explanation}"}, text.rest, text.raised)
        yield from _value_gaps(name, annotation, about if explanation else text)
    missing = {name for function in own for name in raised(function)} - text.raised
    yield from (f"Raises does not name {name}" for name in sorted(missing))


def _value_gaps(name: str, annotation: str, text: Text) -> Iterator[str]:
    if TENSOR.search(annotation):
        if not text.has_shape(name):
            yield f"{name} is a tensor without a shape"
    elif is_number(annotation) and name.rsplit("_", 1)[-1] not in UNITS and not text.explains(name):
        yield f"{name} is a number without a word about it"


def is_number(annotation: str) -> bool:
    """Whether an annotation is a number or an optional number."""
    return bool(NUMBER.search(annotation)) and not CONTAINER.search(annotation)


def read_docstring(docstring: str) -> Text:
    """The parts of a docstring in Google's style; sections are optional."""
    entries: dict[str, str] = {}
    rest: list[str] = []
    section, current = "", ""
    for line in docstring.splitlines():
        if heading := SECTION.match(line):
            section, current = heading[1], ""
            rest.append(line)
        elif section not in ("Args", "Attributes"):
            rest.append(line)
        elif entry := ENTRY.match(line):
            current = entry["names"].replace("*", "")
            entries |= {name: line[entry.end() :] for name in current.split(", ")}
        elif line.strip() and current:
            entries |= {name: f"{entries[name]} {line.strip()}" for name in current.split(", ")}
        elif line.strip() and not line.startswith(" "):
            section = ""
            rest.append(line)
    whole = " ".join(rest)
    start = RAISES.search(whole)
    return Text(entries, whole, frozenset(re.findall(r"\w+", whole[start.end() :]) if start else ()))


def raised(node: Function) -> set[str]:
    """Names of the exception classes that a function's own body raises, without those of nested functions."""
    return {name for one in _own_nodes(node.body) if isinstance(one, ast.Raise) and (name := _exception_name(one.exc))}


def _own_nodes(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for node in body:
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            yield node
            yield from _own_nodes(list(ast.iter_child_nodes(node)))


def _exception_name(expression: ast.expr | None) -> str:
    """The class that is raised; empty if an exception is re-raised or made by a function."""
    expression = expression.func if isinstance(expression, ast.Call) else expression
    name = expression.attr if isinstance(expression, ast.Attribute) else getattr(expression, "id", "")
    return name if name[:1].isupper() else ""


def _parameters(node: Function) -> list[ast.arg]:
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    every += [one for one in (given.vararg, given.kwarg) if one is not None]
    return [one for one in every if one.arg not in ("self", "cls")]


def _fields(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    """Name, annotation and docstring of each public field."""
    for place, one in enumerate(node.body):
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and not one.target.id.startswith("_"):
            after = node.body[place + 1] if place + 1 < len(node.body) else None
            yield one.target.id, _annotation(one.annotation), _string(after)


def _string(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
        return node.value.value
    return ""


def _annotation(node: ast.expr | None) -> str:
    return "" if node is None else ast.unparse(node)


def _is_property(node: Function) -> bool:
    names = {ast.unparse(one) for one in node.decorator_list}
    return bool(names & {"property", "cached_property", "functools.cached_property"})
