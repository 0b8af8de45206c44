"""`manage.py import_trajectories FOLDER`: trajectories of another platform, or of another time, into this one."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation_app.errors import ApplicationError
from annotation_app.imports.services import import_folder_run
from protocol.formats.registry import READERS

MAX_PRINTED_REFUSALS = 20


class Command(BaseCommand):
    help = "Take in a folder, or a file of lines, of trajectories that were made elsewhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--format", choices=tuple(READERS), default="", help="what its rows have to be")
        parser.add_argument("--pool", default="", help="the pool of what comes in (its name)")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        if not folder.exists():
            raise CommandError(f"{folder} is not there.")
        try:
            job = import_folder_run(folder=folder, pool=options["pool"], form=options["format"])
        except ApplicationError as error:
            raise CommandError(error.message) from error
        for row in job.refusals.all()[:MAX_PRINTED_REFUSALS]:
            self.stderr.write(f"{row.file}:{row.line}: {row.code}: {row.message}")
        if job.status != "done":
            raise CommandError(f"{job.code}: {job.error}")
        came = f"{job.imported} trajectories ({job.steps} steps) came in"
        self.stdout.write(f"{came}, {job.known} were here, {job.refused} were refused")
