"""Online-Mind2Web: tasks on live sites, without a verifier of their own. A judge evaluates the screens."""

import re
from typing import Any

from protocol.benchmarks.forms import BENCHMARK, ORACLE, FolderSettings, FormError, Row, origin, text_of, web_task
from protocol.trajectory.tasks import Task

NAME = "online-mind2web"
MIN_STEPS, STEPS_A_REFERENCE = 25, 4
"""Fewest steps of a task, and how many for each step of the person who did it."""
_ID = re.compile(r"[A-Za-z0-9._-]{1,90}")


def is_web_task(row: Row) -> bool:
    """Whether a row has the fields of a task of Online-Mind2Web."""
    return {"task_id", "confirmed_task", "website"} <= row.keys()


def website_task(row: Row, settings: FolderSettings, acts: list[dict[str, Any]] | None = None) -> Task:
    """A row as a task; `acts` are those of an oracle that the folder's owner recorded. Raises FormError."""
    identifier, website = text_of(row, "task_id"), text_of(row, "website")
    if _ID.fullmatch(identifier) is None:
        raise FormError("task_id: it is no name")
    url = website if re.match(r"https?://", website) else f"https://{website}"
    title = f"{NAME}/{identifier}"
    oracle = {ORACLE: acts} if acts else {}
    level = row.get("level")
    fields = {
        "id": title,
        "name": title,
        "instruction": f"{text_of(row, 'confirmed_task')}\n\nBegin on {url} and stay on this site.",
        "max_steps": _max_steps(row.get("reference_length")),
        "parameters": {
            "category": f"{NAME}/{level}" if isinstance(level, str) and _ID.fullmatch(level) else NAME,
            BENCHMARK: origin(NAME, "own" if acts else "none"),
            **oracle,
        },
    }
    return web_task(fields, url, settings)


def _max_steps(length: object) -> int:
    if isinstance(length, bool) or not isinstance(length, int | float) or not 0 < length < 1_000:
        return MIN_STEPS
    return min(1_000, max(MIN_STEPS, round(STEPS_A_REFERENCE * length)))
