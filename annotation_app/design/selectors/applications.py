"""Reading applications, their readings and scores."""

from collections.abc import Iterator
from typing import cast

from annotation_app.accounts.models import User
from annotation_app.design.application_schemas import (
    ApplicationOut,
    ApplicationsPage,
    DecisionOut,
    ReadingOut,
    ScoringOut,
    State,
)
from annotation_app.design.applications import (
    Indicator,
    Reading,
    Score,
    ScoringRule,
    counted_reading,
    score_applications,
)
from annotation_app.design.models import Application, ScoringVersion
from annotation_app.design.models import Reading as ReadingRecord
from annotation_app.design.selectors import design_check
from annotation_app.errors import NotFound


def applications_page(*, user: User) -> ApplicationsPage:
    """All applications, the highest score first. Raises Forbidden."""
    design_check(user)
    scoring = scoring_current()
    known = {one.name: one for one in _applications()}
    scores = score_applications({name: _values(one) for name, one in known.items()}, scoring.rule)
    items = tuple(_application_out(known[score.name], score, scoring.rule) for score in scores)
    return ApplicationsPage(items=items, scoring=scoring)


def application_scores() -> tuple[dict[str, Score], int]:
    """Every application's score by its name, and the version of the rule."""
    scoring = scoring_current()
    candidates = {one.name: _values(one) for one in _applications()}
    return {one.name: one for one in score_applications(candidates, scoring.rule)}, scoring.version


def application_of(*, application_id: int) -> Application:
    """Raises NotFound."""
    found = Application.objects.filter(pk=application_id).first()
    if found is None:
        raise NotFound("There is no such application.", field="application_id")
    return found


def scoring_current() -> ScoringOut:
    """The newest version of the rule, else its defaults."""
    row = ScoringVersion.objects.select_related("created_by").first()
    if row is None:
        return ScoringOut(version=0, rule=ScoringRule(), changed_by="", changed_at=None)
    return ScoringOut(version=row.version, rule=row.rule, changed_by=row.created_by.username, changed_at=row.created_at)


def reading_rows(*, user: User) -> Iterator[tuple[str, Reading | None]]:
    """Every reading with the name of its application, by name; applications without readings too. Raises Forbidden."""
    design_check(user)
    for application in _applications():
        values = _values(application)
        yield from ((application.name, one) for one in values or (None,))


def _applications() -> list[Application]:
    return list(
        Application.objects.select_related("decided_by").prefetch_related("readings__recorded_by").order_by("name")
    )


def _values(application: Application) -> tuple[Reading, ...]:
    return tuple(reading_value(one) for one in application.readings.all())


def reading_value(one: ReadingRecord) -> Reading:
    """A stored reading as scores see it."""
    return Reading(cast(Indicator, one.indicator), one.value, one.unit, one.source, one.dated)


def _application_out(application: Application, score: Score, rule: ScoringRule) -> ApplicationOut:
    values = _values(application)
    counted = {counted_reading(values, part.indicator, rule) for part in score.parts}
    return ApplicationOut(
        id=application.pk,
        name=application.name,
        state=cast(State, application.state),
        rank=score.rank,
        score=score.score,
        low=score.low,
        high=score.high,
        parts=score.parts,
        readings=tuple(
            ReadingOut(
                id=one.pk,
                indicator=cast(Indicator, one.indicator),
                value=one.value,
                unit=one.unit,
                source=one.source,
                dated=one.dated,
                recorded_by=one.recorded_by.username,
                counted=reading_value(one) in counted,
            )
            for one in application.readings.all()
        ),
        decision=_decision_out(application),
        node=application.node_id,
    )


def _decision_out(application: Application) -> DecisionOut | None:
    if application.decided_by is None or application.decided_at is None:
        return None
    return DecisionOut(
        by=application.decided_by.username,
        at=application.decided_at,
        reason=application.reason,
        score=application.decided_score,
        version=application.decided_version or 0,
    )
