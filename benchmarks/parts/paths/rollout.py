"""One cycle of the toy flywheel, from attempts to a served revision: the files that its programs enter."""

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.operations.runtime.toy_flywheel import run_toy_flywheel
from benchmarks.parts.figures import print_progress
from benchmarks.parts.paths.records import counted, read_record, traced_environment
from benchmarks.parts.paths.tracer.sitecustomize import CYCLE_COMMAND

BESIDE_A_CYCLE = ("manage.py", "annotation_app.operations")
"""Programs that only make ready what a cycle needs."""


def measure(folder: Path) -> dict[str, Any]:
    """Of the command that runs the cycle and of the programs it starts, by the part of the project as well."""
    out, console = folder / "records", Console()
    python = ensure_trainer(console)
    with traced_environment(out, always=True):
        run_toy_flywheel(folder / "flywheel", cycles=1, python=python, console=console)
    files: defaultdict[str, set[str]] = defaultdict(set)
    for file in out.glob("paths-*.json"):
        record = read_record(file)
        if CYCLE_COMMAND in record.command or not any(word in record.command for word in BESIDE_A_CYCLE):
            files[record.command] |= record.files
    for command, entered in sorted(files.items()):
        print_progress(f"{command}: {', '.join(counted(entered))}")
    everything = counted(set().union(*files.values()))
    if not any(file.startswith("annotation_app/flywheel/") for file in everything):
        raise RuntimeError(f"the tracer did not see the cycle: {sorted(files)}")
    parts = Counter(file.partition("/")[0] for file in everything)
    return {"rollout_path_files": len(everything), "rollout_path_files_by_part": dict(parts.most_common())}
