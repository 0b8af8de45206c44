"""`manage.py ensure_pool USER (--tasks SOURCE | --suite NAME)`: a pool of exactly these tasks for an annotator."""

import argparse
import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DataError

from annotation_app.accounts.selectors import person_by_username
from annotation_app.errors import ApplicationError
from annotation_app.live.task_sources import add_source_options, choose_source_tasks
from annotation_app.pools.services import source_pool_ensure


class Command(BaseCommand):
    help = (
        "Make a pool of the tasks of a source and let an annotator work in it; the same tasks again are the same pool."
        " The last line is one JSON object: pool, tasks, new."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="the annotator")
        add_source_options(parser)
        self._parser = parser

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            worker = person_by_username(username=options["username"])
            chosen = choose_source_tasks(self._parser, argparse.Namespace(**options))
            pool, new = source_pool_ensure(worker=worker, tasks=chosen.tasks, sha256=chosen.sha256, image=chosen.image)
        except ApplicationError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        except DataError as error:
            raise CommandError(f"The database cannot keep it: {error}") from error
        self.stdout.write(json.dumps({"pool": pool.name, "tasks": len(chosen.tasks), "new": new}))
