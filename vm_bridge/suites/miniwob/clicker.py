"""The scripted expert of MiniWoB++'s simple tasks, in Python's hands."""

import json
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from vm_bridge.browser import ScriptFailed, Session
from vm_bridge.machine import ExpertSuggestion

SCRIPT = Path(__file__).with_name("clicker.js")
SCRIPTED_PAGES = (
    *("ascending-numbers", "choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay"),
    *("circle-center", "click-button", "click-button-sequence", "click-checkboxes", "click-checkboxes-large"),
    *("click-checkboxes-transfer", "click-collapsible", "click-collapsible-2", "click-collapsible-2-nodelay"),
    *("click-collapsible-nodelay", "click-color", "click-dialog", "click-dialog-2", "click-link", "click-option"),
    *("click-shades", "click-tab", "click-tab-2", "click-tab-2-easy", "click-tab-2-hard", "click-tab-2-medium"),
    *("click-test", "click-test-2", "click-test-transfer", "click-widget", "enter-password", "enter-text"),
    *("enter-text-2", "enter-text-dynamic", "enter-time", "find-greatest", "find-word", "focus-text", "focus-text-2"),
    *("form-sequence", "form-sequence-2", "generate-number", "grid-coordinate", "guess-number", "highlight-text-2"),
    *("identify-shape", "login-user", "login-user-popup", "multi-orderings", "navigate-tree", "odd-or-even"),
    *("phone-book", "read-table", "read-table-2", "scroll-text", "search-engine", "sign-agreement"),
    *("simple-algebra", "simple-arithmetic", "social-media", "text-transform", "unicode-test", "use-autocomplete"),
    *("use-autocomplete-nodelay", "use-slider"),
)
"""Names of the tasks that it plays."""


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
