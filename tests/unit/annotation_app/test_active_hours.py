"""When a pool is open."""

from datetime import UTC, datetime, time

import pytest
from pydantic import ValidationError

from annotation_app.tasks.active_hours import ActiveHours, next_opening

OFFICE = ActiveHours(timezone="Asia/Shanghai")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "opens"),
    [
        ("2026-03-02T01:00", "2026-03-02T01:00"),  # nine on Monday in Shanghai
        ("2026-03-02T00:59", "2026-03-02T01:00"),
        ("2026-03-02T09:00", "2026-03-03T01:00"),
        ("2026-03-06T10:00", "2026-03-09T01:00"),  # from Friday evening to Monday
    ],
)
def test_it_opens_in_its_own_time_zone(now: str, opens: str) -> None:
    assert next_opening(OFFICE, at(now)) == at(opens)


def test_a_night_shift_belongs_to_the_day_it_began_on() -> None:
    night = ActiveHours(days=(4,), start=time(22), end=time(6))
    saturday_morning = at("2026-03-07T05:59")
    assert next_opening(night, saturday_morning) == saturday_morning
    assert next_opening(night, at("2026-03-07T06:00")) == at("2026-03-13T22:00")


def test_the_whole_day_is_from_midnight_to_midnight() -> None:
    sunday = ActiveHours(days=(6,), start=time(0), end=time(0))
    assert next_opening(sunday, at("2026-03-08T23:59")) == at("2026-03-08T23:59")
    assert next_opening(sunday, at("2026-03-09T00:00")) == at("2026-03-15T00:00")


def test_the_clock_is_followed_when_it_changes() -> None:
    berlin = ActiveHours(timezone="Europe/Berlin", days=(0,), start=time(9), end=time(10))
    assert next_opening(berlin, at("2026-03-27T12:00")) == at("2026-03-30T07:00"), "summer time began in between"


@pytest.mark.parametrize(
    "wrong", [{"timezone": "Mars/Base"}, {"days": []}, {"days": [7]}, {"days": [1, 1]}, {"start": "09:00:30"}]
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ActiveHours.model_validate(wrong)
