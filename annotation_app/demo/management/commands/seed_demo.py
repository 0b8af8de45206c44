"""`manage.py seed_demo`: demo users, pools and tasks; running it again changes nothing."""

from typing import Any

from django.core.management.base import BaseCommand

from annotation_app.demo.contents import USERS, demo_load


class Command(BaseCommand):
    help = "Load demo users, pools and tasks, and print the sign-ins."

    def handle(self, *args: Any, **options: Any) -> None:
        demo_load()
        self.stdout.write("Sign in as:")
        for user in USERS:
            self.stdout.write(f"  {user.username:<12} {user.password:<18} {', '.join(user.roles)}")
