"""Settings are read from a file and from words, and what is no setting is refused before anything is done."""

from pathlib import Path

import pytest
from pydantic import Field, JsonValue

from trainer.config import DialectConfig, Settings, changed_fields, describe_fields, read_config
from trainer.errors import ConfigInvalid, ConfigUnknown, ConfigUnreadable


class Inner(Settings):
    depth: int = 1
    """How deep."""


class Example(Settings):
    name: str
    """What it is called."""
    count: int = Field(default=3, ge=1)
    """How many."""
    places: tuple[Path, ...] = ()
    """Where."""
    inner: Inner = Inner()
    """Within."""


def test_words_win_over_the_file_and_values_are_json_or_text(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"name": "a", "count": 5, "inner": {"depth": 2}}')
    read = read_config(Example, file, ["count=7", 'places=["/x"]', "inner.depth=9", "name=a=b"])
    assert read == Example(name="a=b", count=7, places=(Path("/x"),), inner=Inner(depth=9))
    assert read_config(Example, None, ["name=word"]).name == "word"


@pytest.mark.parametrize(
    ("words", "error", "told"),
    [
        (["name=a", "cuont=1"], ConfigUnknown, "there is no setting cuont; count is one"),
        (["name=a", "inner.width=1"], ConfigUnknown, "there is no setting inner.width"),
        (["name=a", "count=0"], ConfigInvalid, "count: Input should be greater than or equal to 1"),
        (["count=1"], ConfigInvalid, "name: Field required"),
        (["name=a", "name.x=1"], ConfigInvalid, "name has no fields"),
        (["name"], ConfigUnreadable, "is not FIELD=VALUE"),
    ],
)
def test_what_is_no_setting_is_refused(words: list[str], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told.replace(".", r"\.")):
        read_config(Example, None, words)


@pytest.mark.parametrize("text", ["[1]", "{", ""])
def test_a_file_that_is_no_object_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "settings.json").write_text(text)
    with pytest.raises(ConfigUnreadable):
        read_config(Example, tmp_path / "settings.json")
    with pytest.raises(ConfigUnreadable):
        read_config(Example, tmp_path / "nothing.json")


def test_fields_are_told_with_type_default_and_meaning() -> None:
    told = describe_fields(Example)
    assert "  name: str (required)\n      What it is called." in told
    assert "  count: int (3)\n      How many." in told
    assert '  inner: Inner ({"depth": 1})' in told


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(ConfigInvalid, match="unknown dialect"):
        read_config(DialectConfig, None, ["dialect=latin"])


class ExtendedSettings(Settings):
    """A trainer's settings, after it has learned a new one."""

    out: str = "runs/1"
    rate: float = 0.1
    lately: bool = False


def test_a_run_differs_in_what_it_was_told_and_not_in_what_was_unknown_then() -> None:
    begun: dict[str, JsonValue] = {"rate": 0.1}
    assert changed_fields(ExtendedSettings(out="elsewhere"), begun, {"out"}) == []
    assert changed_fields(ExtendedSettings(lately=True, rate=0.2), begun, {"out"}) == ["lately", "rate"]
    assert changed_fields(ExtendedSettings(), {"rate": 0.1, "forgotten": 3}, {"out"}) == ["forgotten"]
