"""When a pool gives tasks out: days and times of day, in a time zone of its own."""

from datetime import datetime, time, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator, Field, model_validator

from protocol.base import FrozenModel


def _known_time_zone(name: str) -> str:
    if name not in available_timezones():
        raise ValueError("there is no such time zone")
    return name


def _whole_minutes(moment: time) -> time:
    if moment.tzinfo is not None or moment.second or moment.microsecond:
        raise ValueError("a time of day is hours and minutes")
    return moment


TimeZone = Annotated[str, AfterValidator(_known_time_zone)]
TimeOfDay = Annotated[time, AfterValidator(_whole_minutes)]
Day = Annotated[int, Field(ge=0, le=6)]
"""Of the week; Monday is 0."""


class ActiveHours(FrozenModel):
    """From `start` to `end` on these days; an end that is not after the start lies on the next day."""

    timezone: TimeZone = "UTC"
    days: Annotated[tuple[Day, ...], Field(min_length=1, max_length=7)] = (0, 1, 2, 3, 4)
    start: TimeOfDay = time(9)
    end: TimeOfDay = time(17)

    @model_validator(mode="after")
    def days_once(self) -> "ActiveHours":
        if len(set(self.days)) != len(self.days):
            raise ValueError("a day is named twice")
        return self


def next_opening(hours: ActiveHours, now: datetime) -> datetime:
    """The first moment from `now` on in which tasks are given out: `now` itself during the hours."""
    local = now.astimezone(ZoneInfo(hours.timezone))
    starts = []
    for ahead in range(-1, 8):
        day = local.date() + timedelta(days=ahead)
        if day.weekday() in hours.days:
            begin = datetime.combine(day, hours.start, local.tzinfo)
            last = day + timedelta(days=hours.end <= hours.start)
            if begin <= local < datetime.combine(last, hours.end, local.tzinfo):
                return now
            if begin > local:
                starts.append(begin)
    return min(starts).astimezone(now.tzinfo)
