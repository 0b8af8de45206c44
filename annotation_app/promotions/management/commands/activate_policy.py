"""`manage.py activate_policy USER POOL NAME REVISION`: make a revision the active one of a pool."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation_app.errors import ApplicationError
from annotation_app.promotions import services


class Command(BaseCommand):
    help = "Make a registered revision the one that proposes in a pool. Open episodes take it up at their next step."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the admin who decides")
        parser.add_argument("pool", help="the pool's name")
        parser.add_argument("policy", help="the policy's name")
        parser.add_argument("revision", help="the revision's name")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            before = services.policy_activate_named(
                username=options["user"],
                pool=options["pool"],
                policy=options["policy"],
                revision=options["revision"],
            )
        except ApplicationError as error:
            raise CommandError(f"{error.code}: {error.message}") from error
        self.stdout.write(f"{options['pool']}: {options['policy']} {options['revision']} proposes, after {before}")
