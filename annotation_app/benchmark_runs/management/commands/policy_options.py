"""`manage.py policy_options POLICY REVISION`: how `./pilothouse benchmark` and rollouts ask a registered revision."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation_app.benchmark_runs.services import revision_options
from annotation_app.errors import ApplicationError


class Command(BaseCommand):
    help = "Print the options of a rollout for a registered revision, as a JSON list. Its API key is not among them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("policy", help="the policy's name")
        parser.add_argument("revision", help="the revision's name")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(json.dumps(revision_options(policy=options["policy"], revision=options["revision"])))
        except ApplicationError as error:
            raise CommandError(error.message) from error
