"""Keeping candidates with their readings, scoring them, and choosing among them; each change is in the audit log."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Literal

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.audit.verbs import Verb
from annotation_app.design.application_schemas import (
    ApplicationIn,
    DecisionIn,
    ImportedRow,
    ReadingIn,
    ReadingReport,
)
from annotation_app.design.applications import Reading, ScoringRule
from annotation_app.design.models import Application, Node, ScoringVersion
from annotation_app.design.models import Reading as ReadingRecord
from annotation_app.design.reading_files import ReadingRow, readings_read
from annotation_app.design.selectors.applications import application_of, application_scores, scoring_current
from annotation_app.errors import Conflict, Invalid, NotFound

NAME_TAKEN = "There is an application of this name already."
ROWS_TOLD = 200
"""Rows of a file that a preview names."""
LEAST_IMPORTANCE = 0.1
Effect = Literal["added", "changed", "same"]


@transaction.atomic(durable=True)
def application_add(*, user: User, wanted: ApplicationIn) -> Application:
    """A new candidate. Raises Forbidden and Conflict."""
    role_check(user, Role.ADMIN)
    try:
        with transaction.atomic():
            application = Application.objects.create(name=wanted.name)
    except IntegrityError:
        raise Conflict(NAME_TAKEN, code="name_taken", field="name") from None
    _record(user, "design.application_added", application, name=wanted.name)
    return application


@transaction.atomic(durable=True)
def application_rename(*, user: User, application_id: int, wanted: ApplicationIn) -> None:
    """Name it otherwise; its node keeps its name. Raises Forbidden, NotFound and Conflict."""
    role_check(user, Role.ADMIN)
    application = application_of(application_id=application_id)
    before, application.name = application.name, wanted.name
    try:
        with transaction.atomic():
            application.save(update_fields=["name"])
    except IntegrityError:
        raise Conflict(NAME_TAKEN, code="name_taken", field="name") from None
    _record(user, "design.application_renamed", application, before=before, after=wanted.name)


@transaction.atomic(durable=True)
def application_delete(*, user: User, application_id: int) -> None:
    """Delete it with its readings; its node stays in the graph. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    application = application_of(application_id=application_id)
    _record(user, "design.application_deleted", application, name=application.name)
    application.delete()


@transaction.atomic(durable=True)
def reading_add(*, user: User, application_id: int, wanted: ReadingIn) -> ReadingRecord:
    """Keep a reading, or correct the one of the same source and day. Raises Forbidden, NotFound, and Invalid for a day
    that is still to come."""
    role_check(user, Role.ADMIN)
    application = application_of(application_id=application_id)
    if wanted.dated > latest_day():
        raise Invalid("A reading is of today at the latest.", code="future", field="dated")
    reading, _ = application.readings.update_or_create(
        indicator=wanted.indicator,
        dated=wanted.dated,
        source=wanted.source,
        defaults={"value": wanted.value, "unit": wanted.unit, "recorded_by": user},
    )
    _record(user, "design.reading_added", application, **wanted.model_dump(mode="json"))
    return reading


