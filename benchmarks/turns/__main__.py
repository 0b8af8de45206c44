"""The wheel turned by simulated annotators at the desk, against demonstrations: `python -m benchmarks.turns OUT`.

Every arm of every seed has a platform of its own, all in OUT, so that seeds and arms may be turned by programs beside
each other; who follows the desk waits for it. The same command resumes an interrupted run: finished turns are only
read. The table, printed after every turn, is of all that is in OUT.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from agent_backend.simulated_annotator.annotator import AnnotationSummary
from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.operations.runtime.child_processes import child_process
from annotation_app.operations.runtime.model_server import serve_command, wait_until_serving
from annotation_app.operations.runtime.ports import free_port
from annotation_app.operations.runtime.stack import LOOPBACK, NANO_CHECKPOINT, ROOT
from annotation_app.operations.runtime.temporary_platform import TemporaryPlatform
from benchmarks.turns.expert_attempts import SIZE, copy_demonstrations, read_tried_pages, record_block, write_tasks
from benchmarks.turns.plan import ARMS, TASKS, TRIED, Arm, Cell, Figures, Ledger, Sizes, cells
from benchmarks.turns.platform_client import POLICY, PlatformClient, run_platform, sign_in
from benchmarks.turns.reports import compare_arms, render_table

AIM = 10
"""How near the expert's click a candidate is taken (pixels): lines of these small pages are twenty apart."""
POLL = 0.2
TIMEOUT_SECONDS = 7_200.0
"""Longest wait for a turn of the desk that another program turns (seconds)."""
LEARNING = {
    **{"shown": 1.0, "batch": 8, "spelled": 2, "warmup": 5, "bfloat16": True, "keep_every": 1_000},
    **{"muon_rate": 0.0015, "adam_rate": 0.00015, "tower": False},
}
"""Chosen beside the experiment, on pages of its own (docs/research/experiments/simulated-annotators.md)."""


