"""Names of earlier versions are read with a warning; present names win."""

import logging

import pytest

from protocol.legacy_names import (
    ENVIRONMENT,
    MANAGE_COMMANDS,
    PILOTHOUSE_COMMANDS,
    current_environment,
    current_manage_words,
    current_words,
)


@pytest.mark.parametrize(("former", "present"), ENVIRONMENT.items())
def test_a_former_variable_is_read_with_a_warning(former: str, present: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert current_environment({former: "1", "HOME": "/"}) == {present: "1", "HOME": "/"}
    assert f"{former} has been renamed to {present}" in caplog.text


@pytest.mark.parametrize(("former", "present"), ENVIRONMENT.items())
def test_the_present_variable_wins(former: str, present: str) -> None:
    assert current_environment({former: "former", present: "present"}) == {present: "present"}


def test_present_names_give_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    environment = {"PILOTHOUSE_HTTPS": "true", "HOME": "/"}
    assert current_environment(environment) == environment
    assert current_words(["flywheel", "--toy"]) == ["flywheel", "--toy"]
    assert current_manage_words(["run_flywheel", "main"]) == ["run_flywheel", "main"]
    assert not caplog.records


def test_former_commands_and_options_become_present_ones(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert current_words(["wheel", "--turns", "2", "--small"]) == ["flywheel", "--cycles", "2", "--toy"]
        assert current_manage_words(["turn_wheel", "main", "--turns", "2"]) == ["run_flywheel", "main", "--cycles", "2"]
    assert "./pilothouse wheel has been renamed to ./pilothouse flywheel" in caplog.text
    assert "manage.py turn_wheel has been renamed to manage.py run_flywheel" in caplog.text


def test_words_of_other_commands_stay() -> None:
    for words in ([], ["demo", "--turns"], ["manage", "wheel"]):
        assert current_words(words) == words


def test_no_present_name_is_also_a_former_one() -> None:
    for table in (ENVIRONMENT, *PILOTHOUSE_COMMANDS.values(), *MANAGE_COMMANDS.values()):
        assert not table.keys() & set(table.values())
