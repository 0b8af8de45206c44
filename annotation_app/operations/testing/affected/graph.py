"""The dependency graph of this repository: grimp's import graph, and dependencies that imports do not show.

In addition to its imports, a module depends on

* the packages that contain it, whose `__init__` runs first;
* modules that its strings name, such as a patched attribute, an installed Django app, or `python -m vm_bridge`;
* for tests: the `conftest` files above it, the fixtures that it requests, the paths in the repository that it names,
  and all of the Django project if it uses Django.

Two levels of dependency keep one helper from connecting everything. If functions of a module are used, all its
strings count. If only constants are used, only the strings outside its functions and classes count.
"""

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from annotation_app.operations.testing.affected.selection import (
    LOADED,
    PATH,
    STAGES,
    Node,
    Project,
    matches_path,
    module_name,
)
from annotation_app.operations.testing.affected.source import (
    MODULE_LEVEL,
    PACKAGES,
    References,
    Source,
    find_module_names,
    read_source,
)

SETTINGS = Node("annotation_app.settings.test")
"""Names all apps, middleware and URLs."""
DJANGO = frozenset({"django", "channels", "ninja", "celery", "pytest_django"})
DJANGO_FIXTURES = frozenset(
    {"db", "transactional_db", "client", "async_client", "admin_client", "admin_user", "rf", "async_rf", "live_server"}
    | {"settings", "mailoutbox", "django_user_model", "django_db_setup", "django_assert_num_queries"}
    | {"django_capture_on_commit_callbacks", "django_db_blocker", "django_db_serialized_rollback"}
)
DATABASE_FIXTURES = frozenset({"django_db_setup", "django_db_modify_db_settings", "django_db_keepdb"})
"""Fixtures of pytest-django that `tests/conftest.py` overrides. They set up every database."""
DOCKER = "docker"
MAX_DATA_BYTES = 200_000
NON_DATA_SUFFIXES = frozenset({".py", ".pyc", ".md", ".safetensors", ".pt", ".png", ".svg"})
TRAINER_TESTS = "tests.trainer"
"""These run in the trainer's environment, and see no `conftest` above their own."""


def build_project(root: Path, removed: Iterable[str] = ()) -> Project:
    """Read the tree below `root`. Takes seconds: every Python file is parsed.

    Args:
        root: The repository. Its packages must be importable.
        removed: Python files that no longer exist. Modules that still import them depend on their old names.
    """
    paths = [str(path.relative_to(root)) for package in PACKAGES for path in sorted((root / package).rglob("*.py"))]
    imports = _imports(root)
    modules = {path: module_name(path) for path in paths if module_name(path) in imports}
    packages = {name for path, name in modules.items() if Path(path).name == "__init__.py"}
    sources = {
        name: read_source((root / path).read_text(), name, package=name in packages) for path, name in modules.items()
    }
    removed_modules = {module_name(path) for path in removed if path.endswith(".py")} - set(sources)
    tests = frozenset(
        path
        for path in modules
        if Path(path).name.startswith("test_") and path.startswith(tuple(f"{each}/" for one in STAGES for each in one))
    )
    dependencies = Dependencies(sources, imports, packages, removed_modules)
    dependencies.add_data(_data_files(root))
    return Project(modules, tests, dependencies.found)


def _data_files(root: Path) -> Iterator[tuple[str, set[str]]]:
    """Files other than Python that name modules, such as the programs of an image: paths, and dotted names."""
    for folder in (*PACKAGES, DOCKER):
        for path in (root / folder).rglob("*"):
            if path.suffix in NON_DATA_SUFFIXES or not path.is_file() or path.stat().st_size > MAX_DATA_BYTES:
                continue
            if named := find_module_names(path.read_text(errors="ignore")):
                yield str(path.relative_to(root)), named


def _imports(root: Path) -> dict[str, set[str]]:
    """Modules that each module imports, anywhere in it, except for type checking only."""
    import grimp  # a development tool: not installed when `./pilothouse demo` starts

    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


