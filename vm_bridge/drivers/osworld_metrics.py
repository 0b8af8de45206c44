"""The metrics of OSWorld's evaluators that need nothing but what was found: each gives a score from 0 to 1."""

import ast
import csv
import difflib
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Metric:
    """`score` of what was found, what was expected and the options. A file is its bytes; what is not there is None."""

    score: Callable[[Any, Any, Mapping[str, Any]], float]
    expects: bool = True


def check_include_exclude(found: Any, rules: Any, options: Mapping[str, Any]) -> float:
    """All of `include` is in the text and nothing of `exclude`."""
    if found is None:
        return 0.0
    text = _text(found)
    return float(
        all(one in text for one in rules.get("include", []))
        and all(one not in text for one in rules.get("exclude", []))
    )


def exact_match(found: Any, rules: Any, options: Mapping[str, Any]) -> float:
    return float(found == rules["expected"])


def match_in_list(found: Any, rules: Any, options: Mapping[str, Any]) -> float:
    return float(found in rules["expected"])


def is_in_list(found: Any, rules: Any, options: Mapping[str, Any]) -> float:
    return float(found is not None and rules["expected"] in found)


def literal_match(found: Any, expected: Any, options: Mapping[str, Any]) -> float:
    """As texts, or as lists of texts; `ignore_case` if told."""
    fold: Callable[[Any], str] = (lambda one: str(one).lower()) if options.get("ignore_case") else str
    kind = options.get("type", "str")
    if kind == "str":
        return float(fold(found) == fold(expected))
    if kind == "list":
        lists = isinstance(found, list | tuple) and isinstance(expected, list | tuple)
        return float(lists and [*map(fold, found)] == [*map(fold, expected)])
    raise ValueError(f"literal_match knows no type {kind!r}")


def diff_text_file(found: Any, expected: Any, options: Mapping[str, Any]) -> float:
    """How alike the lines of two files are."""
    if found is None:
        return 0.0
    return difflib.SequenceMatcher(a=_text(found).splitlines(), b=_text(expected).splitlines()).ratio()


def compare_text_file(found: Any, expected: Any, options: Mapping[str, Any]) -> float:
    """The same text, with `ignore_blanks` and `ignore_case` if told."""
    if found is None:
        return 0.0
    texts = [_text(found), _text(expected)]
    if options.get("ignore_blanks"):
        texts = [re.sub(r"\s+", " ", re.sub(r"[\t\n]", " ", text).strip()) for text in texts]
    if options.get("ignore_case"):
        texts = [text.lower() for text in texts]
    return float(texts[0] == texts[1])


def compare_csv(found: Any, expected: Any, options: Mapping[str, Any]) -> float:
    """The same lines, in order if `strict` (as it is unless told), with `ignore_case` if told."""
    if found is None:
        return 0.0
    sides = [_text(one).splitlines() for one in (found, expected)]
    if not options.get("strict", True):
        sides = [[line.strip() for line in lines] for lines in sides]
    if options.get("ignore_case"):
        sides = [[line.lower() for line in lines] for lines in sides]
    return float(sides[0] == sides[1])


def check_list(found: Any, rules: Any, options: Mapping[str, Any]) -> float:
    """Each pattern of `expect` is in some line of the file, none of `unexpect` in any."""
    if found is None:
        return 0.0
    lines = _text(found).splitlines()

    def somewhere(pattern: str) -> bool:
        return any(re.search(pattern, line) for line in lines)

    return float(all(map(somewhere, rules.get("expect", []))) and not any(map(somewhere, rules.get("unexpect", []))))


def check_csv(found: Any, rules: Any, options: Mapping[str, Any]) -> float:
    """Each record of `expect` is a part of some row, none of `unexpect` of any."""
    if found is None:
        return 0.0
    rows = list(csv.DictReader(io.StringIO(_text(found))))

    def somewhere(record: Mapping[str, Any]) -> bool:
        return any(all(row.get(name) == value for name, value in record.items()) for row in rows)

    return float(all(map(somewhere, rules.get("expect", []))) and not any(map(somewhere, rules.get("unexpect", []))))


def check_direct_json_object(found: Any, rules: Any, options: Mapping[str, Any]) -> float:
    """Each key of `expected` has the same value; with `expect_in_result` a part or a member of it."""
    if isinstance(found, str | bytes):
        try:
            found = json.loads(_text(found).strip().replace("'", '"'))
        except ValueError:
            return 0.0
    if not isinstance(found, dict):
        return 0.0
    within = bool(rules.get("expect_in_result", False))
    return float(all(_agrees(found.get(key), wanted, within) for key, wanted in rules["expected"].items()))


def check_gnome_favorite_apps(found: Any, rules: Any, options: Mapping[str, Any]) -> float:
    """The same apps, in any order."""
    try:
        apps = ast.literal_eval(_text(found))
    except (ValueError, SyntaxError):
        return 0.0
    return float(isinstance(apps, list) and sorted(map(str, apps)) == sorted(rules["expected"]))


def is_utc_0(found: Any, expected: Any, options: Mapping[str, Any]) -> float:
    """The line of `timedatectl` that names the zone ends with no offset."""
    lines = _text(found or "").split("\n")
    return float(len(lines) > 3 and lines[3].endswith("+0000)"))


def check_text_enlarged(found: Any, expected: Any, options: Mapping[str, Any]) -> float:
    try:
        return float(float(found) > 1.0)
    except (TypeError, ValueError):
        return 0.0


def check_moved_jpgs(found: Any, rules: Any, options: Mapping[str, Any]) -> float:
    """A folder holds just these names."""
    children = found.get("children", []) if isinstance(found, dict) else []
    return float(sorted(one.get("name", "") for one in children) == sorted(rules["expected"]))


def is_in_vm_clickboard(found: Any, rules: Any, options: Mapping[str, Any]) -> float:
    """All that is expected is in the text; their files give the rule first and the text second, or the other way."""
    if isinstance(found, Mapping):
        found, rules = rules, found
    expected = rules["expected"]
    wanted: Sequence[str] = expected if isinstance(expected, list) else [expected]
    return float(found is not None and all(one in found for one in wanted))


def _agrees(value: Any, wanted: Any, within: bool) -> bool:
    if not within:
        return bool(value == wanted)
    if isinstance(wanted, list):
        return any(one in value if isinstance(value, list) else one == value for one in wanted)
    return isinstance(wanted, str) and isinstance(value, str | list) and wanted in value


def _text(found: Any) -> str:
    return found.decode("utf-8", "replace").replace("\r\n", "\n") if isinstance(found, bytes) else str(found)


METRICS: dict[str, Metric] = {
    each.__name__: Metric(each)
    for each in (
        check_include_exclude,
        exact_match,
        match_in_list,
        is_in_list,
        literal_match,
        diff_text_file,
        compare_text_file,
        compare_csv,
        check_list,
        check_csv,
        check_direct_json_object,
        check_gnome_favorite_apps,
        check_moved_jpgs,
        is_in_vm_clickboard,
    )
} | {each.__name__: Metric(each, expects=False) for each in (is_utc_0, check_text_enlarged)}
"""By the names their task files give them."""
