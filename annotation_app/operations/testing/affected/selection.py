"""From changed files to the tests that they can affect: a search of the dependency graph, without I/O."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import NamedTuple

END_TO_END = "tests/e2e"
STAGES = (("tests/unit", "tests/contract"), ("tests/trainer",), ("tests/integration",), (END_TO_END,))
"""Folders of tests, in the order in which they run."""
FRONTEND = "frontend"
DOCUMENT_PATTERNS = ("*.md", "LICENSE", "NOTICE", ".env.example", ".gitignore", ".dockerignore", ".importlinter")
"""Files at the root that affect only the tests that name them. Every other one affects all tests."""


class Node(NamedTuple):
    """A module or a part of it, or a path that tests name."""

    name: str
    """A dotted name; for a path, the path from the root, which may have `fnmatch` wildcards."""
    part: str = ""
    """Empty: the module, and its functions are called. `LOADED`: it is imported, and only its constants are used.
    `PATH`: it is not a module. Otherwise the name of a fixture in a `conftest`."""


LOADED = "(loaded)"
PATH = "(path)"


@dataclass(frozen=True, slots=True)
class Project:
    """Python modules, their dependencies, and test files."""

    modules: Mapping[str, str]
    """Dotted name of each Python file, by path."""
    tests: Collection[str]
    """Paths of the test files for pytest. Each is a key of `modules`."""
    dependencies: Mapping[Node, Collection[Node]]


@dataclass(frozen=True, slots=True)
class AffectedTest:
    """A test file and why it is affected."""

    path: str
    chain: tuple[str, ...]
    """The shortest path from the test file, through its dependencies, to a change."""

    @property
    def stage(self) -> int:
        """Index into `STAGES`."""
        return next(
            number for number, folders in enumerate(STAGES) if any(_is_below(self.path, folder) for folder in folders)
        )


def affected_tests(changed: Iterable[str], project: Project) -> list[AffectedTest]:
    """Test files that depend on a changed file, by path.

    Args:
        changed: Paths from the root. One that no longer exists counts by the modules that still import its name.
        project: The tree as it is now.
    """
    whole, nodes = _changed_nodes(sorted(changed), project)
    if whole:
        return [AffectedTest(path, (path, whole)) for path in sorted(project.tests)]
    next_node = _next_hops(nodes, project.dependencies)
    found = []
    for path in sorted(project.tests):
        node = Node(project.modules[path])
        if node in next_node:
            found.append(AffectedTest(path, _chain(path, node, nodes, next_node)))
    return found


def sort_by_run_order(tests: Iterable[AffectedTest], failed: Collection[str]) -> list[AffectedTest]:
    """Order by stage. Within each, files with a test that failed last time come first, then those nearest to the
    change."""
    return sorted(tests, key=lambda test: (test.stage, test.path not in failed, len(test.chain), test.path))


def affects_python(path: str) -> bool:
    """Whether a file can change the results of Python formatting, type or import checks."""
    return path.endswith(".py") or path in {
        "pyproject.toml",
        ".importlinter",
        "requirements.txt",
        "requirements-dev.txt",
        "requirements.lock",
        "requirements-dev.lock",
    }


def affects_frontend(path: str) -> bool:
    """Whether the front-end's own tests can read a file."""
    return _is_below(path, FRONTEND) or _is_below(path, "tests/fixtures")


def _changed_nodes(changed: Iterable[str], project: Project) -> tuple[str, dict[Node, str]]:
    """The nodes of each changed file, and the file; or one file that affects every test."""
    known = _all_nodes(project.dependencies)
    packages = {str(PurePosixPath(path).parent): name for path, name in project.modules.items() if _is_package(path)}
    found: dict[Node, str] = {}
    for path in changed:
        named = [node for node in known if node.part == PATH and matches_path(node.name, path)]
        package = next((packages[str(each)] for each in PurePosixPath(path).parents if str(each) in packages), None)
        if package is not None or path in project.modules:
            module = _module_of_file(path, project, packages)
            named += [
                node
                for node in known
                if node.part != PATH and (node.name == module if module else _is_in_package(node.name, package or ""))
            ]
        elif _is_below(path, FRONTEND):
            named += [Node(project.modules[test]) for test in project.tests if _is_below(test, END_TO_END)]
        elif not _is_document(path) and ("/" not in path or not named):
            return path, {}
        found.update({node: path for node in named if node not in found})
    return "", found


def _next_hops(changed: Iterable[Node], dependencies: Mapping[Node, Collection[Node]]) -> dict[Node, Node]:
    """For each node that depends on a changed one, the next node on a shortest path to it. A changed node maps to
    itself."""
    dependents: dict[Node, list[Node]] = {}
    for node, needed in dependencies.items():
        for each in needed:
            dependents.setdefault(each, []).append(node)
    found = {node: node for node in changed}
    reached = sorted(found)
    while reached:
        further = []
        for node in reached:
            for dependent in sorted(dependents.get(node, ())):
                if dependent not in found:
                    found[dependent] = node
                    further.append(dependent)
        reached = further
    return found


def _chain(path: str, node: Node, changed: Mapping[Node, str], next_node: Mapping[Node, Node]) -> tuple[str, ...]:
    labels = [path]
    while node not in changed:
        node = next_node[node]
        label = f"{node.name}:{node.part}" if node.part not in {"", LOADED, PATH} else node.name
        if label != labels[-1]:
            labels.append(label)
    if changed[node] not in {*labels, ""}:
        labels[len(labels) - (len(labels) > 1) :] = [changed[node]]
    return tuple(labels)


def _module_of_file(path: str, project: Project, packages: Collection[str]) -> str:
    """The module that a file is or was; empty for a data file, a script outside the packages, or a removed conftest."""
    if path in project.modules:
        return project.modules[path]
    file = PurePosixPath(path)
    removed = file.suffix == ".py" and str(file.parent) in packages and file.name != "conftest.py"
    return module_name(path) if removed else ""


def module_name(path: str) -> str:
    """The dotted name of a Python file, from its path."""
    name = path.removesuffix(".py").replace("/", ".")
    return name.removesuffix(".__init__")


def _all_nodes(dependencies: Mapping[Node, Collection[Node]]) -> set[Node]:
    return {*dependencies, *(node for needed in dependencies.values() for node in needed)}


def _is_package(path: str) -> bool:
    return PurePosixPath(path).name == "__init__.py"


def _is_document(path: str) -> bool:
    """A file at the root or in the documents' folder that affects only tests that name it."""
    return _is_below(path, "docs") or ("/" not in path and any(fnmatchcase(path, each) for each in DOCUMENT_PATTERNS))


def matches_path(named: str, path: str) -> bool:
    """Whether a path or pattern that a test names matches a file or a folder above it."""
    return _is_below(path, named) or ("*" in named and fnmatchcase(path, named.replace("**/", "*")))


def _is_in_package(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")
