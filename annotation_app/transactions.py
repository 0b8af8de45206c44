"""Consistent reads of several tables."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction


@contextmanager
def repeatable_read() -> Iterator[None]:
    """Read everything in the block from one snapshot. Inside an open transaction, that transaction's isolation
    applies."""
    in_transaction = connection.in_atomic_block
    with transaction.atomic():
        if not in_transaction:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        yield
