"""`manage.py make_token USER NAME [--days 90]`: make a token with which a program acts as a person."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation_app.accounts.services import token_make
from annotation_app.errors import ApplicationError


class Command(BaseCommand):
    help = "Make a token for a program that acts as this person. It is printed once and kept nowhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="whom the program acts as")
        parser.add_argument("name", help="which program it is for")
        parser.add_argument("--days", type=int, default=90, help="how long it holds")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            token = token_make(username=options["user"], name=options["name"], days=options["days"])
        except ApplicationError as error:
            raise CommandError(error.message) from error
        self.stdout.write(token)
