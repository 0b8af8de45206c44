"""`manage.py run_flywheel NAME`: run flywheel cycles now; an interrupted cycle is resumed."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation_app.errors import ApplicationError
from annotation_app.flywheel.engine import turn_run
from annotation_app.flywheel.schemas import TurnRow
from annotation_app.flywheel.selectors.turns import turn_last, turn_of, turn_row, turn_running, wheel_named
from annotation_app.flywheel.services.ledger import turn_begin, turn_resume

LOCK_TIMEOUT_SECONDS = 60.0
"""How long to wait for programs of a process that died."""


class Command(BaseCommand):
    help = "Run a flywheel cycle: train on trajectories finished since the last one, and let the gate judge."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("flywheel")
        parser.add_argument("--cycles", type=int, default=1, help="how many (1); an interrupted one is the first")
        parser.add_argument("--resume", action="store_true", help="begin with the last one, failed or cancelled")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            wheel = wheel_named(options["flywheel"])
            if options["resume"] and (last := turn_last(wheel)) is not None:
                turn_resume(user=wheel.owner, turn_id=last.pk)
            for _ in range(options["cycles"]):
                turn = turn_running(wheel) or turn_begin(user=wheel.owner, wheel_id=wheel.pk)
                if not turn_run(turn_id=turn.pk, patience=LOCK_TIMEOUT_SECONDS):
                    raise CommandError("Another process runs a cycle.")
                row = turn_row(turn_of(turn.pk))
                self.stdout.write(format_cycle(row))
                if row.state != "done":
                    why = next((f"{stage.code}: {stage.error}" for stage in row.stages if stage.state == "failed"), "")
                    raise CommandError(f"Cycle {row.number} {row.state}. {why}".strip())
        except ApplicationError as error:
            raise CommandError(error.message) from error


def format_cycle(row: TurnRow) -> str:
    """A cycle in one line."""
    went = f"sft {row.routes.sft}, ct {row.routes.ct}, left out {row.routes.none}"
    tried = f"{row.success.successes} of {row.success.attempts}" if row.success else "not tried"
    before = f" (before {row.success_before.successes})" if row.success_before else ""
    decided = {None: "not judged", True: "passed", False: "shut"}[row.passed]
    return f"Cycle {row.number}: {went}; {row.revision or 'nothing trained'}: {tried}{before}; gate {decided}"
