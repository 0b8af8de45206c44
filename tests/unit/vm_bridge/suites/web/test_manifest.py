"""What a manifest makes of a seed, and what it refuses."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from vm_bridge.errors import InvalidAction
from vm_bridge.suites.web.manifest import Manifest, read_lists, read_manifest

PLAIN: dict[str, Any] = {
    "format": 1,
    "name": "mail",
    "kind": "web",
    "version": "1.0",
    "title": {"en": "Mail", "zh": "邮件"},
    "levels": [{"max_steps": 10}, {"max_steps": 20, "slots": {"goal": 7}}],
    "slots": {
        "goal": 3,
        "colour": {"en": ["red", "blue", "green"], "zh": ["红", "蓝", "绿"]},
        "two": {"pick": 2, "any": [{"name": "Ada"}, {"name": "Bo"}, {"name": "Cy"}]},
        "day": {"range": [5, 8]},
    },
    "instructions": {
        "en": ["{colour} {goal}", "{goal} {colour} things", "{two[0][name]} on {day}"],
        "zh": ["{colour} {goal} 个", "{goal} 个 {colour}", "{day} 日 {two[0][name]}"],
    },
}


def manifest(**more: Any) -> Manifest:
    return Manifest.model_validate_json(json.dumps(PLAIN | more))


def test_a_seed_always_fills_the_slots_alike() -> None:
    task = manifest()
    assert task.filled(1, 4, "en") == task.filled(1, 4, "en")
    assert len({str(task.filled(1, seed, "en")) for seed in range(20)}) > 10


def test_both_languages_choose_the_same_place() -> None:
    for seed in range(10):
        english, places = manifest().filled(1, seed, "en")
        chinese, same = manifest().filled(1, seed, "zh")
        assert places == same
        pairs = {"red": "红", "blue": "蓝", "green": "绿"}
        assert pairs[str(english["colour"])] == chinese["colour"]


def test_a_pick_gives_different_ones_and_a_range_stays_within() -> None:
    for seed in range(30):
        values, _ = manifest().filled(1, seed, "en")
        two = values["two"]
        assert isinstance(two, list)
        assert two[0] != two[1]
        assert values["day"] in range(5, 9)


def test_names_are_drawn_from_a_list_at_the_same_places_in_both_languages() -> None:
    task = manifest(slots={"names": {"named": ["things"], "pick": 5}, "colour": "c", "goal": 1, "day": 1, "two": "t"})
    pairs, seen = dict(read_lists()["things"]), set[str]()
    for seed in range(20):
        (english, places), (chinese, same) = (task.filled(1, seed, language) for language in ("en", "zh"))
        names = english["names"]
        assert isinstance(names, list)
        assert places == same
        assert len({str(name) for name in names}) == 5
        assert [pairs[str(name)] for name in names] == chinese["names"]
        seen |= {str(name) for name in names}
    assert len(seen) > 60


def test_pairs_share_their_words_but_the_first_ones_do_not() -> None:
    task = manifest(slots={"names": {"named": ["kinds", "things"], "pick": 7}})
    for seed in range(20):
        english, chinese = (task.filled(1, seed, language)[0]["names"] for language in ("en", "zh"))
        assert isinstance(english, list)
        assert isinstance(chinese, list)
        words = [str(name).split() for name in english]
        assert len({tuple(pair) for pair in words}) == len(words) == 7
        assert len({first for first, _ in words[:3]}) == len({second for _, second in words[:3]}) == 3
        for first, second in words[3:]:
            assert first in {pair[0] for pair in words[:3]}
            assert second in {pair[1] for pair in words[:3]}
        assert all(" " not in str(name) for name in chinese)


def test_no_list_says_a_word_twice_in_either_language() -> None:
    for name, words in read_lists().items():
        for side in zip(*words, strict=True):
            assert len(set(side)) == len(side), name


def test_a_level_has_its_own_slots() -> None:
    assert manifest().filled(1, 0, "en")[0]["goal"] == 3
    assert manifest().filled(2, 0, "en")[0]["goal"] == 7


def test_every_phrasing_comes_up() -> None:
    said = {manifest().instruction(1, seed, "en")[:3] for seed in range(60)}
    assert any(text.startswith("3 ") for text in said)
    assert any(text[:3] in ("Ada", "Bo ", "Cy ") for text in said)
    assert any(text in ("red", "blu", "gre") for text in said)


@pytest.mark.parametrize("level", [0, 3])
def test_an_unknown_level_is_refused(level: int) -> None:
    with pytest.raises(InvalidAction):
        manifest().filled(level, 0, "en")


@pytest.mark.parametrize(
    "more",
    [
        {"unknown": 1},
        {"format": 2},
        {"name": "Big Name"},
        {"levels": []},
        {"instructions": {"en": ["one", "two"], "zh": ["一一", "二二", "三三"]}},
        {"slots": {"x": {"en": ["a", "b"], "zh": ["一"]}}},
        {"slots": {"x": {"any": ["a"], "pick": 2}}},
        {"slots": {"x": {}}},
        {"slots": {"x": {"named": ["nothing"], "pick": 2}}},
        {"slots": {"x": {"named": ["things"], "pick": 1000}}},
        {"slots": {"x": {"named": ["kinds", "things"], "pick": 10000}}},
        {"slots": {"x": {"named": [], "pick": 1}}},
    ],
)
def test_what_is_no_manifest_is_refused(more: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        manifest(**more)


def test_a_folder_must_have_the_name_of_its_manifest(tmp_path: Path) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    with pytest.raises(ValueError, match=r"manifest\.json"):
        read_manifest(folder)
    (folder / "manifest.json").write_text(json.dumps(PLAIN))
    with pytest.raises(ValueError, match="the name is mail"):
        read_manifest(folder)
