"""`manage.py load_tasks POOL (FILE | FOLDER | --suite NAME)`: add tasks to a pool. Rerunning it adds nothing."""

import asyncio
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DataError

from annotation_app.errors import ApplicationError
from annotation_app.live.suite_tasks import suite_tasks
from annotation_app.live.task_sources import read_task_file
from annotation_app.tasks.selectors import pool_image
from annotation_app.tasks.services import tasks_load


class Command(BaseCommand):
    help = (
        "Add tasks to a pool: of a file or folder as docs/guides/researcher/tasks.md lists them,"
        " or those of a suite of the bridge."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool", help="the pool's name")
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument(
            "file",
            type=Path,
            nargs="?",
            help="JSON Lines, JSON, OSWorld's, a Harbor folder, or a folder or zip of them",
        )
        source.add_argument("--suite", help="a suite of the bridge, for example desktop")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            suite = options["suite"]
            definitions = (
                asyncio.run(suite_tasks(suite))
                if suite
                else read_task_file(options["file"], pool_image(name=options["pool"]))
            )
            new = tasks_load(pool_name=options["pool"], definitions=definitions)
        except ApplicationError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        except DataError as error:
            raise CommandError(f"The database cannot keep it: {error}") from error
        self.stdout.write(f"New tasks: {new} of {len(definitions)}.")
