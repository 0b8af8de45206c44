"""Published benchmarks as task sources: `./pilothouse bench benchmarks`.

Each adapter plays small tasks of our own in its benchmark's form, on real machines: by an oracle, by one that does
nothing, by exploits, and through outages. The last line is one JSON object;
docs/guides/researcher/benchmark-tasks.md says what its keys mean.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.extra_environments import ensure_osworld
from annotation_app.operations.install.setup import SETUP_LOG
from annotation_app.operations.install.system_packages import APPLICATION_PACKAGES, ensure_system_packages
from benchmarks.parts.applications.measurements import measure_applications
from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.kubernetes.contract import kubernetes_contract
from benchmarks.parts.published.adapters import (
    browse_comp,
    lmgame_bench,
    online_mind2web,
    osworld,
    swe_bench,
    terminal_bench,
    windows_agent_arena,
)
from benchmarks.parts.published.grader_replies import GRADER_REPLIES, grader_replies_right, reference_reading_right
from benchmarks.parts.published.phones import android_world
from benchmarks.parts.published.program_tasks import osworld_programs
from benchmarks.parts.published.roles import RuleOfFour
from benchmarks.parts.published.sealed_attempts import sealed_texts_found
from benchmarks.parts.windows.contract import windows_contract
from vm_bridge.errors import NoMachine

Adapter = Callable[[Path], Awaitable[RuleOfFour]]
ADAPTERS: Sequence[Adapter] = (
    browse_comp,
    partial(browse_comp, chinese=True),
    terminal_bench,
    swe_bench,
    online_mind2web,
    lmgame_bench,
    android_world,
    windows_agent_arena,
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench benchmarks")
    parser.add_argument("--tasks", type=Path, help="a folder of OSWorld's task files, for `osworld_table` (our own)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        return print_figures("benchmarks", asyncio.run(measure(Path(folder), given.tasks)))


async def measure(scratch: Path, tasks: Path | None = None) -> dict[str, Any]:
    """Every figure; `tasks` is a folder of OSWorld's task files for the table."""
    rules: list[RuleOfFour] = []
    for number, adapter in enumerate([*ADAPTERS, *osworld_adapter()]):
        folder = scratch / str(number)
        folder.mkdir()
        rules.append(await adapter(folder))
        print_progress(rules[-1].describe())
    (scratch / "sealed").mkdir()
    return {
        **rule_figures(rules),
        "grader_replies": len(GRADER_REPLIES),
        "grader_replies_right": grader_replies_right(),
        "grader_replies_right_by_reference": reference_reading_right(),
        "sealed_texts_found": await sealed_texts_found(scratch / "sealed"),
        **await application_figures(scratch / "applications", tasks),
        **await asyncio.to_thread(kubernetes_contract, scratch),
        **await asyncio.to_thread(windows_contract, scratch),
    }


async def application_figures(scratch: Path, tasks: Path | None) -> dict[str, Any]:
    """Those of desktops with applications, which are installed for it; none where that fails."""
    console = Console()
    try:
        python = ensure_osworld(console)
        ensure_system_packages(console, SETUP_LOG, APPLICATION_PACKAGES)
        return await measure_applications(scratch, python, tasks)
    except (OperationsError, NoMachine) as error:
        print_progress(f"desktops with applications are left out: {error}")
        return {}


def osworld_adapter() -> Sequence[Adapter]:
    """Those that need OSWorld's package, which is installed for them; none where that fails."""
    try:
        python = ensure_osworld(Console())
        return (partial(osworld, python=python), partial(osworld_programs, python=python))
    except OperationsError as error:
        print_progress(f"osworld is left out: {error}")
        return ()


def rule_figures(rules: Sequence[RuleOfFour]) -> dict[str, Any]:
    """The counts over all adapters, and the name of each with where its solutions are from."""
    return {
        "benchmarks": len(rules),
        "benchmark_names": [rule.name for rule in rules],
        "oracle_sources": {rule.name: rule.oracle_source for rule in rules},
        "oracle_pass": sum(rule.oracle_passes for rule in rules),
        "noop_fail": sum(rule.noop_fails for rule in rules),
        "exploit_fail": sum(rule.exploits_fail for rule in rules),
        "exploits": sum(len(rule.exploits) for rule in rules),
        "infrastructure_apart": sum(rule.infrastructure_apart for rule in rules),
        "outages": sum(len(rule.outages) for rule in rules),
    }


if __name__ == "__main__":
    sys.exit(main())
