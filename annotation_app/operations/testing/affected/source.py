"""References of one Python file: imports, modules and files named in strings, fixtures."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib.util import resolve_name
from itertools import pairwise

PACKAGES = (
    "protocol",
    "vm_bridge",
    "agent_backend",
    "task_factory",
    "annotation_app",
    "trainer",
    "recorder",
    "benchmarks",
    "tests",
)
"""The top-level packages of the repository."""
MODULE_LEVEL = ""
"""The name of code that is in no function, class or assigned name."""
_DOTTED_PATTERN = re.compile(rf"(?<![\w./-])(?:{'|'.join(PACKAGES)})(?:\.[A-Za-z_]\w*)+")
_PATH_PATTERN = re.compile(r"[\w.-]+(?:/[\w.*-]+)+")
_RUN_OPTIONS = {"-m": "__main__", "-A": "celery"}
"""Options of Python and Celery that precede a package's name, and the module of it that runs."""


@dataclass(slots=True)
class References:
    """What a piece of code refers to."""

    names: set[str] = field(default_factory=set)
    """Names that it reads."""
    storage_names: set[str] = field(default_factory=set)
    """Functions that it calls with `storage_only=True`. They start PostgreSQL and Redis, and none of our code."""
    imports: dict[str, set[str]] = field(default_factory=dict)
    """Imported modules, and the names imported from each."""
    modules: set[str] = field(default_factory=set)
    """Dotted names in strings. One that ends in a dot is the start of an f-string: any module below it."""
    paths: set[str] = field(default_factory=set)
    """Paths in strings: from the root of the repository, or `./` and the name of a script in this file's folder."""
    bare_packages: set[str] = field(default_factory=set)
    """Strings that equal the name of a top-level package. Most are ordinary words."""
    runs_dynamic_module: bool = False
    """Whether a command has something other than a string after `-m`, so that any bare package may be run."""
    walks_packages: bool = False
    """Whether it imports all modules of a package with `pkgutil.walk_packages`."""
    parameters: set[str] = field(default_factory=set)
    """Parameters of fixtures and tests: the fixtures that they request."""

    def __ior__(self, other: "References") -> "References":
        for name in ("names", "storage_names", "modules", "paths", "bare_packages", "parameters"):
            getattr(self, name).update(getattr(other, name))
        self.runs_dynamic_module |= other.runs_dynamic_module
        self.walks_packages |= other.walks_packages
        for module, names in other.imports.items():
            self.imports.setdefault(module, set()).update(names)
        return self


@dataclass(slots=True)
class Source:
    """One Python file by its top-level definitions: functions, classes, assigned names, and the remaining code."""

    definitions: dict[str, References]
    imported: dict[str, tuple[str, str]]
    """Names bound by imports at the top level: the module, and the name in it; an empty name is the module."""
    constants: set[str]
    """Upper-case names whose value no function or class of the repository makes."""
    automatic: set[str]
    """Definitions that pytest uses without a request: hooks and autouse fixtures."""
    fixtures: set[str]

    @property
    def everything(self) -> References:
        """All definitions together."""
        together = References()
        for references in self.definitions.values():
            together |= references
        return together


def find_module_names(text: str) -> set[str]:
    """Dotted names in a text that begin with one of our packages. Some name an object inside a module."""
    return set(_DOTTED_PATTERN.findall(text))


def read_source(text: str, module: str, *, package: bool = False) -> Source:
    """Parse a file. Annotations and docstrings refer to nothing. Raises SyntaxError.

    Args:
        text: The Python source.
        module: Its dotted name, which replaces `__name__`.
        package: Whether it is an `__init__.py`.
    """
    source = Source({MODULE_LEVEL: References()}, {}, set(), set(), set())
    tree = ast.parse(text)
    _resolve_relative_imports(tree, module if package else module.rpartition(".")[0])
    for statement in _statements(tree.body):
        names = _defined_names(statement)
        reader = _ReferenceCollector(module)
        reader.visit(statement)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            source.imported.update(_bindings(statement))
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            _record_fixture(statement, source)
        for name in names or (MODULE_LEVEL,):
            source.definitions.setdefault(name, References())
            source.definitions[name] |= reader.found
    functions = {each.name for each in tree.body if isinstance(each, _DEFINITION_TYPES)}
    ours = {name for name, (origin, _) in source.imported.items() if origin.partition(".")[0] in PACKAGES}
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            for name in filter(str.isupper, _defined_names(statement)):
                used = source.definitions[name].names - {name}
                if not any(each in functions or (each in ours and not each.isupper()) for each in used):
                    source.constants.add(name)
    return source


_DEFINITION_TYPES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The top-level statements, including those in conditions (`if TYPE_CHECKING`, `try: import`)."""
    for statement in body:
        if isinstance(statement, ast.If | ast.Try):
            parts = [statement.body, statement.orelse]
            if isinstance(statement, ast.Try):
                parts += [*(handler.body for handler in statement.handlers), statement.finalbody]
            for part in parts:
                yield from _statements(part)
        else:
            yield statement


def _defined_names(statement: ast.stmt) -> list[str]:
    match statement:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Assign(targets=targets):
            return [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
    return []


def _resolve_relative_imports(tree: ast.Module, package: str) -> None:
    """Expand `from .name import …` to absolute imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            node.module = resolve_name("." * node.level + (node.module or ""), package).rstrip(".")
            node.level = 0


