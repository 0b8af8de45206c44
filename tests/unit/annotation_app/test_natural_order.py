"""Names are sorted as people look for them."""

from annotation_app.natural_order import natural_key


def test_numbers_count_by_their_value_and_capitals_as_small_letters() -> None:
    names = ["pool 10", "Pool 2", "2 pools", "pool", "10", "apple", "pool 2b"]
    assert sorted(names, key=natural_key) == ["2 pools", "10", "apple", "pool", "Pool 2", "pool 2b", "pool 10"]
