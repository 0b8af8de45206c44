"""How far a value is what it should be, from 0 to 1."""

from typing import Any


def exact_match(result: Any, rules: dict[str, Any]) -> float:
    """Whether it is the same."""
    return float(result == rules["expected"])


def infeasible() -> None:
    """Named by tasks that cannot be done."""
