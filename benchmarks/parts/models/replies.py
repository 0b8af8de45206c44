"""How replies of models are read: documented ones, reported ones, and many that a generator spoils."""

import json
import secrets
import tomllib
from pathlib import Path
from typing import Any

from benchmarks.parts.figures import print_progress
from benchmarks.parts.fuzzing import replies
from benchmarks.parts.policy import parsing
from protocol.actions.types import ACTION_ADAPTER
from protocol.dialects.cli import ReplyLine, parse_line
from protocol.dialects.dialect import ScreenSize, UnparsedReply
from protocol.dialects.families import get_dialect, list_dialects

ROOT = Path(__file__).parents[3]
GENERATED = 100_000
REPORTED_SCREEN = ScreenSize(width=1920, height=1080)


def measure() -> dict[str, object]:
    """Counts of dialects and families, and how quoted, reported and generated replies are read."""
    families = tomllib.loads((ROOT / "protocol/dialects/registry.toml").read_text())["family"]
    vectors = [
        vector for name in ("dialect_vectors", "provider_vectors") for vector in _rows(f"tests/fixtures/{name}.jsonl")
    ]
    seed = secrets.randbelow(2**32)
    print_progress(f"reading {GENERATED} generated replies, seed {seed}")
    generated = replies.measure(GENERATED, seed)
    parsed = parsing.measure()
    return {
        "dialects": len(list_dialects()),
        "dialect_names": list(list_dialects()),
        "families": len(families),
        "vectors": len(vectors),
        "vectors_exact": sum(map(_is_exact, vectors)),
        "vectors_quoted": sum(vector["quoted"] for vector in vectors),
        "given_cases_passed_share": _share_passed(_rows("tests/fixtures/replies.jsonl")),
        "generated": generated["replies"],
        "seed": seed,
        "silently_another": generated["another"],
        "silently_another_examples": generated["examples"],
        "refused_though_whole_share": generated["whole_refused_share"],
        "parse_exceptions": parsed["parse_exceptions"],
        "parser_us": parsed["parser_us"],
    }


def _rows(name: str) -> list[dict[str, Any]]:
    path = ROOT / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _is_exact(vector: dict[str, Any]) -> bool:
    width, height = map(int, vector["size"].split("x"))
    read = get_dialect(vector["dialect"]).parse(
        vector["reply"], ScreenSize(width=width, height=height), reasoning=vector.get("reasoning", "")
    )
    if isinstance(read, UnparsedReply):
        return False
    due = [ACTION_ADAPTER.validate_python(action) for action in vector["actions"]]
    return [read.action] == due and read.thought == vector.get("thought", "")


def _share_passed(cases: list[dict[str, Any]]) -> float:
    return round(sum(map(_passes, cases)) / len(cases), 4)


def _passes(case: dict[str, Any]) -> bool:
    said = parse_line(ReplyLine(id=case["id"], reply=case["reply"]), get_dialect(case["dialect"]), REPORTED_SCREEN)
    expected = case["expected"]
    if isinstance(expected, str):
        return said.get("error") in expected.removeprefix("one of ").split()
    if len(said.get("actions", ())) != 1:
        return False
    found = {**said["actions"][0], "thought": said["thought"]}
    return all(found.get(key) == value for key, value in expected.items())