def _bindings(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, tuple[str, str]]]:
    for alias in statement.names:
        if isinstance(statement, ast.ImportFrom):
            yield alias.asname or alias.name, (statement.module or "", alias.name)
        elif alias.asname:
            yield alias.asname, (alias.name, "")
        else:
            yield alias.name.partition(".")[0], (alias.name, "")


def _record_fixture(function: ast.FunctionDef | ast.AsyncFunctionDef, source: Source) -> None:
    if _is_fixture(function):
        source.fixtures.add(function.name)
    if function.name.startswith("pytest_") or any(
        isinstance(each, ast.Call) and any(keyword.arg == "autouse" for keyword in each.keywords)
        for each in function.decorator_list
    ):
        source.automatic.add(function.name)


def _is_fixture(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) == "fixture":
            return True
    return False


def _parametrized_names(decorator: ast.expr) -> set[str]:
    """Parameters with values from `pytest.mark.parametrize`, which are not fixtures."""
    match decorator:
        case ast.Call(func=ast.Attribute(attr="parametrize"), args=[names, *_], keywords=keywords):
            if any(keyword.arg == "indirect" for keyword in keywords):
                return set()
            strings = [each.value for each in ast.walk(names) if isinstance(each, ast.Constant)]
            return {name.strip() for each in strings for name in str(each).split(",")}
    return set()


class _ReferenceCollector(ast.NodeVisitor):
    """Collects the references of one statement."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.found = References()

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """Skip its annotation."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if node.name.startswith("test") or _is_fixture(node):
            arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            parametrized = set().union(*map(_parametrized_names, node.decorator_list))
            self.found.parameters.update({each.arg for each in arguments} - parametrized)
        for part in (*node.decorator_list, node.args, *node.body):
            self.visit(part)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.found.imports.setdefault(alias.name, set())

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.found.imports.setdefault(node.module or "", set()).update(alias.name for alias in node.names)

    def visit_Name(self, node: ast.Name) -> None:
        self.found.names.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.found.walks_packages |= node.attr == "walk_packages"
        if node.attr == "django_db":
            self.found.parameters.add("db")
        self.visit(node.value)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.found.modules.update(find_module_names(node.value))
            if node.value in PACKAGES:
                self.found.bare_packages.add(node.value)
            self.found.walks_packages |= "walk_packages" in node.value
            if _PATH_PATTERN.fullmatch(node.value):
                self.found.paths.add(node.value)
            elif node.value.endswith(".py") and "/" not in node.value:
                self.found.paths.add(f"./{node.value}")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        start = "".join(part for part in map(self._text, node.values[:2]) if part)
        if len(node.values) > 1 and start.endswith(".") and start.partition(".")[0] in PACKAGES:
            self.found.modules.add(start)
        self.generic_visit(node)

    def _text(self, part: ast.expr) -> str:
        match part:
            case ast.Constant(value=str(text)):
                return text
            case ast.FormattedValue(value=ast.Name(id="__name__")):
                return self.module
        return ""

    def visit_Tuple(self, node: ast.Tuple | ast.List) -> None:
        self._command(node.elts)
        self.generic_visit(node)

    visit_List = visit_Tuple

    def visit_Call(self, node: ast.Call) -> None:
        self._command(node.args)
        match node.func:
            case ast.Name(id=name) if any(keyword.arg == "storage_only" for keyword in node.keywords):
                self.found.storage_names.add(name)
                for part in (*node.args, *node.keywords):
                    self.visit(part)
                return
            case ast.Attribute(attr="usefixtures" | "getfixturevalue"):
                strings = [each.value for each in node.args if isinstance(each, ast.Constant)]
                self.found.parameters.update(each for each in strings if isinstance(each, str))
            case ast.Attribute(attr="glob" | "rglob", value=ast.Name(id=name)) if name.isupper():
                self.found.paths.update(
                    each.value for each in node.args if isinstance(each, ast.Constant) and isinstance(each.value, str)
                )
        self.generic_visit(node)

    def _command(self, words: list[ast.expr]) -> None:
        """A bare package name is a module's name only after `-m`."""
        for option, name in pairwise(words):
            match option, name:
                case ast.Constant(value="-m" | "-A" as run), ast.Constant(value=str(package)) if package in PACKAGES:
                    self.found.modules.add(f"{package}.{_RUN_OPTIONS[run]}")
                case ast.Constant(value="-m"), ast.Starred() | ast.Name():
                    self.found.runs_dynamic_module = True

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """`ROOT / "docs" / "web.md"` is a path, and so is an expression that begins with `Path(__file__)`."""
        if not isinstance(node.op, ast.Div):
            self.generic_visit(node)
            return
        parts: list[str] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Div):
            if isinstance(left.right, ast.Constant) and isinstance(left.right.value, str):
                parts = [left.right.value, *parts]
            else:
                parts = []
                self.visit(left.right)
            left = left.left
        from_constant = isinstance(left, ast.Name) and left.id.isupper()
        if parts and (from_constant or any(getattr(each, "id", "") == "__file__" for each in ast.walk(left))):
            self.found.paths.add("/".join(parts))
        self.visit(left)
