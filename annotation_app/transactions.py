"""Reads of several tables that show one moment, whatever is written meanwhile."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def repeatable_read() -> Iterator[None]:
    """All that is read within is of one moment. Within a transaction that has begun, it is read as that one reads."""
    in_transaction = connection.in_atomic_block
    with transaction.atomic():
        if not in_transaction:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
