"""`manage.py load_tasks POOL (FILE | FOLDER | --suite NAME)`: more tasks for a pool; run again it adds nothing."""

import asyncio
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DataError
from pydantic import ValidationError

from annotation_app.errors import ApplicationError
from annotation_app.live.suite_tasks import suite_tasks
from annotation_app.tasks.selectors import pool_image
from annotation_app.tasks.services import tasks_load
from protocol.harbor.dockerfile import CONTAINER_IMAGE
from protocol.harbor.errors import FolderError
from protocol.harbor.task_folders import read_task_folders
from protocol.trajectory.tasks import Task


class Command(BaseCommand):
    help = "Add tasks to a pool: from JSON Lines, from Harbor's task folders, or those of a suite of the bridge."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("pool", help="the pool's name")
        source = parser.add_mutually_exclusive_group(required=True)
        source.add_argument(
            "file", type=Path, nargs="?", help="one task a line, as JSON; a Harbor folder, or a folder of them"
        )
        source.add_argument("--suite", help="a suite of the bridge, for example desktop")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            suite = options["suite"]
            definitions = (
                list(asyncio.run(suite_tasks(suite))) if suite else _tasks_in(options["file"], options["pool"])
            )
            new = tasks_load(pool_name=options["pool"], definitions=definitions)
        except ApplicationError as error:
            raise CommandError(error.message) from error
        except DataError as error:
            raise CommandError(f"The database cannot keep it: {error}") from error
        self.stdout.write(f"{new} new tasks of {len(definitions)}.")


def _tasks_in(file: Path, pool: str) -> list[Task]:
    """Raises CommandError with the line that is no task."""
    if file.is_dir():
        try:
            return list(read_task_folders(file, containers=pool_image(name=pool) == CONTAINER_IMAGE))
        except FolderError as error:
            raise CommandError(f"{error.code}: {error}") from error
    try:
        lines = file.read_text(encoding="utf-8-sig").split("\n")  # `splitlines` would end one at U+2028 too
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{file} cannot be read: {error}") from error
    tasks = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                tasks.append(Task.model_validate_json(line))
            except ValidationError as error:
                raise CommandError(f"{file}, line {number}: {error}") from error
    return tasks
