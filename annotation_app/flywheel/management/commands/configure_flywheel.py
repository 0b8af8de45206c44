"""`manage.py configure_flywheel USER NAME --pool POOL --recipe FILE`: create a flywheel or change its recipe."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from pydantic import ValidationError

from annotation_app.accounts.selectors import person_by_username
from annotation_app.errors import ApplicationError
from annotation_app.flywheel.recipe import Recipe
from annotation_app.flywheel.services.ledger import wheel_set


class Command(BaseCommand):
    help = "Create a flywheel of a pool, or change its recipe; a running cycle keeps its own."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username", help="the admin in whose name cycles run")
        parser.add_argument("flywheel")
        parser.add_argument("--pool", required=True, help="whose trajectories are learned from (its name)")
        parser.add_argument(
            "--recipe", type=Path, required=True, help="JSON; docs/guides/researcher/flywheel.md lists its keys"
        )
        parser.add_argument("--every-hours", type=int, help="how often the schedule starts a cycle (never)")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            recipe = Recipe.model_validate_json(options["recipe"].read_bytes())
            wheel = wheel_set(
                user=person_by_username(username=options["username"]),
                name=options["flywheel"],
                pool=options["pool"],
                recipe=recipe,
                every_hours=options["every_hours"],
            )
        except OSError as error:
            raise CommandError(f"{options['recipe']} cannot be read: {error.strerror}") from error
        except ValidationError as error:
            raise CommandError(str(error)) from error
        except ApplicationError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"Flywheel {wheel} learns from pool {options['pool']}.")