@dataclass(frozen=True)
class Experiment:
    """Everything a turn needs."""

    out: Path
    start: Path
    python: Path
    sizes: Sizes
    ledger: Ledger

    def run_turn(self, platform: TemporaryPlatform, site: PlatformClient, cell: Cell) -> Figures:
        """A cell's figures, of a turn that is begun or gone on with."""
        server = self._address(cell) if cell.arm == "desk" else ""
        # Who follows has the block from the desk's turn, and may be another program.
        steps = None if cell.arm == "desk" else self._step_quota(cell)
        began = time.monotonic()
        block = record_block(self.out, cell, self.sizes)
        if steps is None:
            self._ready(site, cell, server)
            with self._serve_policy(site.weights(cell.wheel), server):
                done = self._annotate(platform, cell, block)
                folder = site.run_turn(cell.wheel, cell.turn)
            episodes, own, accepted = len(done), sum(one.labels for one in done), sum(one.accepted for one in done)
        else:
            shown, accepted = self.out / f"{cell.name}.shown", 0
            episodes, own = copy_demonstrations(block, shown, steps)
            platform.manage("import_trajectories", str(shown), "--pool", cell.wheel)
            self._ready(site, cell, server)
            folder = site.run_turn(cell.wheel, cell.turn)
        trials = folder / "trials"
        return Figures(
            cell=cell,
            episodes=episodes,
            own=own,
            accepted=accepted,
            before=read_tried_pages(trials / "active") if (trials / "active").exists() else None,
            after=read_tried_pages(trials / "candidate"),
            seconds=time.monotonic() - began,
        )

    def _ready(self, site: PlatformClient, cell: Cell, server: str) -> None:
        """An arm's pool and wheel."""
        site.pool(cell.wheel, start=self.start, server=server)
        site.wheel(cell.wheel, self._recipe(cell, server), self.out)

    def _step_quota(self, cell: Cell) -> int:
        """The steps that an arm without a policy is given: by hand as at the desk, or as many as were judged there.
        Waits for the desk's turn. Raises TimeoutError."""
        desk = cell.model_copy(update={"arm": "desk"})
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while (judged := self._reviewed_steps(desk)) is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{cell.name} follows {desk.name}, which does not come to its end")
            time.sleep(POLL)
        own, accepted = judged
        return own + (accepted if cell.arm == "paired" else 0)

    def _reviewed_steps(self, desk: Cell) -> tuple[int, int] | None:
        """Steps by hand and taken in a turn of the desk; None where there are more to come."""
        if (known := self.ledger.known(desk)) is not None:
            return known.own, known.accepted
        told = _read_progress(self.out / f"{desk.name}.annotated.jsonl")
        own = sum(one.labels for one in told)
        return (own, sum(one.accepted for one in told)) if own >= self.sizes.labels else None

    def _annotate(self, platform: TemporaryPlatform, cell: Cell, block: Path) -> list[AnnotationSummary]:
        """What a simulated annotator did: so many steps by hand, or all tasks of the block."""
        log = self.out / f"{cell.name}.annotated.jsonl"
        platform.manage("load_tasks", cell.wheel, str(write_tasks(block, self.out / f"{cell.name}.tasks.jsonl")))
        left = self.sizes.labels - sum(one.labels for one in _read_progress(log))
        if left > 0:
            words = ["--web", platform.url, "--bridge", platform.environment["PILOTHOUSE_BRIDGE_URL"]]
            words += ["--user", "annotator", "--pool", cell.wheel, "--labels", str(left), "--aim", str(AIM)]
            environment = {**os.environ, **platform.environment, "PILOTHOUSE_PASSWORD": "annotator-demo"}
            with log.open("ab") as lines:
                command = [sys.executable, "-m", "agent_backend.simulated_annotator", *words]
                subprocess.run(command, cwd=ROOT, env=environment, stdout=lines, check=True)
        return _read_progress(log)

    def _address(self, cell: Cell) -> str:
        """Where the desk's policy is served: the same after a restart, since revisions name it."""
        kept = self.out / f"{cell.wheel}.port"
        if not kept.exists():
            kept.write_text(str(free_port()))
        return f"http://{LOOPBACK}:{kept.read_text()}"

    @contextmanager
    def _serve_policy(self, weights: Path, address: str) -> Iterator[None]:
        port = int(address.rsplit(":", 1)[1])
        command = serve_command(self.python, weights, name=POLICY, port=port, more=("--dev", "--threads", "1"))
        environment = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        with (
            (self.out / "served.log").open("ab") as log,
            child_process(command, environment=environment, stdout=log, stderr=log) as process,
        ):
            wait_until_serving(process, port)
            yield

    def _recipe(self, cell: Cell, server: str) -> dict[str, Any]:
        updates = self.sizes.updates
        learning = {**LEARNING, "settle": updates * 7 // 8, "seed": cell.seed}
        return {
            "policy": POLICY,
            "start": str(self.start),
            "server": server,
            "sft": {
                "by": "nano",
                "updates": updates,
                "shares": {"fresh": 0.5, "earlier": 0.5, "general": 0},
                "settings": learning,
            },
            "trials": {
                **{"world": "bridge", "suite": "miniwob", "tasks": TASKS, "size": SIZE, "temperature": 0.0},
                **{"first_seed": TRIED, "seeds": self.sizes.trials, "parallel": 3},
            },
        }


def _read_progress(log: Path) -> list[AnnotationSummary]:
    """What an annotator has said of its episodes."""
    if not log.exists():
        return []
    return [
        AnnotationSummary.model_validate_json(line) for line in log.read_text().splitlines() if line.startswith("{")
    ]


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.turns", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="everything of it; given again, it goes on")
    parser.add_argument(
        "--start", type=Path, default=NANO_CHECKPOINT, help="the policy all begin with; default: the bundled one"
    )
    parser.add_argument("--seed", type=int, action="append", help="may be given again; default: 0, 1 and 2")
    parser.add_argument("--arm", choices=ARMS, action="append", help="may be given again; default: all")
    for name, field in Sizes.model_fields.items():
        parser.add_argument(f"--{name}", type=int, default=field.default, help="default: %(default)s")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Turn what is not turned yet, and print the table."""
    arguments = parse_arguments(argv)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that what was begun is ended
    seeds, arms = arguments.seed or [0, 1, 2], list[Arm](arguments.arm or ARMS)
    sizes = Sizes(**{name: getattr(arguments, name) for name in Sizes.model_fields})
    out = arguments.out.absolute()
    ledger, python = Ledger(out, sizes), ensure_trainer(Console())
    experiment = Experiment(out, arguments.start.absolute(), python, sizes, ledger)
    os.environ.setdefault("PILOTHOUSE_WARM_POOL", json.dumps({"browser": 3}))
    for (seed, arm), together in groupby(cells(sizes, seeds, arms), key=lambda cell: (cell.seed, cell.arm)):
        left = [cell for cell in together if ledger.known(cell) is None]
        if left:
            with run_platform(out / f"platform-{arm}-{seed}") as platform, sign_in(platform) as site:
                for cell in left:
                    ledger.keep(experiment.run_turn(platform, site, cell))
                    print(f"{cell.name}\n{render_table(ledger.all())}", file=sys.stderr, flush=True)
    print(f"{render_table(ledger.all())}\n\n{compare_arms(ledger.all())}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
