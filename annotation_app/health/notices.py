"""Tells admins when a part of the platform fails, and before the disk is full."""

from annotation_app.health import history
from annotation_app.health.schemas import Check
from annotation_app.notifications.schemas import NoticeKind
from annotation_app.notifications.services.notices import admins_notify

MAX_SUBJECT_CHARACTERS = 128


def notify_of_failures(checks: tuple[Check, ...]) -> tuple[Check, ...]:
    """Tell admins of the parts that have got worse since the last look; these.

    A part is worse when it is down, and the disk already when it is filling. Raises RedisError.
    """
    worse = {check.name: check for check in checks if check.state == "down" or _is_filling(check)}
    noticed = sorted(history.states_to_notice({name: check.state for name, check in worse.items()}))
    for name in noticed:
        check = worse[name]
        kind: NoticeKind = "disk.filling" if check.kind == "disk" else "part.failed"
        admins_notify(kind=kind, subject=f"health:{name}"[:MAX_SUBJECT_CHARACTERS], details={"reason": _reason(check)})
    return tuple(worse[name] for name in noticed)


def _is_filling(check: Check) -> bool:
    return check.kind == "disk" and check.state == "warn"


def _reason(check: Check) -> str:
    """The part, what is wrong, and for the disk how much room is left."""
    free = check.figures.get("free")
    room = "" if check.kind != "disk" or free is None else f"{free / 2**30:.1f} GiB free"
    problem = (check.problem or "").replace("_", " ")
    return " · ".join(part for part in (check.name, problem, room, check.detail[:200]) if part)
