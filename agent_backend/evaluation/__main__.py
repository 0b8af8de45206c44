"""Evaluates a policy's attempts in folders, as a table and as JSON.

    python -m agent_backend.evaluation rollouts/s2 --against rollouts/s1 --out report.json
    python -m agent_backend.evaluation rollouts/s3 --against rollouts/s2 --gate --suite games --seeds 8 --bridge …

Several folders of one policy are read as one. If a suite is given, a missing folder is rolled out first.
"""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from agent_backend.errors import AgentError
from agent_backend.evaluation.judgements import add_judgement_options, read_judge_outcomes
from agent_backend.evaluation.report import evaluate_folders, passes_gate, write_records
from agent_backend.evaluation.report_table import render_table
from agent_backend.evaluation.results import read_baselines
from agent_backend.rollout.__main__ import roll_out
from agent_backend.rollout.options import add_options, check_options
from agent_backend.trajectory_folders import write_atomically
from vm_bridge.errors import BridgeError


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m agent_backend.evaluation", description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="trajectories of the policy")
    parser.add_argument("--against", type=Path, nargs="+", metavar="FOLDER", help="those of the one before it")
    parser.add_argument("--references", type=Path, help="SUITE/NAME/manifest.json below it have reference scores")
    parser.add_argument("--people", type=Path, nargs="+", metavar="FOLDER", help="people's trajectories: their 100")
    parser.add_argument("--records", type=Path, metavar="FILE", help="where the record of every attempt is written")
    parser.add_argument("--out", type=Path, help="the report as JSON")
    add_judgement_options(parser)
    add_options(parser)
    parser.add_argument("--gate", action="store_true", help="exit with 2 where the policy does not hold up against it")
    arguments = parser.parse_args(argv)
    if arguments.gate and not arguments.against:
        parser.error("--gate needs --against")
    if arguments.suite or arguments.tasks:
        check_options(parser, arguments)
        if len(arguments.folders) != 1:
            parser.error("attempts are made into one folder")
    return arguments


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table and write the report. Returns 1 if nothing could be evaluated, 2 if the gate fails."""
    arguments = parse_arguments(argv)
    try:
        if (arguments.suite or arguments.tasks) and not arguments.folders[0].exists():
            asyncio.run(roll_out(arguments, arguments.folders[0]))
        judge_outcomes = read_judge_outcomes(arguments.judgements, arguments.threshold)
        if arguments.records is not None:
            write_records(arguments.records, arguments.folders)
        evaluation = evaluate_folders(
            arguments.folders,
            against=arguments.against or (),
            judge_outcomes=judge_outcomes,
            baselines=read_baselines(arguments.references, arguments.people),
        )
    except (AgentError, BridgeError) as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    if arguments.out is not None:
        write_atomically(arguments.out, evaluation.model_dump_json(indent=1).encode() + b"\n")
    print(render_table(evaluation))
    return 2 if arguments.gate and evaluation.comparison and not passes_gate(evaluation.comparison) else 0


if __name__ == "__main__":
    sys.exit(main())
