"""`manage.py register_run USER RUN`: register the revision of a benchmark run, and its report."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from pydantic import ValidationError

from annotation_app.errors import ApplicationError
from annotation_app.evaluations.schemas import RunRegistration
from annotation_app.evaluations.services import run_register_by


class Command(BaseCommand):
    help = "Register the revision that a benchmark run tried, where it is new, and the run's report. Promotes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the admin who registers it")
        parser.add_argument("run", type=Path, help="the run: its folder, or its name in the folder of runs")
        parser.add_argument("--base-url", default="", help="where the revision is served, ending in /v1")
        parser.add_argument("--model", help="what the server calls it")
        parser.add_argument("--checkpoint", type=Path, help="the folder of its weights")
        parser.add_argument("--weight-version", default="", help="what the server calls these weights")

    def handle(self, *args: Any, **options: Any) -> None:
        named = ("base_url", "model", "weight_version")
        server = {name: options[name] for name in named if options[name]}
        if options["checkpoint"]:
            server["checkpoint"] = str(options["checkpoint"].resolve())
        try:
            registration = RunRegistration(run=options["run"].name, **server)
            done = run_register_by(username=options["user"], registration=registration)
        except ValidationError as error:
            first = error.errors()[0]
            raise CommandError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
        except ApplicationError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        revision = "new" if done.new_revision else "known"
        report = "new" if done.new else "known"
        self.stdout.write(f"revision {done.revision} ({revision}), evaluation {done.evaluation.id} ({report})")
