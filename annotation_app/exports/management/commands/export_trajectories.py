"""`manage.py export_trajectories FOLDER`: accepted trajectories as JSON Lines and images."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation_app.errors import ApplicationError
from annotation_app.exports.folder_writer import MissingBlobs
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.exports.services import export_write_to
from protocol.dialects.families import list_dialects
from protocol.formats.registry import FORMATS


class Command(BaseCommand):
    help = "Write finished trajectories to a folder a trainer can read, in any format."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="where to; it must not exist yet")
        parser.add_argument("--pool", help="only this pool (its name)")
        parser.add_argument("--review", choices=("accepted", "pending", "returned", "any"), default="accepted")
        parser.add_argument("--outcome", choices=("success", "failure", "infeasible"))
        parser.add_argument("--format", choices=tuple(FORMATS), default="canonical")
        parser.add_argument("--dialect", choices=list_dialects(), default="ui_tars_1_5")
        parser.add_argument("--undone", action="store_true", help="with the steps that were taken back")

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        if folder.exists():
            raise CommandError(f"{folder} exists already.")
        review = None if options["review"] == "any" else options["review"]
        filters = ExportFilters(review=review, outcome=options["outcome"], undone=options["undone"])
        try:
            plan = ExportPlan(format=options["format"], dialect=options["dialect"])
            result = export_write_to(target=folder, pool_name=options["pool"], filters=filters, plan=plan)
        except ApplicationError as error:
            raise CommandError(error.message) from error
        except MissingBlobs as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{result.counts.trajectories} trajectories, {result.images} images: {folder}")
        if result.refused:
            codes = ", ".join(f"{code} {count}" for code, count in result.refused.items())
            self.stdout.write(f"left out (refused.jsonl): {codes}")
