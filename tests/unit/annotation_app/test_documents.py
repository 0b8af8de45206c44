"""Values of the shared vocabulary in a text column."""

from annotation_app.documents import DocumentField
from annotation_app.episodes.models import Desk
from vocabulary.messages import PendingAct

DESK = Desk(error="nul \x00, quote ', 中", thinking="failed", capabilities=("click",))


def test_what_is_stored_is_what_comes_back() -> None:
    field: DocumentField[Desk] = DocumentField(Desk)
    stored = field.get_prep_value(DESK)
    assert stored is not None
    assert "\x00" not in stored, "PostgreSQL would refuse it"
    assert field.from_db_value(stored) == DESK
    assert field.get_prep_value(None) is None
    assert field.from_db_value(None) is None


def test_migrations_see_plain_text() -> None:
    field: DocumentField[PendingAct] = DocumentField(PendingAct)
    assert type(field.clone()).__name__ == "TextField"
