"""Commands and options of programs, read from their argparse calls.

Programs are parsed, not started: those of the trainer need torch, and each start takes a second.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from annotation_app.reference.source_fields import imported_names, module_file

TOPS = ("protocol", "agent_backend", "task_factory", "vm_bridge", "annotation_app", "trainer")
INSIDE_MACHINES = ("vm_bridge/guest/", "vm_bridge/images/phone/", "vm_bridge/simulators/", "vm_bridge/hosts/")
"""Programs that a machine starts, never a person."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option or a positional argument."""

    names: str
    default: str
    meaning: str


@dataclass(slots=True)
class Command:
    """A command with its options. A program's own options are under the empty name."""

    name: str
    about: str
    options: list[Option] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Program:
    """A program that is started as `python -m module`."""

    module: str
    about: str
    commands: tuple[Command, ...]


def find_programs(root: Path) -> list[Program]:
    """Every program of the repository that reads options, by module."""
    found = []
    for file in sorted(file for top in TOPS for file in (root / top).rglob("*.py")):
        path = file.relative_to(root).as_posix()
        if path.startswith(INSIDE_MACHINES) or "/operations/" in path:
            continue
        source = file.read_text()
        if "__main__" in source and "ArgumentParser" in source:
            module = path.removesuffix(".py").removesuffix("/__main__").replace("/", ".")
            about = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")[0]
            found.append(Program(module, about, tuple(read_commands(root, path.removesuffix(".py").replace("/", ".")))))
    return found


def read_commands(root: Path, module: str) -> list[Command]:
    """The commands of a program, in source order. Options that a called function adds are included."""
    commands = [Command("", "")]
    _Reader(root, module, commands).read()
    return [one for one in commands if one.options or one.name]


class _Reader:
    """Reads one module. A function that adds options is read where it is called, also one of another module."""

    def __init__(self, root: Path, module: str, commands: list[Command]) -> None:
        self._root, self._commands = root, commands
        self._tree = ast.parse(module_file(root, module).read_text())
        self._imported = imported_names(self._tree)
        functions = {node.name: node for node in self._tree.body if isinstance(node, ast.FunctionDef)}
        adding = {name: node for name, node in functions.items() if _adds_options(node)}
        called = {node.func.id for node in ast.walk(self._tree) if _is_plain_call(node)}
        self._helpers = {name: node for name, node in adding.items() if name in called and name != "main"}
        self._known = {**self._imported_constants(), **_constants(self._tree.body)}

    def read(self) -> None:
        """Read the whole module."""
        for node in self._tree.body:
            if getattr(node, "name", "") not in self._helpers or _is_parser_maker(node):
                self._visit(node, self._known)

    def read_function(self, name: str) -> None:
        """Read one function."""
        for node in self._tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                self._visit(node, self._known)

    def _visit(self, node: ast.AST, known: Mapping[str, Any]) -> None:
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            for value in _literal(node.iter, known) or (f"<{node.target.id}>",):
                for one in node.body:
                    self._visit(one, {**known, node.target.id: value})
            return
        if isinstance(node, ast.FunctionDef):
            known = {**known, **_constants(node.body)}
        if isinstance(node, ast.Call):
            self._call(node, known)
        for child in ast.iter_child_nodes(node):
            self._visit(child, known)

    def _call(self, node: ast.Call, known: Mapping[str, Any]) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = {one.arg: one.value for one in node.keywords if one.arg}
        if name == "add_argument" and node.args:
            names = ", ".join(_text(one, known) for one in node.args)
            meaning = _text(given.get("help"), known).replace(" (default: %(default)s)", "").replace("%%", "%")
            options = _literal(given["choices"], known) if "choices" in given else ()
            choices = f"one of {', '.join(map(str, options))}" if options else ""
            whole = "; ".join(filter(None, (meaning, choices)))
            self._commands[-1].options.append(Option(names, _default(given, known), whole))
        elif name == "add_parser" and node.args:
            self._commands.append(Command(_text(node.args[0], known), _text(given.get("help"), known)))
        elif name in self._helpers and isinstance(node.func, ast.Name):
            if not _is_parser_maker(self._helpers[name]):
                self._visit(self._helpers[name], known)
        else:
            self._read_imported(node.func)

    def _read_imported(self, called: ast.expr) -> None:
        """Read a function of another module of the repository, if its name shows that it adds options."""
        module, name = "", ""
        if isinstance(called, ast.Name) and called.id in self._imported:
            module, name = self._imported[called.id]
        elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
            module, name = ".".join(self._imported.get(called.value.id, ("", ""))), called.attr
        if name.startswith("add_") and module.startswith(TOPS) and module_file(self._root, module).exists():
            _Reader(self._root, module, self._commands).read_function(name)

    def _imported_constants(self) -> dict[str, Any]:
        """Literal values that the module imports from others of the repository."""
        found: dict[str, Any] = {}
        for name, (module, original) in self._imported.items():
            file = module_file(self._root, module)
            if original.isupper() and module.startswith(TOPS) and file.exists():
                constants = _constants(ast.parse(file.read_text()).body)
                found |= {name: constants[original]} if original in constants else {}
        return found


def _adds_options(node: ast.FunctionDef) -> bool:
    names = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return bool(names & {"add_argument", "add_parser"})


def _is_parser_maker(node: ast.AST) -> bool:
    """Whether a function makes the program's parser. It is read where it is defined, not where it is called."""
    return any(isinstance(one, ast.Attribute) and one.attr == "ArgumentParser" for one in ast.walk(node)) and (
        isinstance(node, ast.FunctionDef) and not node.args.args
    )


def _is_plain_call(node: ast.AST) -> TypeGuard[Any]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name)


def _constants(body: list[ast.stmt]) -> dict[str, Any]:
    """Names that are assigned a literal value."""
    return {
        target.id: ast.literal_eval(node.value)
        for node in body
        if isinstance(node, ast.Assign) and _is_literal(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _literal(node: ast.expr, known: Mapping[str, Any]) -> tuple[Any, ...]:
    """The values that a loop iterates over, if they are literals."""
    value = known.get(node.id) if isinstance(node, ast.Name) else ast.literal_eval(node) if _is_literal(node) else None
    return tuple(value) if isinstance(value, tuple | list | dict) else ()


def _default(given: Mapping[str, ast.expr], known: Mapping[str, Any]) -> str:
    if "action" in given and _text(given["action"], known).startswith("store_"):
        return "off"
    if "required" in given:
        return "required"
    if "default" not in given or ast.unparse(given["default"]) in ("None", "''", "[]", "()", "argparse.SUPPRESS"):
        return ""
    return _text(given["default"], known)


def _text(node: ast.expr | None, known: Mapping[str, Any]) -> str:
    """The readable form of an expression: its value if that is a literal in the source, else the expression."""
    if node is None:
        return ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(one.value if isinstance(one, ast.FormattedValue) else one, known) for one in node.values)
    if isinstance(node, ast.Name) and node.id in known:
        return str(known[node.id])
    return str(ast.literal_eval(node)) if _is_literal(node) else ast.unparse(node)
