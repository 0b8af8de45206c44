"""What a client sends ends no line of a log and writes nothing to a terminal by itself."""

import json
import logging

import pytest

from annotation_app.trace import log_formatter
from protocol.log_lines import LineFormatter

HOSTILE = "/a\r\nINFO forged\x1b[2J\x9b1m\x7f\u2028\u202eback \u2069\x00"


def record(message: str, *given: object) -> logging.LogRecord:
    made = logging.LogRecord("pilothouse.http", logging.INFO, __file__, 1, message, given, None)
    made.trace = "trace-123"
    return made


@pytest.mark.parametrize("form", ["plain", "json"])
def test_a_path_is_one_line_of_printable_characters(form: str) -> None:
    line = log_formatter(form).format(record("GET %s 404", HOSTILE))
    assert line.isprintable()
    assert line.splitlines() == [line]


def test_json_has_what_was_sent() -> None:
    line = log_formatter("json").format(record("GET %s 404", HOSTILE))
    assert json.loads(line)["message"] == f"GET {HOSTILE} 404"


def test_a_traceback_stands_on_lines_of_its_own() -> None:
    failed = record("done")
    try:
        raise ValueError("two\nlines")
    except ValueError as error:
        failed.exc_info = (ValueError, error, error.__traceback__)
    first, *rest = LineFormatter("%(message)s").format(failed).splitlines()
    assert first == "done"
    assert rest[0].startswith("Traceback")


def test_words_of_other_scripts_stay() -> None:
    assert LineFormatter("%(message)s").format(record("任务 é 🙂")) == "任务 é 🙂"
