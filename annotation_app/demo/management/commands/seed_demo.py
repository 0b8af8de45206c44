"""`manage.py seed_demo`: create demo users, pools and tasks. Rerunning it changes nothing."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from annotation_app.demo.demo_data import DEMO_USERS, load_demo


class Command(BaseCommand):
    help = "Load demo users, pools and tasks, and print the sign-ins."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--exposed", action="store_true", help="make passwords hard to guess")

    def handle(self, *args: Any, **options: Any) -> None:
        exposed = options["exposed"]
        load_demo(exposed=exposed)
        self.stdout.write("Sign in as:")
        for user in DEMO_USERS:
            self.stdout.write(f"  {user.username:<12} {user.password(exposed=exposed):<22} {', '.join(user.roles)}")
