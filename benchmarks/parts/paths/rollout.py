"""One cycle of the toy flywheel, from attempts to a served revision: the files that its programs enter."""

from collections import defaultdict
from pathlib import Path
from typing import Any

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.operations.runtime.toy_flywheel import run_toy_flywheel
from benchmarks.parts.figures import print_progress
from benchmarks.parts.paths.records import counted, read_record, traced_environment


def measure(folder: Path) -> dict[str, Any]:
    """Of the programs that carry samples and revisions; the trainer's own work lies between folders."""
    out, console = folder / "records", Console()
    python = ensure_trainer(console)
    with traced_environment(out, always=True):
        run_toy_flywheel(folder / "flywheel", cycles=1, python=python, console=console)
    files: defaultdict[str, set[str]] = defaultdict(set)
    for file in out.glob("paths-*.json"):
        record = read_record(file)
        files[record.command] |= record.files
    for command, entered in sorted(files.items()):
        print_progress(f"{command}: {', '.join(counted(entered))}")
    return {"rollout_path_files": len(counted(set().union(*files.values())))}
