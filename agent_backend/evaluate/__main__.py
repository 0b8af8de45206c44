"""What a policy's attempts in folders come to, as a table and as JSON.

    python -m agent_backend.evaluate rollouts/s2 --against rollouts/s1 --out report.json
    python -m agent_backend.evaluate rollouts/s3 --against rollouts/s2 --gate --suite games --seeds 8 --bridge …

Several folders of one policy are read as one. One that is not there yet is rolled out first, where a suite is given.
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from agent_backend.errors import AgentError
from agent_backend.evaluate.attempts import Attempts, attempts_of
from agent_backend.evaluate.comparison import compare, holds_up
from agent_backend.evaluate.judgements import beliefs_read, judgements_add
from agent_backend.evaluate.results import References, references_read, suite_results, task_results
from agent_backend.evaluate.table import table_of
from agent_backend.folders import trajectories_read, whole_write
from agent_backend.rollout.__main__ import rolled_out
from agent_backend.rollout.options import options_add, options_check
from vm_bridge.errors import BridgeError
from vocabulary.evaluations import Evaluation


def evaluation_of(
    attempts: Attempts,
    *,
    against: Attempts | None = None,
    references: References | None = None,
    judge: str = "",
    at: datetime,
) -> Evaluation:
    """The report on what was attempted; `judge` was believed where nobody else said how an attempt ended."""
    return Evaluation(
        created_at=at,
        policies=attempts.policies,
        attempts=len(attempts.counted),
        judged=sum(attempt.judged for attempt in attempts.counted),
        judge=judge,
        left_out=attempts.left_out,
        suites=suite_results(attempts, references or {}),
        tasks=task_results(attempts, references or {}),
        comparison=None if against is None else compare(attempts, against),
    )


def parsed(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m agent_backend.evaluate", description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", metavar="FOLDER", help="trajectories of the policy")
    parser.add_argument("--against", type=Path, nargs="+", metavar="FOLDER", help="those of the one before it")
    parser.add_argument("--references", type=Path, help="SUITE/NAME/manifest.json below it have reference scores")
    parser.add_argument("--out", type=Path, help="the report as JSON")
    judgements_add(parser)
    options_add(parser)
    parser.add_argument("--gate", action="store_true", help="exit with 2 where the policy does not hold up against it")
    arguments = parser.parse_args(given)
    if arguments.gate and not arguments.against:
        parser.error("--gate needs --against")
    if arguments.suite:
        options_check(parser, arguments)
        if len(arguments.folders) != 1:
            parser.error("attempts are made into one folder")
    return arguments


def main(given: Sequence[str] | None = None) -> int:
    """Print the table and write the report. Returns 1 where nothing could be evaluated, 2 where the gate is shut."""
    arguments = parsed(given)
    try:
        if arguments.suite and not arguments.folders[0].exists():
            asyncio.run(rolled_out(arguments, arguments.folders[0]))
        believed = beliefs_read(arguments.judgements, arguments.threshold)
        attempts = attempts_of(trajectories_read(arguments.folders), believed.attempts)
        against = attempts_of(trajectories_read(arguments.against), believed.attempts) if arguments.against else None
        references = references_read(arguments.references) if arguments.references else None
    except (AgentError, BridgeError) as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    evaluation = evaluation_of(
        attempts, against=against, references=references, judge=believed.judge, at=datetime.now(UTC)
    )
    if arguments.out is not None:
        whole_write(arguments.out, evaluation.model_dump_json(indent=1).encode() + b"\n")
    print(table_of(evaluation))
    return 2 if arguments.gate and evaluation.comparison and not holds_up(evaluation.comparison) else 0


if __name__ == "__main__":
    sys.exit(main())
