"""Boxes in both formats, there and back."""

import pytest

from protocol.benchmarks.boxes import Box, BoxFormat, place_in_box
from protocol.benchmarks.forms import FormError, parse_oracle


@pytest.mark.parametrize("form", ["xywh", "xyxy"])
@pytest.mark.parametrize("box", [Box(left=0, top=0, right=1, bottom=1), Box(left=10.5, top=20, right=110.5, bottom=25)])
def test_a_box_comes_back_from_both_formats(box: Box, form: BoxFormat) -> None:
    assert Box.of(box.write(form), form) == box


def test_the_formats_are_not_the_same() -> None:
    assert Box.of([100, 50, 200, 100], "xywh").centre == (200, 100)
    assert Box.of([100, 50, 200, 100], "xyxy").centre == (150, 75)


@pytest.mark.parametrize("values", [[1, 2, 3], [1, 2, 1, 9], [5, 5, 1, 9], [1, 2, "3", 4], [True, 0, 3, 3]])
def test_what_is_no_box_is_refused(values: list[object]) -> None:
    with pytest.raises(ValueError, match="box"):
        Box.of(values, "xyxy")


def test_an_act_is_placed_in_the_middle_of_its_box() -> None:
    act = {"kind": "click", "box": [100, 100, 200, 100], "format": "xywh"}
    assert place_in_box(act) == {"kind": "click", "x": 200, "y": 150}
    assert parse_oracle(b'{"kind": "click", "box": [100, 100, 300, 200], "format": "xyxy"}\n')[0]["y"] == 150
    for line in (b'{"kind": "click", "box": [1, 2, 3, 4]}', b'{"kind": "dance"}', b"[", b"3"):
        with pytest.raises(FormError):
            parse_oracle(line)