@transaction.atomic(durable=True)
def reading_delete(*, user: User, reading_id: int) -> None:
    """Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    reading = ReadingRecord.objects.select_related("application").filter(pk=reading_id).first()
    if reading is None:
        raise NotFound("There is no such reading.", field="reading_id")
    details = {"indicator": reading.indicator, "value": reading.value, "dated": reading.dated.isoformat()}
    reading.delete()
    _record(user, "design.reading_deleted", reading.application, **details)


@transaction.atomic(durable=True)
def readings_import(*, user: User, data: bytes, preview: bool) -> ReadingReport:
    """Take over the readings of a file, with their applications; what the file does not name stays. With a fault
    nothing is changed. Raises Forbidden, and Conflict where somebody else adds the same meanwhile."""
    role_check(user, Role.ADMIN)
    rows, faults = readings_read(data, latest=latest_day())
    if faults:
        return ReadingReport(rows=(), applications=0, added=0, changed=0, same=0, faults=faults)
    try:
        with transaction.atomic():
            report = _readings_keep(rows, user)
            if preview:
                transaction.set_rollback(True)
    except IntegrityError:
        message = "Somebody else changes the applications at this moment; try again."
        raise Conflict(message, code="applications_changed") from None
    if not preview:
        details = report.model_dump(include={"applications", "added", "changed"})
        audit_record(actor=user, verb="design.readings_imported", subject="graph", details=details)
    return report


@transaction.atomic(durable=True)
def application_decide(*, user: User, application_id: int, wanted: DecisionIn) -> Application:
    """Choose or drop an application, or take it back among the candidates, with who, when and the score it has. A
    chosen one is the top node of its name, which is made where there is none. Raises Forbidden and NotFound, and
    Conflict where that node is another application's already or somebody else makes it meanwhile."""
    role_check(user, Role.ADMIN)
    application = application_of(application_id=application_id)
    scores, version = application_scores()
    application.decided_score = scores[application.name].score
    application.state, application.reason = wanted.state, wanted.reason
    application.decided_by, application.decided_at, application.decided_version = user, timezone.now(), version
    try:
        with transaction.atomic():
            if wanted.state == "chosen" and application.node is None:
                importance = max(LEAST_IMPORTANCE, round(10 * (application.decided_score or 0.0), 1))
                application.node, _ = Node.objects.get_or_create(
                    parent=None, name=application.name, defaults={"importance": importance}
                )
            application.save()
    except IntegrityError:
        message = "The node of this name is another application's; name one of them otherwise."
        raise Conflict(message, code="name_taken", field="name") from None
    details = {"state": wanted.state, "score": application.decided_score, "version": version, "reason": wanted.reason}
    _record(user, "design.application_decided", application, **details)
    return application


@transaction.atomic(durable=True)
def scoring_change(*, user: User, rule: ScoringRule) -> int:
    """Score by another rule from now on, and return its version; the same rule is no new version. Raises Forbidden,
    and Conflict where somebody else changes it meanwhile."""
    role_check(user, Role.ADMIN)
    before = scoring_current()
    if rule == before.rule:
        return before.version
    try:
        with transaction.atomic():
            made = ScoringVersion.objects.create(version=before.version + 1, rule=rule, created_by=user)
    except IntegrityError:
        raise Conflict("Another person has just changed the rule; reload the page.", code="scoring_changed") from None
    details = {"version": made.version, **rule.model_dump()}
    audit_record(actor=user, verb="design.scoring_changed", subject="graph", details=details)
    return made.version


def latest_day() -> date:
    """The last day that it is anywhere on earth now."""
    return (timezone.now() + timedelta(hours=14)).date()


def _readings_keep(rows: Iterable[ReadingRow], user: User) -> ReadingReport:
    known = {application.name: application for application in Application.objects.all()}
    there = {(one.application_id, one.indicator, one.dated, one.source): one for one in ReadingRecord.objects.all()}
    before = len(known)
    told: list[ImportedRow] = []
    counts = {"added": 0, "changed": 0, "same": 0}
    new: list[ReadingRecord] = []
    for row in rows:
        application_is_new = row.application not in known
        application = known.get(row.application) or Application.objects.create(name=row.application)
        known[row.application] = application
        effect: Effect = "same" if row.reading is None and not application_is_new else "added"
        if row.reading is not None:
            effect = _reading_keep(row.reading, application, there, new, user)
            counts[effect] += 1
        told.append(
            ImportedRow(
                row=row.row,
                application=row.application,
                indicator=row.reading.indicator if row.reading else None,
                effect=effect,
            )
        )
    ReadingRecord.objects.bulk_create(new)
    return ReadingReport(rows=tuple(told[:ROWS_TOLD]), applications=len(known) - before, faults=(), **counts)


def _reading_keep(
    one: Reading,
    application: Application,
    there: dict[tuple[int, str, date, str], ReadingRecord],
    new: list[ReadingRecord],
    user: User,
) -> Effect:
    old = there.get((application.pk, one.indicator, one.dated, one.source))
    if old is None:
        new.append(ReadingRecord(application=application, recorded_by=user, **one._asdict()))
        return "added"
    if (old.value, old.unit) == (one.value, one.unit):
        return "same"
    old.value, old.unit, old.recorded_by = one.value, one.unit, user
    old.save(update_fields=["value", "unit", "recorded_by"])
    return "changed"


def _record(user: User, verb: Verb, application: Application, **details: object) -> None:
    audit_record(actor=user, verb=verb, subject=f"application:{application.pk}", details=details)
