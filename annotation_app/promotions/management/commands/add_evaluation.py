"""`manage.py add_evaluation USER FILE`: register the report that `agent_backend.evaluation --out` wrote."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from pydantic import ValidationError

from annotation_app.errors import ApplicationError
from annotation_app.promotions import selectors, services
from protocol.evaluation.reports import Evaluation


class Command(BaseCommand):
    help = "Register a report on the revision it is about; the gates of its pools judge it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the admin who registers it")
        parser.add_argument("file", type=Path, help="the report, as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            report = Evaluation.model_validate_json(options["file"].read_bytes())
            stored, new = services.evaluation_register(username=options["user"], report=report)
        except (OSError, ValidationError) as error:
            raise CommandError(f"{options['file']} is no report: {error}") from error
        except ApplicationError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"{'Registered' if new else 'Known'}: {stored.sha256}")
        for decision in selectors.evaluation_summary(stored.pk).decisions:
            outcome = "promoted" if decision.promoted else "passed" if decision.passed else "shut"
            reasons = "; ".join(f"{reason.code} {reason.subject}".strip() for reason in decision.reasons)
            self.stdout.write(f"{decision.pool}: {outcome}{': ' if reasons else ''}{reasons}")
