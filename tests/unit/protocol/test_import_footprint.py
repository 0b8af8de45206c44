"""The shared words are light: whoever imports them gets pydantic and the standard library, nothing else."""

import subprocess
import sys
from importlib.metadata import packages_distributions

from annotation_app.operations.runtime.stack import ROOT

LOCK = ROOT / "requirements.lock"
"""What the demo and images install, and nothing of the tests."""
LIGHT = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"}

SCRIPT = """
import importlib, pkgutil, sys
import {package}
for module in pkgutil.walk_packages({package}.__path__, "{package}."):
    importlib.import_module(module.name)
loaded = [name for name, module in sys.modules.items() if module and not name.startswith("_")]
print(*sorted({{name.partition(".")[0] for name in loaded}}))
"""


def _loaded_by(code: str) -> set[str]:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(run.stdout.split()) - set(sys.stdlib_module_names)


def test_the_vocabulary_loads_pydantic_and_nothing_else() -> None:
    before = _loaded_by("import sys; print(*{name.partition('.')[0] for name in sys.modules})")
    assert _loaded_by(SCRIPT.format(package="protocol")) - before <= LIGHT | {"protocol"}


def test_reading_folders_needs_no_torch() -> None:
    loaded = _loaded_by(
        "import sys, trainer.data.trajectories, trainer.data.inbox, trainer.data.samples; print(*sys.modules)"
    )
    assert not {name for name in loaded if name.partition(".")[0] in {"torch", "numpy", "django"}}


def test_programs_do_without_the_command_line_of_httpx() -> None:
    loaded = _loaded_by("import protocol.program_start, sys, httpx; print(*sys.modules)")
    assert "httpx" in loaded
    assert not loaded & {"rich", "pygments"}


BRIDGE = """
INSIDE = ("__main__", "evaluator_program", "task_interface")  # programs that are started apart
import importlib, pkgutil, sys
import vm_bridge.__main__, vm_bridge.hosts, vm_bridge.streams
for package in (vm_bridge.hosts, vm_bridge.streams):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        if not module.name.endswith(INSIDE):
            importlib.import_module(module.name)
print(*sorted({name.partition(".")[0] for name, module in sys.modules.items() if module}))
"""


def test_the_bridge_loads_only_what_an_installation_has() -> None:
    locked = {
        line.partition("==")[0].lower().replace("_", "-") for line in LOCK.read_text().splitlines() if "==" in line
    }
    distributions = packages_distributions()
    loaded = {name for name in _loaded_by(BRIDGE) if name in distributions} - {"_distutils_hack"}
    missing = {name for name in loaded if not {one.lower().replace("_", "-") for one in distributions[name]} & locked}
    assert not missing
