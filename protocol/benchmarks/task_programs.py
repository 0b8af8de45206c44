"""Task programs of OSWorld 2.0, read without running them.

A task is a Python file with one class: its attributes say what the task is, its `setup(setup_controller, use_proxy)`
makes the start state, and its `evaluate(env)` returns a score or a dict with one. Sources: the report of OSWorld 2.0
(arXiv 2606.29537), public descriptions of its loader, and one of its task files that lay in public code, read for the
names it calls. Its tasks are not part of this project.
"""

import ast
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from protocol.base import FrozenModel
from protocol.benchmarks.forms import FormError
from protocol.trajectory.tasks import Task

OSWORLD = "osworld"
"""The parameter of a task that holds OSWorld's file, or `{"program": …}` for a program."""
PROGRAM_SUFFIX = ".py"
MAX_PROGRAM_CHARACTERS = 1_000_000
PACKAGE = "desktop_env"
"""OSWorld's package, which programs import."""
Need = Literal["judge", "websites", "gitlab", "user", "phases", "assets", "password"]
JUDGE_NAMES = frozenset({"model_client", "llm_metrics", "generate_text", "generate_json", "generate_chat"})
JUDGE_SUFFIX = "_with_llm"
NEEDS_BY_NAME: Mapping[str, Need] = {
    **dict.fromkeys(JUDGE_NAMES, "judge"),
    **dict.fromkeys(("WEBSITE_HOST_SUFFIX", "build_website_url", "prepare_stateful_website_urls"), "websites"),
    **dict.fromkeys(("get_state_with_cookie", "get_state_file_with_cookie"), "websites"),
    **dict.fromkeys(("GITLAB_URL", "GITLAB_PRIVATE_TOKEN", "get_gitlab_admin_client"), "gitlab"),
    "MultiPhaseTask": "phases",
    "get_phases": "phases",
}
"""Names in a program that show what it needs beside the desktop."""
NEEDS_BY_IMPORT: Mapping[str, Need] = {
    **NEEDS_BY_NAME,
    "website": "websites",
    "gitlab": "gitlab",
    "asset": "assets",
}
"""The same for what it imports of OSWorld's package, modules included."""
NEEDS_BY_TEXT: Mapping[str, Need] = {"{CLIENT_PASSWORD}": "password"}


class TaskProgram(FrozenModel):
    """What a program says of itself, and what it needs beside the desktop."""

    id: str
    instruction: str
    applications: tuple[str, ...] = ()
    needs: frozenset[Need] = frozenset()
    imports: tuple[str, ...] = ()
    """Dotted names of OSWorld's package that it uses, without those for type checkers alone."""


def read_task_program(source: str) -> TaskProgram | None:
    """What a program says; None where it is no task program. Raises FormError, with what of its form cannot be read."""
    if len(source) > MAX_PROGRAM_CHARACTERS:
        raise FormError(f"it has more than {MAX_PROGRAM_CHARACTERS} characters")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise FormError(f"form_unsupported: it is no Python: {error}") from None
    found = _task_class(tree)
    if found is None:
        return None
    known = _constants(tree.body, {})
    own = _constants(found.body, known)
    identifier, instruction = own.get("id"), own.get("instruction")
    if not isinstance(identifier, str) or not identifier:
        raise FormError("form_unsupported: its id is no text that can be read")
    if not isinstance(instruction, str) or not instruction.strip():
        raise FormError("form_unsupported: its instruction is computed when it runs")
    named = own.get("related_apps")
    return TaskProgram(
        id=identifier,
        instruction=instruction,
        applications=tuple(map(str, named)) if isinstance(named, list | tuple) else (),
        needs=frozenset(_needs(tree)) | ({"user"} if own.get("user_simulator", None) is not None else set()),
        imports=tuple(sorted(set(_imports(tree)))),
    )


