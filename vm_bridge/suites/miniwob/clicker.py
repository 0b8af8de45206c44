"""The scripted expert of MiniWoB++'s simple tasks, in Python's hands."""

import json
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from vm_bridge.browser import ScriptFailed, Session
from vm_bridge.machine import ExpertSuggestion

SCRIPT = Path(__file__).with_name("clicker.js")


@cache
def _script() -> str:
    return SCRIPT.read_text("utf-8")


async def suggest_action(name: str, session: Session) -> ExpertSuggestion | None:
    """What to do next; None where the expert knows no way on. Raises ScriptFailed."""
    told = await session.evaluate(f"(() => {{ {_script()} return advise({json.dumps(name)}); }})()", world="own")
    try:
        return None if told is None else ExpertSuggestion.model_validate(told)
    except ValidationError as error:
        raise ScriptFailed(f"the expert's advice is no act: {error}") from error
