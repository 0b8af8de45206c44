"""`manage.py check_data`: whether everything the database names is there and can be read; for after an upgrade."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation_app.health.selectors import check_data


class Command(BaseCommand):
    help = "Read every episode and look for every stored file; prints one JSON object, and fails where one is missing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--episodes", type=int, default=None, help="Read the newest so many only")

    def handle(self, *_: Any, **options: Any) -> None:
        report = check_data(episodes=options["episodes"])
        self.stdout.write(report.model_dump_json())
        if not report.ok:
            raise CommandError("Not everything is there; see above.")