class Dependencies:
    """Combines imports and references into the edges of a graph, in `found`."""

    def __init__(
        self,
        sources: Mapping[str, Source],
        imports: Mapping[str, set[str]],
        packages: Collection[str],
        removed_modules: set[str],
    ) -> None:
        self.sources, self.imports, self.packages, self.removed_modules = sources, imports, packages, removed_modules
        self.known = {*sources, *removed_modules}
        """Existing modules and removed ones."""
        self.found: dict[Node, set[Node]] = {}
        for name in sources:
            self._add_module(name)
            if name.startswith("tests."):
                self._add_conftest(name) if _is_conftest(name) else self._add_test(name)

    def add_data(self, files: Iterable[tuple[str, Collection[str]]]) -> None:
        """Add the modules that data files name. All modules of a file's package depend on them. For a file outside
        packages, those that name the file do."""
        for path, dotted in files:
            named = {node for each in dotted for node in self._modules_at(each)}
            package = next((each for each in reversed(_parents(path.replace("/", "."))) if each in self.packages), None)
            for node, edges in self.found.items():
                if package and node.part == "" and f"{node.name}.".startswith(f"{package}."):
                    edges.update(named)
            for node in [] if package else self._paths_to(path):
                self._edges(node).update(named)

    def _paths_to(self, path: str) -> list[Node]:
        every = {node for edges in self.found.values() for node in edges if node.part == PATH}
        return [node for node in every if matches_path(node.name, path)]

    def _add_module(self, name: str) -> None:
        source, everything = self.sources[name], self.sources[name].everything
        used, loaded = self._edges(Node(name)), self._edges(Node(name, LOADED))
        used.add(Node(name, LOADED))
        loaded.update(Node(package, LOADED) for package in _parents(name) if package in self.sources)
        for imported in self.imports[name]:
            used.add(self._imported_node(imported, everything.imports.get(imported, ())))
            if not _is_conftest(name):
                loaded.add(Node(imported, LOADED))
        for module in {
            *everything.imports,
            *(f"{one}.{name}" for one, two in everything.imports.items() for name in two),
        }:
            if module in self.removed_modules:
                used.add(Node(module))
        used.update(self._named_nodes(everything, name))
        outside = (references for part, references in source.definitions.items() if not self._is_called(source, part))
        for references in outside:
            loaded.update(self._named_nodes(references, name))

    def _is_called(self, source: Source, part: str) -> bool:
        return part != MODULE_LEVEL and part not in source.constants and part not in source.imported

    def _imported_node(self, module: str, names: Collection[str]) -> Node:
        """The node of a module from which these names are imported."""
        constants = bool(names) and module in self.sources and self.sources[module].constants.issuperset(names)
        return Node(module, LOADED if constants else "")

    def _named_nodes(self, references: References, name: str) -> Iterator[Node]:
        """Nodes named in strings of a module. Only tests depend on tests, as in the import rules."""
        is_test = name.startswith("tests.")
        yield from (
            node for node in self._all_named_nodes(references, name) if is_test or not node.name.startswith("tests.")
        )

    def _all_named_nodes(self, references: References, name: str) -> Iterator[Node]:
        walks = references.walks_packages and name.startswith("tests.")
        walked = {f"{each}." for each in references.bare_packages} if walks else set[str]()
        run = (
            {f"{each}.__main__" for each in references.bare_packages} if self._runs_dynamic_module(name) else set[str]()
        )
        for dotted in references.modules | walked | run:
            if dotted.endswith("."):
                yield from (Node(each) for each in self.known if each.startswith(dotted))
            else:
                yield from self._modules_at(dotted)
        folder = name if name in self.packages else name.rpartition(".")[0]
        for path in references.paths:
            if path.startswith("./"):
                beside = f"{folder}.{module_name(path[2:])}"
                yield from [Node(beside)] if beside in self.sources else []
            elif name.startswith("tests."):
                yield Node(path, PATH)
                dotted = module_name(path)
                yield from (Node(each) for each in self.sources if f"{each}.".startswith(f"{dotted}."))

    def _runs_dynamic_module(self, name: str) -> bool:
        return any(references.runs_dynamic_module for references in self.sources[name].definitions.values())

    def _modules_at(self, dotted: str) -> Iterator[Node]:
        """The modules at the start of a dotted name. A package is run by its `__main__`, or represents all of it."""
        while dotted not in self.sources and dotted not in self.removed_modules and "." in dotted:
            dotted = dotted.rpartition(".")[0]
            if dotted in PACKAGES:
                return
        yield Node(dotted)
        if f"{dotted}.__main__" in self.sources:
            yield Node(f"{dotted}.__main__")
        elif dotted in self.packages:
            yield from (Node(each) for each in self.sources if each.startswith(f"{dotted}."))

    def _add_conftest(self, name: str) -> None:
        """Add a node for each definition. Its imports count for the tests that request a fixture which uses them."""
        source = self.sources[name]
        for part, references in source.definitions.items():
            edges = self._edges(Node(name, part or LOADED))
            if part in source.automatic:
                self._edges(Node(name, LOADED)).add(Node(name, part))
            edges.update(self._used_nodes(name, references))
        for part in source.imported:
            self._edges(Node(name, part)).update(self._bound_nodes(name, part))

    def _used_nodes(self, name: str, references: References) -> Iterator[Node]:
        """What a definition of a conftest uses."""
        source = self.sources[name]
        yield from self._named_nodes(references, name)
        for used in references.names:
            yield from [Node(name, used)] if used in {*source.definitions, *source.imported} else []
        for used in references.storage_names:
            yield from (Node(each.name, LOADED) for each in self._bound_nodes(name, used))
        if references.names or references.parameters:  # imports at the top level are followed by name
            for module, names in references.imports.items():
                yield from self._import(module, names)

    def _bound_nodes(self, name: str, bound: str) -> Iterator[Node]:
        module, imported_name = self.sources[name].imported.get(bound, ("", ""))
        yield from self._import(module, {imported_name} if imported_name else set())

    def _import(self, module: str, names: set[str]) -> Iterator[Node]:
        if module.partition(".")[0] in DJANGO:
            yield SETTINGS
        for imported_name in names:
            if f"{module}.{imported_name}" in self.known:
                yield Node(f"{module}.{imported_name}")
            elif module in self.known:
                yield self._imported_node(module, {imported_name})
        if not names and module in self.known:
            yield Node(module)

    def _add_test(self, name: str) -> None:
        source, edges = self.sources[name], self._edges(Node(name))
        everything = source.everything
        if any(module.partition(".")[0] in DJANGO for module in everything.imports):
            edges.add(SETTINGS)
        if not name.rpartition(".")[2].startswith("test_"):
            return
        conftests = [f"{package}.conftest" for package in _parents(name) if f"{package}.conftest" in self.sources]
        if name.startswith(f"{TRAINER_TESTS}."):
            conftests = [each for each in conftests if each.startswith(f"{TRAINER_TESTS}.")]
        edges.update(Node(conftest, LOADED) for conftest in conftests)
        edges.update(self._requested_fixtures(name, everything.parameters, conftests))

    def _requested_fixtures(self, name: str, parameters: Iterable[str], conftests: Collection[str]) -> Iterator[Node]:
        """The fixtures that a test file requests, including those requested by fixtures."""
        pending, seen = set(parameters), set[str]()
        for helper in self.imports[name]:
            if helper.startswith("tests.") and helper in self.sources:
                pending |= self._parameters(helper, self.sources[helper].fixtures)
        for conftest in conftests:
            pending |= self._parameters(conftest, self.sources[conftest].automatic)
        while pending:
            fixture = pending.pop()
            seen.add(fixture)
            found = fixture in self.sources[name].fixtures
            for conftest in conftests:
                origin, origin_name = self._fixture_origin(conftest, fixture)
                if origin_name:
                    found = True
                    yield Node(conftest, fixture)
                    pending |= self._parameters(origin, {origin_name}) - seen
            if fixture in DJANGO_FIXTURES and (not found or fixture.startswith("django_")):
                yield SETTINGS
                pending |= DATABASE_FIXTURES - seen

    def _fixture_origin(self, module: str, name: str) -> tuple[str, str]:
        """Where a name of a conftest is defined. `world = fixtures.world` and imported names are followed."""
        source = self.sources.get(module)
        while source and name not in source.fixtures:
            if name in source.imported:
                module, name = source.imported[name]
            elif name in source.definitions:
                through = [each for each in source.definitions[name].names if each in source.imported]
                if not through:
                    return module, name
                module = ".".join(filter(None, source.imported[through[0]]))
            else:
                return "", ""
            source = self.sources.get(module)
        return (module, name) if source else ("", name)

    def _parameters(self, module: str, definitions: Collection[str]) -> set[str]:
        source = self.sources.get(module)
        if source is None:
            return set()
        return {
            each for name in definitions if name in source.definitions for each in source.definitions[name].parameters
        }

    def _edges(self, node: Node) -> set[Node]:
        return self.found.setdefault(node, set())


def _parents(name: str) -> list[str]:
    """The packages that contain a module, outermost first."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _is_conftest(name: str) -> bool:
    return name.rpartition(".")[2] == "conftest"