def program_task(source: str, name: str, more: Mapping[str, Any]) -> Task | None:
    """The task of a program, whose file is called `name` without its suffix; None where it is none.

    `more` are other parameters, such as its oracle. Raises FormError.
    """
    program = read_task_program(source)
    if program is None:
        return None
    given = {
        "program": source,
        "name": name,
        "instruction": program.instruction,
        "related_apps": list(program.applications),
    }
    return Task(id=program.id, instruction=program.instruction, parameters={OSWORLD: given, **more})


def _task_class(tree: ast.Module) -> ast.ClassDef | None:
    """The first class of a module that has an `evaluate` and an `id`."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = {each.name for each in node.body if isinstance(each, ast.FunctionDef)}
            if methods & {"evaluate", "get_phases"} and "id" in _constants(node.body, {}):
                return node
    return None


def _constants(body: list[ast.stmt], outer: Mapping[str, Any]) -> dict[str, Any]:
    """The names that a body assigns constants to, and those of outside; None is a value that was not found out."""
    known = dict(outer)
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                known[name] = _value(value, known)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                known[name] = _value(value, known)
    return known


def _value(node: ast.expr, known: Mapping[str, Any]) -> Any:
    """A constant, also one that is put together from others; an empty dict represents a dict of any content."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return known.get(name)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part, known) for part in parts]
        case ast.Dict():
            return {}
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _joined([_value(left, known), _value(right, known)])
        case ast.JoinedStr(values=parts):
            return _joined([_value(part, known) for part in parts])
        case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
            return _value(value, known)
        case ast.Call(func=ast.Attribute(value=value, attr="strip"), args=[], keywords=[]):
            inner = _value(value, known)
            return inner.strip() if isinstance(inner, str) else None
    return None


def _joined(parts: list[Any]) -> str | None:
    return "".join(parts) if all(isinstance(part, str) for part in parts) else None


def _needs(tree: ast.Module) -> Iterator[Need]:
    for node in _run_nodes(tree):
        for name in _imported_parts(node):
            yield from _needs_of(name, NEEDS_BY_IMPORT)
        match node:
            case ast.Attribute(attr=name) | ast.Name(id=name) | ast.FunctionDef(name=name):
                yield from _needs_of(name, NEEDS_BY_NAME)
            case ast.Constant(value=str(text)):
                yield from _needs_of(text, NEEDS_BY_NAME)
                yield from (need for part, need in NEEDS_BY_TEXT.items() if part in text)


def _needs_of(name: str, needs: Mapping[str, Need]) -> Iterator[Need]:
    if name.endswith(JUDGE_SUFFIX):
        yield "judge"
    elif name in needs:
        yield needs[name]


def _imported_parts(node: ast.AST) -> tuple[str, ...]:
    """The parts of the names that a statement imports from OSWorld's package."""
    match node:
        case ast.Import(names=names):
            return tuple(part for each in names if each.name.startswith(PACKAGE) for part in each.name.split("."))
        case ast.ImportFrom(module=str(module), names=names) if module.startswith(PACKAGE):
            return (*module.split("."), *(each.name for each in names))
    return ()


def _imports(tree: ast.Module) -> Iterator[str]:
    """Dotted names of the package; of a module that was imported whole, the attributes that are used."""
    modules: dict[str, str] = {}
    nodes = tuple(_run_nodes(tree))
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.split(".")[0] == PACKAGE:
                for each in names:
                    modules[each.asname or each.name] = f"{module}.{each.name}"
            case ast.Import(names=names):
                for each in names:
                    if each.name.split(".")[0] == PACKAGE:
                        modules[each.asname or each.name] = each.name
    used = {
        (node.value.id, node.attr)
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    for alias, dotted in modules.items():
        attributes = [attribute for name, attribute in used if name == alias]
        yield from (f"{dotted}.{attribute}" for attribute in attributes) if attributes else (dotted,)


def _run_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but those below `if TYPE_CHECKING:`."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING"), orelse=others):
                for other in others:
                    yield other
                    yield from _run_nodes(other)
            case _:
                yield node
                yield from _run_nodes(node)
