"""`manage.py toy_flywheel START`: the flywheel of the trainer's toy world; prints its status as JSON."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation_app.errors import ApplicationError
from annotation_app.flywheel.services.toy import toy_flywheel_set, toy_flywheel_status


class Command(BaseCommand):
    help = "Print the toy flywheel's status; with attempts, import them first, and create the flywheel where missing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("start", type=Path, help="the toy policy it begins with")
        parser.add_argument("--attempts", type=Path, help="a folder of its attempts")
        parser.add_argument("--server", default="", help="the address of the policy's server, without /v1")
        parser.add_argument("--seeds", type=int, default=40, help="attempts at the gate")

    def handle(self, *args: Any, **options: Any) -> None:
        start, attempts = options["start"].absolute(), options["attempts"]
        try:
            if attempts is not None:
                toy_flywheel_set(start=start, server=options["server"], attempts=attempts, seeds=options["seeds"])
        except ApplicationError as error:
            raise CommandError(error.message) from error
        self.stdout.write(toy_flywheel_status(start=start).model_dump_json())
