"""The shape of the source tree: import cycles, exceptions in import contracts, sizes of packages and files."""

import configparser
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

PRODUCT = ("protocol", "agent_backend", "task_factory", "vm_bridge", "annotation_app", "trainer", "recorder")
ROOTS = (*PRODUCT, "benchmarks", "tests")
FRONTEND = ("frontend/src",)


def import_cycles() -> list[list[str]]:
    """Circles of modules that import each other, one for each import that would have to go.

    Imports within functions and under `TYPE_CHECKING` count.
    """
    graph = grimp.build_graph(*ROOTS, exclude_type_checking_imports=False)
    imports = {module: set(graph.find_modules_directly_imported_by(module)) for module in sorted(graph.modules)}
    cycles: list[list[str]] = []
    while True:
        try:
            TopologicalSorter(imports).prepare()
        except CycleError as error:
            circle: list[str] = error.args[1]  # each is imported by the next; the first is also the last
            cycles.append(circle[:-1])
            imports[circle[1]].discard(circle[0])
        else:
            return cycles


def contract_exceptions(root: Path) -> int:
    """How many imports the contracts in `.importlinter` leave out."""
    parser = configparser.ConfigParser()
    parser.read(root / ".importlinter")
    return sum(len(parser[section].get("ignore_imports", "").split("\n")[1:]) for section in parser.sections())


def python_files(root: Path, tops: tuple[str, ...] = ROOTS) -> list[Path]:
    """Python files of the project without migrations, sorted."""
    files = (file for top in tops for file in (root / top).rglob("*.py"))
    return sorted(file for file in files if "migrations" not in file.parts)


def typescript_files(root: Path) -> list[Path]:
    """TypeScript files that people write, sorted."""
    files = (file for top in FRONTEND for file in (root / top).rglob("*.ts*"))
    return sorted(file for file in files if "generated" not in file.parts)


def line_counts(root: Path) -> dict[str, int]:
    """Lines of each file by its path from the root; empty `__init__.py` files are left out."""
    files = [*python_files(root), *typescript_files(root)]
    counts = {file.relative_to(root).as_posix(): len(file.read_text().splitlines()) for file in files}
    return {path: count for path, count in counts.items() if count}


def product_files(root: Path) -> set[str]:
    """Paths of product modules: no tests, no benchmarks, no `__init__.py`, no migrations."""
    files = [file for file in python_files(root, PRODUCT) if file.name != "__init__.py"]
    files += [file for file in typescript_files(root) if ".test." not in file.name]
    return {file.relative_to(root).as_posix() for file in files}


def large_packages(root: Path, limit: int) -> dict[str, int]:
    """Folders that hold more than `limit` source files themselves, with their counts."""
    counts: Counter[str] = Counter()
    for file in (*python_files(root), *typescript_files(root)):
        if file.name != "__init__.py":
            counts[file.parent.relative_to(root).as_posix()] += 1
    return {folder: count for folder, count in sorted(counts.items()) if count > limit}
