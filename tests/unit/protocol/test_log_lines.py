"""What a client sends ends no line of a log and writes nothing to a terminal by itself."""

import json
import logging

import pytest

from annotation_app.settings.env import Environment
from annotation_app.trace import log_formatter
from protocol.log_lines import LEVEL_VARIABLE, LineFormatter, RepeatFilter, log_level
from vm_bridge.config import ConfigError, read_config

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


@pytest.mark.parametrize(("given", "level"), [({}, "INFO"), ({LEVEL_VARIABLE: "warning"}, "WARNING")])
def test_one_variable_sets_the_level_of_the_web_app_and_of_the_bridge(given: dict[str, str], level: str) -> None:
    of_web_app = Environment.model_validate({"log_level": given[LEVEL_VARIABLE]} if given else {})
    of_bridge = read_config(given | {"PILOTHOUSE_SECRET": "x" * 16})
    assert log_level(given) == of_bridge.log_level == of_web_app.log_level == level


def test_a_level_that_is_none_is_refused_and_logged_as_usual() -> None:
    wrong = {LEVEL_VARIABLE: "loud"}
    assert log_level(wrong) == "INFO"
    with pytest.raises(ConfigError, match=LEVEL_VARIABLE):
        read_config(wrong)


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


def warning(text: str = "the disk is full: %s", level: int = logging.WARNING, line: int = 1) -> logging.LogRecord:
    return logging.LogRecord("app", level, "app.py", line, text, (1,) if "%s" in text else (), None)


def test_a_fault_that_repeats_is_written_a_few_times_and_counted() -> None:
    now = [0.0]
    repeats = RepeatFilter(repeats=2, window_seconds=60, clock=lambda: now[0])
    assert [repeats.filter(warning()) for _ in range(130)].count(True) == 2
    assert repeats.filter(warning("another")), "another fault is another kind"
    assert repeats.filter(warning(line=2))
    now[0] = 60.0
    record = warning()
    assert repeats.filter(record)
    assert record.getMessage() == "the disk is full: 1 (128 more like it were left out)"
    assert repeats.filter(warning())
    assert not repeats.filter(warning())


def test_what_is_no_fault_is_always_written() -> None:
    repeats = RepeatFilter(repeats=1)
    assert all(repeats.filter(warning(level=logging.INFO)) for _ in range(10))
