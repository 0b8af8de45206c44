"""Models and migrations say the same: whoever brings an installation up to date makes no migration of their own."""

from io import StringIO

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_every_model_is_as_its_migrations_leave_it() -> None:
    said = StringIO()
    call_command("makemigrations", "--check", "--dry-run", stdout=said)
    assert said.getvalue().startswith("No changes detected")
